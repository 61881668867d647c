/* SPDX-License-Identifier: MIT
 *
 * arena.h - memory by mmap(2), within the budget of the `memory` key.
 *
 * The target's malloc is never called: it may lock, recurse into a hook, or be
 * what is being debugged. Large blocks grow by mremap(2) and can be returned;
 * small ones are cut from chunks and kept for good.
 *
 * Threads:  lh_arena_resize() may run anywhere; lh_arena_small() is called
 *           with the detector's lock held.
 */
#ifndef LH_RUNTIME_ARENA_H
#define LH_RUNTIME_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/mem.h"

/* 0: no limit. */
void lh_arena_set_budget(size_t budget_bytes);

/* True once a block was refused: something that was seen is missing. */
bool lh_arena_ran_out(void);

/* A resize function as core/mem.h describes it; sizes are rounded up to
 * pages, what is untouched costs no memory. */
void *lh_arena_resize(void *ctx, void *block, size_t old_bytes,
                      size_t new_bytes);

/* Makes a block read as zero and gives its memory back, but not its place. */
void lh_arena_empty(void *block, size_t size_bytes);

/* The lh_mem for core/. */
struct lh_mem lh_arena_mem(void);

/* size_bytes of zeroes for as long as the process lives, or NULL. */
void *lh_arena_small(size_t size_bytes);

/* A word that is 1, and reads 0 in a child made by any kind of fork; NULL when
 * memory is short or the kernel cannot. */
uint32_t *lh_arena_wiped_by_fork(void);

/*
 * Makes *array hold at least n elements, doubling it; what is new is zero.
 * capacity counts elements. Returns 0 or ENOMEM and changes nothing.
 */
int lh_arena_reserve(void **array, size_t *capacity, size_t element_bytes,
                     size_t n);

#endif
