/* SPDX-License-Identifier: MIT
 *
 * mem.h - where core/ gets its memory: a function that its caller supplies.
 *
 * core/ makes no OS call, so whoever links it hands it this: the preload over
 * mmap(2) with a budget, the tools and unit tests over realloc(3).
 *
 * Threads:  as the caller's function says; core/ calls it with its own data
 *           locked by the caller.
 */
#ifndef LH_CORE_MEM_H
#define LH_CORE_MEM_H

#include <stddef.h>

struct lh_mem {
    /*
     * Resizes a block of old_bytes (NULL and 0: a new one) to new_bytes
     * (0: frees it). What is beyond old_bytes reads as zero. Returns the
     * block, or NULL when the budget is used up (or it was freed), and then
     * the old block stays as it was.
     */
    void *(*resize)(void *ctx, void *block, size_t old_bytes, size_t new_bytes);
    void *ctx;
};

#endif
