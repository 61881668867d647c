/* SPDX-License-Identifier: MIT
 *
 * pace.h - keeps the threads of an example apart, or drives them together.
 *
 * A bug that needs two threads at a time is shown by a program that runs them
 * one after the other: pace_wait() waits for a flag, and gives up after a
 * while, so that the order is likely and nothing is made impossible. A barrier
 * or a join would make it so, and there would be no bug to find.
 *
 * With ORD_HANG=1 in the environment it is the other way round: nothing waits
 * for its turn, and pace_meet() holds each thread, its first lock in hand,
 * until all of them are there. Then the same program really deadlocks.
 */
#ifndef PACE_H
#define PACE_H

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { PACE_FLAGS = 16, PACE_PATIENCE = 2000000 };

static atomic_int pace_flags[PACE_FLAGS], pace_here;

static inline int pace_hangs(void)
{
    const char *hang = getenv("ORD_HANG");

    return hang && *hang == '1';
}

static inline void pace_until(atomic_int *word, int value)
{
    for (long i = 0; i < PACE_PATIENCE; i++) {
        if (atomic_load_explicit(word, memory_order_relaxed) >= value)
            return;
        sched_yield();
    }
}

/* My turn has come once flag i is set. */
static inline void pace_wait(int i)
{
    if (!pace_hangs())
        pace_until(&pace_flags[i], 1);
}

static inline void pace_set(int i)
{
    atomic_store_explicit(&pace_flags[i], 1, memory_order_relaxed);
}

/* n threads hold their first lock. */
static inline void pace_meet(int n)
{
    if (!pace_hangs())
        return;
    atomic_fetch_add_explicit(&pace_here, 1, memory_order_relaxed);
    pace_until(&pace_here, n);
}

#endif
