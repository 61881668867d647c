/* SPDX-License-Identifier: MIT
 *
 * children.h - which forks made which child, and which children have ended.
 *
 * Processes that share locks are told apart from those that cannot meet: what
 * was done before a fork comes before the child, and what a child did comes
 * before what is done once it was waited for. Followed only where locks are
 * shared; the last few hundred children of a process are remembered.
 *
 * Threads:  with the detector's lock held.
 */
#ifndef LH_RUNTIME_CHILDREN_H
#define LH_RUNTIME_CHILDREN_H

#include <stdint.h>

#include "runtime/thread.h"

/* Before a fork: gives it a number and records it; followed is false where
 * nothing is shared. */
void lh_children_before_fork(struct lh_thread *t, bool followed);

/* The number of the fork that is being made; 0: it is not followed. */
uint32_t lh_children_forking(void);

/* In a child that fork number n has made; 0: it is not known which. */
void lh_children_begin(uint32_t n);

/* The number of the fork that has made this process, in its parent. */
uint32_t lh_children_own_number(void);

/* How many forks this process has made. */
uint32_t lh_children_count(void);

/* Records the children that have ended and were waited for, each once. */
void lh_children_record_reaped(struct lh_thread *t);

#endif
