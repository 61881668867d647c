/* SPDX-License-Identifier: MIT
 *
 * words.c - blocks of 32-bit words, named by their offset in one array.
 */
#include "words.h"

#include <errno.h>

#include "array.h"

/* Rounds a length up to what is handed out for it; *list is its free list. */
static size_t round_up(size_t n, size_t *list)
{
    if (n <= LH_WORDS_EXACT) {
        n = n ? n : 1;
        *list = n;
        return n;
    }
    size_t rounded = 2 * LH_WORDS_EXACT;
    *list = LH_WORDS_EXACT + 1;
    while (rounded < n) {
        rounded *= 2;
        ++*list;
    }
    return rounded;
}

int lh_words_get(struct lh_words *w, size_t n, uint32_t *offset)
{
    size_t list;
    if (n > UINT32_MAX / 2)
        return ENOMEM;
    n = round_up(n, &list);
    if (w->free[list]) {
        *offset = w->free[list];
        w->free[list] = w->at[*offset];
        return 0;
    }
    size_t begin = w->end ? w->end : 1;
    if (begin + n > UINT32_MAX ||
        lh_array_reserve(w->mem, &w->at, &w->capacity, sizeof *w->at,
                         begin + n) != 0)
        return ENOMEM;
    w->end = begin + n;
    *offset = (uint32_t)begin;
    return 0;
}

void lh_words_put(struct lh_words *w, uint32_t offset, size_t n)
{
    size_t list;
    (void)round_up(n, &list);
    w->at[offset] = w->free[list];
    w->free[list] = offset;
}

void lh_words_free(struct lh_words *w)
{
    lh_array_free(w->mem, w->at, w->capacity, sizeof *w->at);
    w->at = NULL;
}
