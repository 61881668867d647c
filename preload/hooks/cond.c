/* SPDX-License-Identifier: MIT
 *
 * cond.c - pthread_cond_*wait: the mutex is released while waiting, and asked
 * for again while the other locks stay held.
 *
 * glibc does both inside, without a call that can be seen. The re-acquisition
 * is recorded before the wait: it is as certain as the wait itself, and a
 * thread that never comes back would not tell.
 */
#include "hooks/cond.h"

#include "hooks/hook.h"
#include "runtime/condcheck.h"
#include "runtime/mutexcheck.h"

enum { again = LH_HOW(LH_EXCLUSIVE, LH_WAIT_CONDITION, LH_KIND_MUTEX) };

/* A mutex held more than once stays held by glibc through the wait. */
struct lh_cond_wait lh_cond_begin(void *cond, pthread_mutex_t *mutex, void *pc,
                                  uintptr_t cfa)
{
    struct lh_slot *held = lh_self ? lh_held_find(lh_self, mutex, false) : NULL;

    lh_mutexcheck_wait(mutex, pc, cfa);
    /* A type that checks refuses whoever does not own it, and a destroyed one
     * refuses everybody: nothing is asked. */
    if ((held && lh_held_depth(held) > 1) || lh_mutex_is_destroyed(mutex) ||
        (lh_mutex_checks(mutex) &&
         !(lh_self && lh_mutex_holder(mutex) == lh_self->tid)))
        return (struct lh_cond_wait){ .mutex = mutex };
    lh_condcheck_begin(cond, mutex, pc, cfa);
    if (held)
        lh_held_release(mutex);
    return (struct lh_cond_wait){ .mutex = mutex,
                                  .slot = lh_held_push(mutex, again, pc, cfa),
                                  .was_held = held };
}

/* A wait that has begun ends with the mutex held, unless its state is lost;
 * one that is refused leaves it as it was. */
void lh_cond_end(struct lh_cond_wait *w, int rc)
{
    bool refused = rc == EPERM || rc == EINVAL;
    bool is_held = refused ? w->was_held : rc != ENOTRECOVERABLE;

    lh_condcheck_end();
    lh_held_settle(w->slot, w->mutex, is_held ? LH_HOLDS : LH_GONE);
}

/* Handlers run with the mutex held. */
void lh_cond_cancelled(void *wait)
{
    lh_cond_end(wait, 0);
}

LH_HOOK int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    struct lh_cond_wait w = lh_cond_begin(cond, mutex, LH_CALLER(), LH_CFA());
    int rc;

    pthread_cleanup_push(lh_cond_cancelled, &w);
    rc = lh_real()->cond_wait(cond, mutex);
    pthread_cleanup_pop(0);
    lh_cond_end(&w, rc);
    return rc;
}

LH_HOOK int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                                   const struct timespec *deadline)
{
    struct lh_cond_wait w = lh_cond_begin(cond, mutex, LH_CALLER(), LH_CFA());
    int rc;

    pthread_cleanup_push(lh_cond_cancelled, &w);
    rc = lh_real()->cond_timedwait(cond, mutex, deadline);
    pthread_cleanup_pop(0);
    lh_cond_end(&w, rc);
    return rc;
}

LH_HOOK int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                                   clockid_t clock,
                                   const struct timespec *deadline)
{
    struct lh_cond_wait w;
    int rc;

    if (!lh_real()->cond_clockwait)
        return ENOSYS;
    w = lh_cond_begin(cond, mutex, LH_CALLER(), LH_CFA());
    pthread_cleanup_push(lh_cond_cancelled, &w);
    rc = lh_real()->cond_clockwait(cond, mutex, clock, deadline);
    pthread_cleanup_pop(0);
    lh_cond_end(&w, rc);
    return rc;
}

LH_VERSIONS(pthread_cond_clockwait, "GLIBC_2.34", "GLIBC_2.30");
