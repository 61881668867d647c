/* SPDX-License-Identifier: MIT
 *
 * sort.h - sorts numbers in place, without recursion or memory.
 *
 * Source:   J. W. J. Williams, "Algorithm 232: Heapsort", CACM 7 (1964).
 */
#ifndef LH_CORE_SORT_H
#define LH_CORE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Ascending. Insertion for a few, a heap for many. */
void lh_sort_u64(uint64_t *items, size_t n);

/* Drops repetitions from sorted items; returns how many are left. */
size_t lh_sort_unique(uint64_t *items, size_t n);

#endif
