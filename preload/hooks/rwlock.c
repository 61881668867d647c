/* SPDX-License-Identifier: MIT
 *
 * rwlock.c - pthread_rwlock_*.
 *
 * One unlock serves both modes. What the C library refuses to the writer
 * itself (EDEADLK) is no request. A thread may read a lock more than once: each
 * time has its slot. Of what kind a lock is says its own word, as a static one
 * was never initialized by a call: for one kind alone, a reader waits behind
 * writers that wait.
 */
#include <pthread.h>

#include "hooks/hook.h"
#include "runtime/live.h"
#include "runtime/lockcheck.h"
#include "runtime/rwlockword.h"
#include "runtime/sys.h"

static inline uint16_t how(const pthread_rwlock_t *rwlock, enum lh_mode mode,
                           unsigned wait)
{
    bool queues =
        rwlock->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;

    return LH_HOW(mode, wait, LH_KIND_RWLOCK) | (queues ? LH_HOW_QUEUES : 0);
}

/* True if the caller has it for writing. */
static inline bool is_writer(const pthread_rwlock_t *rwlock)
{
    return lh_self && rwlock->__data.__cur_writer == lh_self->tid;
}

/* The caller's use of it. A macro, as LH_CALLER() is. */
#define USE(rwlock, pc, cfa)                                                   \
    ((struct lh_lockcheck){ rwlock, LH_KIND_RWLOCK, pc, cfa })

/* True if its writer is a thread of another process: the one that forked this
 * one, if we hold it. */
static bool is_writer_lost(const pthread_rwlock_t *rwlock)
{
    int writer = rwlock->__data.__cur_writer;

    return !rwlock->__data.__shared && lh_rwlock_is_written(rwlock) &&
           writer != 0 && !lh_sys_thread_exists(lh_sys_getpid(), writer);
}

/* The caller is about to wait: for good, if for itself, or for a thread that
 * this process was forked without. A reader that wants to write waits for its
 * own end. */
static __attribute__((noinline)) void before_wait(pthread_rwlock_t *rwlock,
                                                  enum lh_mode mode, void *pc,
                                                  uintptr_t cfa)
{
    struct lh_slot *slot =
        lh_self ? lh_held_find(lh_self, rwlock, false) : NULL;

    if (!slot) {
        lh_lockcheck_request(USE(rwlock, pc, cfa));
        return;
    }
    if (lh_mode_of(slot->how) == LH_SHARED
            ? mode == LH_EXCLUSIVE && lh_rwlock_is_read(rwlock)
            : is_writer_lost(rwlock))
        lh_self_deadlock(slot, pc, cfa);
}

/* A reader may wait in pieces: nobody waits for one that waits. */
static __attribute__((noinline)) int read_watched(pthread_rwlock_t *rwlock)
{
    struct lh_watch watch;
    int rc = lh_real()->rwlock_tryrdlock(rwlock);

    if (rc != EBUSY)
        return rc == 0 ? 0 : lh_real()->rwlock_rdlock(rwlock);
    lh_live_begin(&watch);
    if (!lh_real()->in_pieces)
        lh_live_look_before(&watch);
    for (rc = ETIMEDOUT; lh_real()->in_pieces && rc == ETIMEDOUT;) {
        rc =
            lh_real()->rwlock_clockrdlock(rwlock, CLOCK_MONOTONIC, &watch.next);
        if (rc == ETIMEDOUT)
            lh_live_look(&watch);
    }
    if (rc != 0)
        rc = lh_real()->rwlock_rdlock(rwlock);
    lh_live_end(&watch);
    return rc;
}

/* So may a writer, but one in whose line readers stand: they would get in when
 * it leaves. */
static __attribute__((noinline)) int write_watched(pthread_rwlock_t *rwlock,
                                                   struct lh_slot *slot)
{
    struct lh_watch watch;
    int rc = ETIMEDOUT;

    lh_live_begin(&watch);
    if ((slot->how & LH_HOW_QUEUES) || !lh_real()->in_pieces) {
        lh_live_look_before(&watch);
        rc = lh_real()->rwlock_wrlock(rwlock);
        lh_live_end(&watch);
        return rc;
    }
    while (rc == ETIMEDOUT) {
        rc =
            lh_real()->rwlock_clockwrlock(rwlock, CLOCK_MONOTONIC, &watch.next);
        if (rc == ETIMEDOUT)
            lh_live_look(&watch);
    }
    if (rc != 0)
        rc = lh_real()->rwlock_wrlock(rwlock);
    lh_live_end(&watch);
    return rc;
}

static __attribute__((noinline)) int read_any(pthread_rwlock_t *rwlock,
                                              void *pc, uintptr_t cfa)
{
    struct lh_slot *slot;
    int rc;

    if (is_writer(rwlock))
        return lh_real()->rwlock_rdlock(rwlock);
    lh_lockcheck_used(USE(rwlock, pc, cfa));
    if (lh_rwlock_is_written(rwlock))
        before_wait(rwlock, LH_SHARED, pc, cfa);
    slot = lh_held_push(rwlock, how(rwlock, LH_SHARED, LH_WAIT_BLOCK), pc, cfa);
    rc = lh_live_concerns(slot) ? read_watched(rwlock)
                                : lh_real()->rwlock_rdlock(rwlock);
    lh_held_settle(slot, rwlock, lh_outcome(rc));
    return rc;
}

static __attribute__((noinline)) int write_any(pthread_rwlock_t *rwlock,
                                               void *pc, uintptr_t cfa)
{
    struct lh_slot *slot;
    int rc;

    if (is_writer(rwlock))
        return lh_real()->rwlock_wrlock(rwlock);
    lh_lockcheck_used(USE(rwlock, pc, cfa));
    if (lh_rwlock_is_written(rwlock) || lh_rwlock_is_read(rwlock))
        before_wait(rwlock, LH_EXCLUSIVE, pc, cfa);
    slot =
        lh_held_push(rwlock, how(rwlock, LH_EXCLUSIVE, LH_WAIT_BLOCK), pc, cfa);
    rc = (lh_rwlock_is_written(rwlock) || lh_rwlock_is_read(rwlock)) &&
                 lh_live_concerns(slot)
             ? write_watched(rwlock, slot)
             : lh_real()->rwlock_wrlock(rwlock);
    lh_held_settle(slot, rwlock, lh_outcome(rc));
    return rc;
}

LH_HOOK int pthread_rwlock_rdlock(pthread_rwlock_t *rwlock)
{
    if (__builtin_expect(lh_rwlock_is_written(rwlock) ||
                             !lh_held_ask(rwlock,
                                          how(rwlock, LH_SHARED, LH_WAIT_BLOCK),
                                          LH_CALLER(), LH_CFA()),
                         0))
        return read_any(rwlock, LH_CALLER(), LH_CFA());
    return lh_held_settle_repeated(rwlock, lh_real()->rwlock_rdlock(rwlock));
}

LH_HOOK int pthread_rwlock_wrlock(pthread_rwlock_t *rwlock)
{
    if (__builtin_expect(
            lh_rwlock_is_written(rwlock) || lh_rwlock_is_read(rwlock) ||
                !lh_held_ask(rwlock, how(rwlock, LH_EXCLUSIVE, LH_WAIT_BLOCK),
                             LH_CALLER(), LH_CFA()),
            0))
        return write_any(rwlock, LH_CALLER(), LH_CFA());
    return lh_held_settle_repeated(rwlock, lh_real()->rwlock_wrlock(rwlock));
}

LH_HOOK int pthread_rwlock_tryrdlock(pthread_rwlock_t *rwlock)
{
    struct lh_slot *slot;
    int rc;

    lh_lockcheck_used(USE(rwlock, LH_CALLER(), LH_CFA()));
    slot = lh_held_push(rwlock, how(rwlock, LH_SHARED, LH_WAIT_TRY),
                        LH_CALLER(), LH_CFA());
    rc = lh_real()->rwlock_tryrdlock(rwlock);
    lh_held_settle(slot, rwlock, lh_outcome(rc));
    return rc;
}

LH_HOOK int pthread_rwlock_trywrlock(pthread_rwlock_t *rwlock)
{
    struct lh_slot *slot;
    int rc;

    lh_lockcheck_used(USE(rwlock, LH_CALLER(), LH_CFA()));
    slot = lh_held_push(rwlock, how(rwlock, LH_EXCLUSIVE, LH_WAIT_TRY),
                        LH_CALLER(), LH_CFA());
    rc = lh_real()->rwlock_trywrlock(rwlock);
    lh_held_settle(slot, rwlock, lh_outcome(rc));
    return rc;
}

/* Before a timed wait; NULL if there is none. */
static inline struct lh_slot *
ask_timed(pthread_rwlock_t *rwlock, enum lh_mode mode, void *pc, uintptr_t cfa)
{
    if (is_writer(rwlock))
        return NULL;
    lh_lockcheck_used(USE(rwlock, pc, cfa));
    return lh_held_push(rwlock, how(rwlock, mode, LH_WAIT_TIMED), pc, cfa);
}

LH_HOOK int pthread_rwlock_timedrdlock(pthread_rwlock_t *rwlock,
                                       const struct timespec *deadline)
{
    struct lh_slot *slot = ask_timed(rwlock, LH_SHARED, LH_CALLER(), LH_CFA());
    int rc = lh_real()->rwlock_timedrdlock(rwlock, deadline);

    lh_held_settle(slot, rwlock, lh_outcome(rc));
    return rc;
}

LH_HOOK int pthread_rwlock_timedwrlock(pthread_rwlock_t *rwlock,
                                       const struct timespec *deadline)
{
    struct lh_slot *slot =
        ask_timed(rwlock, LH_EXCLUSIVE, LH_CALLER(), LH_CFA());
    int rc = lh_real()->rwlock_timedwrlock(rwlock, deadline);

    lh_held_settle(slot, rwlock, lh_outcome(rc));
    return rc;
}

LH_HOOK int pthread_rwlock_clockrdlock(pthread_rwlock_t *rwlock,
                                       clockid_t clock,
                                       const struct timespec *deadline)
{
    struct lh_slot *slot;
    int rc;

    lh_real_ensure();
    if (!lh_real()->rwlock_clockrdlock)
        return ENOSYS;
    slot = ask_timed(rwlock, LH_SHARED, LH_CALLER(), LH_CFA());
    rc = lh_real()->rwlock_clockrdlock(rwlock, clock, deadline);
    lh_held_settle(slot, rwlock, lh_outcome(rc));
    return rc;
}

LH_HOOK int pthread_rwlock_clockwrlock(pthread_rwlock_t *rwlock,
                                       clockid_t clock,
                                       const struct timespec *deadline)
{
    struct lh_slot *slot;
    int rc;

    lh_real_ensure();
    if (!lh_real()->rwlock_clockwrlock)
        return ENOSYS;
    slot = ask_timed(rwlock, LH_EXCLUSIVE, LH_CALLER(), LH_CFA());
    rc = lh_real()->rwlock_clockwrlock(rwlock, clock, deadline);
    lh_held_settle(slot, rwlock, lh_outcome(rc));
    return rc;
}

static __attribute__((noinline)) int unlock_any(pthread_rwlock_t *rwlock,
                                                void *pc, uintptr_t cfa)
{
    if (__builtin_expect(!lh_held_release(rwlock), 0))
        lh_lockcheck_release(USE(rwlock, pc, cfa));
    return lh_real()->rwlock_unlock(rwlock);
}

LH_HOOK int pthread_rwlock_unlock(pthread_rwlock_t *rwlock)
{
    if (__builtin_expect(!lh_held_give(rwlock), 0))
        return unlock_any(rwlock, LH_CALLER(), LH_CFA());
    return lh_real()->rwlock_unlock(rwlock); /* which cannot fail */
}

LH_HOOK int pthread_rwlock_init(pthread_rwlock_t *rwlock,
                                const pthread_rwlockattr_t *attr)
{
    int rc;

    lh_real_ensure();
    lh_lockcheck_init(USE(rwlock, LH_CALLER(), LH_CFA()));
    rc = lh_real()->rwlock_init(rwlock, attr);
    if (rc == 0)
        lh_detector_lock_born(rwlock, LH_KIND_RWLOCK, LH_CALLER(), LH_CFA());
    return rc;
}

LH_HOOK int pthread_rwlock_destroy(pthread_rwlock_t *rwlock)
{
    bool is_held;
    int rc;

    lh_real_ensure();
    is_held = lh_lockcheck_destroy(USE(rwlock, LH_CALLER(), LH_CFA()));
    rc = lh_real()->rwlock_destroy(rwlock);
    /* Its memory is still the caller's to give back. */
    if (rc == 0)
        lh_detector_lock_died(rwlock);
    if (rc == 0 && !is_held)
        lh_lockcheck_destroyed(USE(rwlock, LH_CALLER(), LH_CFA()));
    return rc;
}

LH_VERSIONS(pthread_rwlock_rdlock, "GLIBC_2.34", "GLIBC_2.2.5");
LH_VERSIONS(pthread_rwlock_wrlock, "GLIBC_2.34", "GLIBC_2.2.5");
LH_VERSIONS(pthread_rwlock_tryrdlock, "GLIBC_2.34", "GLIBC_2.2.5");
LH_VERSIONS(pthread_rwlock_trywrlock, "GLIBC_2.34", "GLIBC_2.2.5");
LH_VERSIONS(pthread_rwlock_timedrdlock, "GLIBC_2.34", "GLIBC_2.2.5");
LH_VERSIONS(pthread_rwlock_timedwrlock, "GLIBC_2.34", "GLIBC_2.2.5");
LH_VERSIONS(pthread_rwlock_clockrdlock, "GLIBC_2.34", "GLIBC_2.30");
LH_VERSIONS(pthread_rwlock_clockwrlock, "GLIBC_2.34", "GLIBC_2.30");
LH_VERSIONS(pthread_rwlock_unlock, "GLIBC_2.34", "GLIBC_2.2.5");
LH_VERSIONS(pthread_rwlock_init, "GLIBC_2.34", "GLIBC_2.2.5");
LH_VERSIONS(pthread_rwlock_destroy, "GLIBC_2.34", "GLIBC_2.2.5");
