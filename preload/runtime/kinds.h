/* SPDX-License-Identifier: MIT
 *
 * kinds.h - which kinds of dependency were recorded.
 *
 * Two dependencies are of one kind when their locks are of the same classes
 * and were asked for and taken at the same sites. One record stands for all:
 * a program that nests a new pair of locks for each of its clients would fill
 * the disk otherwise.
 *
 * Memory:   about 16 bytes a kind.
 * Threads:  with the detector's lock held.
 */
#ifndef LH_RUNTIME_KINDS_H
#define LH_RUNTIME_KINDS_H

#include <stdbool.h>
#include <stdint.h>

/* True for the first call with this key; and when memory is short. */
bool lh_kind_is_new(uint64_t key);

/* In a forked child: nothing is recorded yet. */
void lh_kinds_after_fork(void);

#endif
