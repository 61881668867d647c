/* SPDX-License-Identifier: MIT
 *
 * ended.h - who destroyed a lock, until its address is used for another.
 *
 * A table of fixed size without a lock: of two that fall on one place, the
 * later stays.
 *
 * Threads:  any; two that end the same lock at the same time are the program's
 *           own race.
 * Signals:  may run with signals open.
 */
#ifndef LH_RUNTIME_ENDED_H
#define LH_RUNTIME_ENDED_H

#include <stdbool.h>

#include "runtime/holders.h"

/* The thread with that number has destroyed the lock, with that stack. */
void lh_ended_note(const void *lock, struct lh_holder by);

/* Forgets who destroyed it: the first use after that is told, not those that
 * follow from it. False if nothing is known. */
bool lh_ended_take(const void *lock, struct lh_holder *by);

#endif
