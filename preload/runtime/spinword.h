/* SPDX-License-Identifier: MIT
 *
 * spinword.h - what a spinlock's word says.
 */
#ifndef LH_RUNTIME_SPINWORD_H
#define LH_RUNTIME_SPINWORD_H

#include <pthread.h>
#include <stdbool.h>

#ifdef __x86_64__
/* 1 is free, and those who spin count down. */
static inline bool lh_spin_is_taken(const pthread_spinlock_t *lock)
{
    return *lock <= 0;
}
#else
static inline bool lh_spin_is_taken(const pthread_spinlock_t *lock)
{
    return *lock != 0;
}
#endif

#endif
