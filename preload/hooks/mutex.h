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
#include "runtime/mutexword.h"

typedef int lh_mutex_call(pthread_mutex_t *);
typedef int lh_mutex_until(pthread_mutex_t *, const struct timespec *);

/*
 * A plain mutex of any type: one that is free can be locked, and its hook ends
 * in a jump to the real function. Elision flags and that of sharing do not
 * matter.
 */
static inline bool lh_mutex_is_plain(const pthread_mutex_t *mutex)
{
    return __builtin_expect(
        !(mutex->__data.__kind & ((int)0x80000000u | LH_MUTEX_ROBUST |
                                  LH_MUTEX_INHERITS | LH_MUTEX_PROTECTS)),
        1);
}

/* Publishes a repeated request for a plain mutex that looks free; *nests is of
 * lh_held_take(). */
static inline struct lh_slot *lh_mutex_take(pthread_mutex_t *mutex, void *pc,
                                            uintptr_t cfa, bool *nests)
{
    return lh_mutex_is_plain(mutex)
               ? lh_held_take(
                     mutex, LH_HOW(LH_EXCLUSIVE, LH_WAIT_BLOCK, LH_KIND_MUTEX),
                     pc, cfa, nests)
               : NULL;
}

/* What is left to do then, where it nests. */
int lh_mutex_lock_nesting(pthread_mutex_t *mutex, lh_mutex_call *const *real,
                          struct lh_slot *slot);

/* Takes away the slot of a plain mutex whose release cannot fail: it needs no
 * owner, or the caller is it. False, and nothing has happened, if it is another
 * case. */
static inline bool lh_mutex_give(const pthread_mutex_t *mutex)
{
    int kind = mutex->__data.__kind;

    if (__builtin_expect((kind & 127) != 0 &&
                             (!lh_mutex_is_plain(mutex) || !lh_self ||
                              mutex->__data.__owner != lh_self->tid),
                         0))
        return false;
    return lh_held_give(mutex);
}

/* All that lh_mutex_take() leaves. */
int lh_mutex_lock(pthread_mutex_t *mutex, lh_mutex_call *const *real, void *pc,
                  uintptr_t cfa);
int lh_mutex_trylock(pthread_mutex_t *mutex, lh_mutex_call *const *real,
                     void *pc, uintptr_t cfa);
int lh_mutex_timedlock(pthread_mutex_t *mutex, lh_mutex_until *const *real,
                       const struct timespec *deadline, void *pc,
                       uintptr_t cfa);

/* All that lh_mutex_give() leaves. */
int lh_mutex_unlock(pthread_mutex_t *mutex, lh_mutex_call *const *real,
                    void *pc, uintptr_t cfa);

#endif
