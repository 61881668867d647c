/* SPDX-License-Identifier: MIT
 * mutex.c - pthread_mutex_*. */
#include <pthread.h>

#include "hooks/hook.h"

static const struct lh_how blocking = { LH_EXCLUSIVE, LH_WAIT_BLOCK,
                                        LH_KIND_MUTEX };
static const struct lh_how timed = { LH_EXCLUSIVE, LH_WAIT_TIMED,
                                     LH_KIND_MUTEX };
static const struct lh_how trying = { LH_EXCLUSIVE, LH_WAIT_TRY,
                                      LH_KIND_MUTEX };

/*
 * True if the caller owns a mutex that counts or refuses re-entry: no request.
 * Both words lie beside the one that the real function reads next.
 */
static inline bool is_reentry(const pthread_mutex_t *mutex)
{
    return __builtin_expect(mutex->__data.__kind & 3, 0) &&
           (mutex->__data.__kind & 3) != PTHREAD_MUTEX_ADAPTIVE_NP &&
           lh_self && mutex->__data.__owner == lh_self->tid;
}

/* One level more, if the real function let it in. */
static int reentered(pthread_mutex_t *mutex, int rc)
{
    struct lh_slot *slot = lh_held_find(lh_self, mutex, false);

    if (lh_got(rc) && slot)
        slot->count++;
    return rc;
}

LH_HOOK int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    struct lh_slot *slot;
    int rc;

    if (is_reentry(mutex))
        return reentered(mutex, lh_real()->mutex_lock(mutex));
    slot = lh_held_push(mutex, blocking, LH_CALLER(), LH_CFA());
    rc = lh_real()->mutex_lock(mutex);
    lh_held_settle(slot, mutex, lh_got(rc));
    return rc;
}

LH_HOOK int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    struct lh_slot *slot;
    int rc;

    if (is_reentry(mutex))
        return reentered(mutex, lh_real()->mutex_trylock(mutex));
    slot = lh_held_push(mutex, trying, LH_CALLER(), LH_CFA());
    rc = lh_real()->mutex_trylock(mutex);
    lh_held_settle(slot, mutex, lh_got(rc));
    return rc;
}

LH_HOOK int pthread_mutex_timedlock(pthread_mutex_t *mutex,
                                    const struct timespec *deadline)
{
    struct lh_slot *slot;
    int rc;

    if (is_reentry(mutex))
        return reentered(mutex, lh_real()->mutex_timedlock(mutex, deadline));
    slot = lh_held_push(mutex, timed, LH_CALLER(), LH_CFA());
    rc = lh_real()->mutex_timedlock(mutex, deadline);
    lh_held_settle(slot, mutex, lh_got(rc));
    return rc;
}

LH_HOOK int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
                                    const struct timespec *deadline)
{
    struct lh_slot *slot;
    int rc;

    if (!lh_real()->mutex_clocklock)
        return ENOSYS;
    if (is_reentry(mutex))
        return reentered(
            mutex, lh_real()->mutex_clocklock(mutex, clock, deadline));
    slot = lh_held_push(mutex, timed, LH_CALLER(), LH_CFA());
    rc = lh_real()->mutex_clocklock(mutex, clock, deadline);
    lh_held_settle(slot, mutex, lh_got(rc));
    return rc;
}

LH_HOOK int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    struct lh_slot *slot = lh_held_release(mutex);
    int rc = lh_real()->mutex_unlock(mutex);

    if (__builtin_expect(rc != 0, 0))
        lh_held_restore(slot, mutex);
    return rc;
}

LH_HOOK int pthread_mutex_init(pthread_mutex_t *mutex,
                               const pthread_mutexattr_t *attr)
{
    int rc = lh_real()->mutex_init(mutex, attr);

    if (rc == 0)
        lh_detector_lock_born(mutex, LH_KIND_MUTEX, LH_CALLER(), LH_CFA());
    return rc;
}

LH_HOOK int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    int rc = lh_real()->mutex_destroy(mutex);

    /* Its memory is still the caller's to give back. */
    if (rc == 0)
        lh_detector_lock_died(mutex);
    return rc;
}

LH_VERSIONS(pthread_mutex_trylock, "GLIBC_2.34", "GLIBC_2.2.5");
LH_VERSIONS(pthread_mutex_timedlock, "GLIBC_2.34", "GLIBC_2.2.5");
LH_VERSIONS(pthread_mutex_clocklock, "GLIBC_2.34", "GLIBC_2.30");
