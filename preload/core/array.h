/* SPDX-License-Identifier: MIT
 *
 * array.h - growing an array that lives in memory from struct lh_mem.
 */
#ifndef LH_CORE_ARRAY_H
#define LH_CORE_ARRAY_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mem.h"

/*
 * Makes room for need items of item_bytes each. Capacity doubles; what is
 * spare is zero and is not touched here, so it costs address space only.
 *
 * array     the address of the pointer to the items; they may move.
 * capacity  in items; 0 at first.
 * Returns 0, or ENOMEM and nothing is changed.
 */
static inline int lh_array_reserve(struct lh_mem mem, void *array,
                                   size_t *capacity, size_t item_bytes,
                                   size_t need)
{
    if (need <= *capacity)
        return 0;
    size_t wanted = *capacity ? *capacity * 2 : 32;
    if (wanted < need)
        wanted = need;
    if (wanted > SIZE_MAX / 2 / item_bytes)
        return ENOMEM;
    void *block;
    memcpy(&block, array, sizeof block);
    block =
        mem.resize(mem.ctx, block, *capacity * item_bytes, wanted * item_bytes);
    if (!block)
        return ENOMEM;
    memcpy(array, &block, sizeof block);
    *capacity = wanted;
    return 0;
}

/* Gives the items back. */
static inline void lh_array_free(struct lh_mem mem, void *items,
                                 size_t capacity, size_t item_bytes)
{
    if (items)
        (void)mem.resize(mem.ctx, items, capacity * item_bytes, 0);
}

#endif
