/* SPDX-License-Identifier: MIT
 *
 * mutexword.h - what a mutex's own words say.
 *
 * glibc keeps the holder's tid in __owner; robust and priority-inheriting
 * mutexes have it in the lock word, too, where the kernel wants it. An elided
 * lock has no owner. A destroyed mutex has a kind below zero.
 */
#ifndef LH_RUNTIME_MUTEXWORD_H
#define LH_RUNTIME_MUTEXWORD_H

#include <linux/futex.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Bits of __kind. */
enum {
    LH_MUTEX_ROBUST = 16,
    LH_MUTEX_INHERITS = 32,
    LH_MUTEX_PROTECTS = 64,
    LH_MUTEX_SHARED = 128, /* between processes */
};

/* Somebody is about to take it or to let go, or its type does not say. */
enum { LH_HOLDER_UNSURE = -1 };

static inline bool lh_mutex_is_destroyed(const pthread_mutex_t *mutex)
{
    return mutex->__data.__kind < 0;
}

/* The holder's tid, 0 if it is free, or LH_HOLDER_UNSURE. */
static inline int32_t lh_mutex_holder(const pthread_mutex_t *mutex)
{
    const unsigned ceiling = 0xfff80000; /* of LH_MUTEX_PROTECTS */
    int kind = mutex->__data.__kind;
    unsigned word =
        (unsigned)__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED);
    int32_t owner = __atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED);

    if (kind < 0)
        return LH_HOLDER_UNSURE;
    if (kind & (LH_MUTEX_ROBUST | LH_MUTEX_INHERITS))
        return (int32_t)(word & FUTEX_TID_MASK);
    if (kind & LH_MUTEX_PROTECTS)
        word &= ~ceiling;
    if (!word != !owner)
        return LH_HOLDER_UNSURE;
    return owner;
}

#endif
