/* SPDX-License-Identifier: MIT
 *
 * mutex.h - the mutex by both of its names: pthread_mutex_t, and mtx_t of C11,
 * which is the same object but does not pass through the same functions.
 *
 * `real` says which function of the C library is behind the hook: its place in
 * the table, which may not be filled before the first request is published.
 * All return what that one returns: 0 means done, by either name.
 */
#ifndef LH_HOOKS_MUTEX_H
#define LH_HOOKS_MUTEX_H

#include <pthread.h>
#include <time.h>

#include "hooks/hook.h"

typedef int lh_mutex_call(pthread_mutex_t *);
typedef int lh_mutex_until(pthread_mutex_t *, const struct timespec *);

/*
 * A plain mutex, whose lock and unlock cannot fail: their hooks end in a jump
 * to the real function. Elision flags above these bits do not matter.
 */
static inline bool lh_mutex_is_plain(const pthread_mutex_t *mutex)
{
    return __builtin_expect(!(mutex->__data.__kind & 127), 1);
}

/* Publishes a repeated request for a plain mutex that looks free: its hook
 * ends in a jump to the real function. */
static inline bool lh_mutex_take(pthread_mutex_t *mutex, void *pc,
                                 uintptr_t cfa)
{
    return lh_mutex_is_plain(mutex) &&
           lh_held_take(mutex,
                        LH_HOW(LH_EXCLUSIVE, LH_WAIT_BLOCK, LH_KIND_MUTEX), pc,
                        cfa);
}

/* All that lh_mutex_take() leaves. */
int lh_mutex_lock(pthread_mutex_t *mutex, lh_mutex_call *const *real, void *pc,
                  uintptr_t cfa);
int lh_mutex_trylock(pthread_mutex_t *mutex, lh_mutex_call *const *real,
                     void *pc, uintptr_t cfa);
int lh_mutex_timedlock(pthread_mutex_t *mutex, lh_mutex_until *const *real,
                       const struct timespec *deadline, void *pc,
                       uintptr_t cfa);

/* Of a mutex that is not plain. */
int lh_mutex_unlock(pthread_mutex_t *mutex, lh_mutex_call *const *real,
                    void *pc, uintptr_t cfa);

#endif
