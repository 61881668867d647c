/* SPDX-License-Identifier: MIT
 * rawlock.c - a lock over futex(2).
 * Source: U. Drepper, "Futexes Are Tricky" (2011), mutex 3. */
#include "runtime/rawlock.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Critical sections are short; a holder is mostly done within this. */
enum { SPINS = 100 };

static int try_take(struct lh_rawlock *lock)
{
    uint32_t free_state = 0;

    return atomic_compare_exchange_strong_explicit(&lock->state, &free_state, 1,
                                                   memory_order_acquire,
                                                   memory_order_relaxed);
}

void lh_rawlock_take(struct lh_rawlock *lock)
{
    for (int i = 0; i < SPINS; i++) {
        if (try_take(lock))
            return;
        __builtin_ia32_pause();
    }
    while (atomic_exchange_explicit(&lock->state, 2, memory_order_acquire) != 0)
        syscall(SYS_futex, &lock->state, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

void lh_rawlock_give(struct lh_rawlock *lock)
{
    if (atomic_exchange_explicit(&lock->state, 0, memory_order_release) == 2)
        syscall(SYS_futex, &lock->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void lh_rawlock_reset(struct lh_rawlock *lock)
{
    atomic_store_explicit(&lock->state, 0, memory_order_relaxed);
}
