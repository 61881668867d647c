/* SPDX-License-Identifier: MIT
 *
 * words.h - blocks of 32-bit words, named by their offset in one array.
 *
 * A block has no header: who frees it says how long it was.
 */
#ifndef LH_CORE_WORDS_H
#define LH_CORE_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "mem.h"

enum {
    LH_WORDS_EXACT = 128,    /* up to here, a free list for every length */
    LH_WORDS_POWERS = 32 - 7 /* above, one for every power of two */
};

struct lh_words {
    struct lh_mem mem;
    uint32_t *at;
    size_t capacity;
    size_t end; /* first offset never used */
    uint32_t free[LH_WORDS_EXACT + 1 + LH_WORDS_POWERS];
};

/* Offsets move with the array: at[] is read anew after every allocation.
 * Returns 0, or ENOMEM and nothing is changed. What is in a block is not
 * defined. */
int lh_words_get(struct lh_words *w, size_t n, uint32_t *offset);
void lh_words_put(struct lh_words *w, uint32_t offset, size_t n);
void lh_words_free(struct lh_words *w);

#endif
