/* SPDX-License-Identifier: MIT
 * mutex.c - pthread_mutex_*. */
#include "hooks/mutex.h"

#include "runtime/live.h"
#include "runtime/mutexcheck.h"

enum {
    blocking = LH_HOW(LH_EXCLUSIVE, LH_WAIT_BLOCK, LH_KIND_MUTEX),
    timed = LH_HOW(LH_EXCLUSIVE, LH_WAIT_TIMED, LH_KIND_MUTEX),
    trying = LH_HOW(LH_EXCLUSIVE, LH_WAIT_TRY, LH_KIND_MUTEX),
};

/* True if the caller owns a mutex that counts or refuses re-entry: no
 * request. */
static inline bool is_reentry(const pthread_mutex_t *mutex)
{
    return lh_mutex_checks(mutex) && lh_self &&
           lh_mutex_holder(mutex) == lh_self->tid;
}

/* One level more, if the real function let it in. */
static int reentered(pthread_mutex_t *mutex, int rc)
{
    struct lh_slot *slot = lh_held_find(lh_self, mutex, false);

    if (lh_got(rc) && slot)
        slot->count++;
    return rc;
}

/* What a destroyed mutex refuses was not asked for. */
static int refused(pthread_mutex_t *mutex, lh_mutex_call *const *real, void *pc,
                   uintptr_t cfa)
{
    int rc;

    lh_real_ensure();
    rc = (*real)(mutex);
    lh_mutexcheck_refused(mutex, pc, cfa);
    return rc;
}

static int refused_until(pthread_mutex_t *mutex, lh_mutex_until *const *real,
                         const struct timespec *deadline, void *pc,
                         uintptr_t cfa)
{
    int rc;

    lh_real_ensure();
    rc = (*real)(mutex, deadline);
    lh_mutexcheck_refused(mutex, pc, cfa);
    return rc;
}

/*
 * Waits in pieces. Not for a mutex that lends priority: who leaves its queue
 * takes that back.
 */
static __attribute__((noinline)) int lock_watched(pthread_mutex_t *mutex,
                                                  lh_mutex_call *const *real)
{
    bool lends = mutex->__data.__kind & (LH_MUTEX_INHERITS | LH_MUTEX_PROTECTS);
    struct lh_watch watch;
    int rc = ETIMEDOUT;

    lh_live_begin(&watch);
    if (lends || !lh_real()->in_pieces) {
        lh_live_look_before(&watch);
        rc = (*real)(mutex);
        lh_live_end(&watch);
        return rc;
    }
    while (rc == ETIMEDOUT) {
        rc = lh_real()->mutex_clocklock(mutex, CLOCK_MONOTONIC, &watch.next);
        if (rc == ETIMEDOUT)
            lh_live_look(&watch);
    }
    lh_live_end(&watch);
    /* What is refused, is by the name that was called. */
    return lh_got(rc) ? rc : (*real)(mutex);
}

/* Of processes, any of which may end while it holds it. */
static bool is_orphanable(const pthread_mutex_t *mutex,
                          const struct lh_slot *slot)
{
    return slot && (mutex->__data.__kind &
                    (LH_MUTEX_SHARED | LH_MUTEX_ROBUST)) == LH_MUTEX_SHARED;
}

__attribute__((noinline)) int lh_mutex_lock(pthread_mutex_t *mutex,
                                            lh_mutex_call *const *real,
                                            void *pc, uintptr_t cfa)
{
    enum lh_slot_state state;
    struct lh_slot *slot;
    int rc;

    /* Not by C11's name: who is behind us would see it taken, but not given
     * back. */
    if (lh_mutex_is_plain(mutex) && mutex->__data.__lock == 0 &&
        real == &lh_real()->mutex_lock)
        return lh_held_lock_free(mutex, blocking, pc, cfa);
    if (is_reentry(mutex))
        return reentered(mutex, (*real)(mutex));
    if (lh_mutex_is_destroyed(mutex))
        return refused(mutex, real, pc, cfa);
    lh_mutexcheck_request(mutex, pc, cfa);
    slot = lh_held_push(mutex, blocking, pc, cfa);
    state = lh_mutex_is_plain(mutex) ? LH_TAKES : LH_HOLDS;
    if (mutex->__data.__lock != 0 &&
        (lh_live_concerns(slot) || is_orphanable(mutex, slot)))
        rc = lock_watched(mutex, real);
    else
        rc = (*real)(mutex);
    lh_held_settle(slot, mutex, lh_got(rc) ? state : LH_GONE);
    return rc;
}

__attribute__((noinline)) int lh_mutex_lock_nesting(pthread_mutex_t *mutex,
                                                    lh_mutex_call *const *real,
                                                    struct lh_slot *slot)
{
    lh_held_capture(lh_self, slot);
    return (*real)(mutex);
}

LH_HOOK int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    bool nests = false;
    struct lh_slot *slot = lh_mutex_take(mutex, LH_CALLER(), LH_CFA(), &nests);

    if (slot && !nests)
        return lh_real()->mutex_lock(mutex);
    if (slot)
        return lh_mutex_lock_nesting(mutex, &lh_real()->mutex_lock, slot);
    return lh_mutex_lock(mutex, &lh_real()->mutex_lock, LH_CALLER(), LH_CFA());
}

int lh_mutex_trylock(pthread_mutex_t *mutex, lh_mutex_call *const *real,
                     void *pc, uintptr_t cfa)
{
    struct lh_slot *slot;
    int rc;

    if (is_reentry(mutex))
        return reentered(mutex, (*real)(mutex));
    if (lh_mutex_is_destroyed(mutex))
        return refused(mutex, real, pc, cfa);
    slot = lh_held_push(mutex, trying, pc, cfa);
    rc = (*real)(mutex);
    lh_held_settle(slot, mutex, lh_outcome(rc));
    return rc;
}

LH_HOOK int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    return lh_mutex_trylock(mutex, &lh_real()->mutex_trylock, LH_CALLER(),
                            LH_CFA());
}

int lh_mutex_timedlock(pthread_mutex_t *mutex, lh_mutex_until *const *real,
                       const struct timespec *deadline, void *pc, uintptr_t cfa)
{
    struct lh_slot *slot;
    int rc;

    if (is_reentry(mutex))
        return reentered(mutex, (*real)(mutex, deadline));
    if (lh_mutex_is_destroyed(mutex))
        return refused_until(mutex, real, deadline, pc, cfa);
    slot = lh_held_push(mutex, timed, pc, cfa);
    rc = (*real)(mutex, deadline);
    lh_held_settle(slot, mutex, lh_outcome(rc));
    return rc;
}

LH_HOOK int pthread_mutex_timedlock(pthread_mutex_t *mutex,
                                    const struct timespec *deadline)
{
    return lh_mutex_timedlock(mutex, &lh_real()->mutex_timedlock, deadline,
                              LH_CALLER(), LH_CFA());
}

LH_HOOK int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
                                    const struct timespec *deadline)
{
    struct lh_slot *slot;
    int rc;

    lh_real_ensure();
    if (!lh_real()->mutex_clocklock)
        return ENOSYS;
    if (is_reentry(mutex))
        return reentered(mutex,
                         lh_real()->mutex_clocklock(mutex, clock, deadline));
    if (lh_mutex_is_destroyed(mutex)) {
        rc = lh_real()->mutex_clocklock(mutex, clock, deadline);
        lh_mutexcheck_refused(mutex, LH_CALLER(), LH_CFA());
        return rc;
    }
    slot = lh_held_push(mutex, timed, LH_CALLER(), LH_CFA());
    rc = lh_real()->mutex_clocklock(mutex, clock, deadline);
    lh_held_settle(slot, mutex, lh_outcome(rc));
    return rc;
}

__attribute__((noinline)) int lh_mutex_unlock(pthread_mutex_t *mutex,
                                              lh_mutex_call *const *real,
                                              void *pc, uintptr_t cfa)
{
    struct lh_slot *slot;
    int rc;

    if (lh_mutex_is_destroyed(mutex))
        return refused(mutex, real, pc, cfa);
    slot = lh_held_release(mutex);
    if (!slot)
        lh_mutexcheck_release(mutex, pc, cfa);
    rc = (*real)(mutex);
    if (rc != 0)
        lh_held_restore(slot, mutex);
    return rc;
}

LH_HOOK int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (lh_mutex_give(mutex))
        return lh_real()->mutex_unlock(mutex);
    return lh_mutex_unlock(mutex, &lh_real()->mutex_unlock, LH_CALLER(),
                           LH_CFA());
}

LH_HOOK int pthread_mutex_init(pthread_mutex_t *mutex,
                               const pthread_mutexattr_t *attr)
{
    int rc;

    lh_real_ensure();
    lh_mutexcheck_init(mutex, LH_CALLER(), LH_CFA());
    rc = lh_real()->mutex_init(mutex, attr);
    if (rc == 0)
        lh_detector_lock_born(mutex, LH_KIND_MUTEX, LH_CALLER(), LH_CFA());
    return rc;
}

LH_HOOK int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    int rc;

    lh_real_ensure();
    lh_mutexcheck_refused(mutex, LH_CALLER(), LH_CFA()); /* a second time */
    lh_mutexcheck_destroy(mutex, LH_CALLER(), LH_CFA());
    rc = lh_real()->mutex_destroy(mutex);
    /* Its memory is still the caller's to give back. */
    if (rc == 0) {
        lh_detector_lock_died(mutex);
        lh_mutexcheck_destroyed(mutex, LH_CALLER(), LH_CFA());
    }
    return rc;
}

LH_VERSIONS(pthread_mutex_trylock, "GLIBC_2.34", "GLIBC_2.2.5");
LH_VERSIONS(pthread_mutex_timedlock, "GLIBC_2.34", "GLIBC_2.2.5");
LH_VERSIONS(pthread_mutex_clocklock, "GLIBC_2.34", "GLIBC_2.30");
