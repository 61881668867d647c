/* SPDX-License-Identifier: MIT
 * sem.c - sem_*: the semaphores that are used as locks (semaphore.h). */
#include <semaphore.h>

#include "hooks/hook.h"
#include "runtime/live.h"
#include "runtime/lockcheck.h"
#include "runtime/semaphore.h"

enum {
    blocking = LH_HOW(LH_EXCLUSIVE, LH_WAIT_BLOCK, LH_KIND_SEMAPHORE),
    timed = LH_HOW(LH_EXCLUSIVE, LH_WAIT_TIMED, LH_KIND_SEMAPHORE),
    tried = LH_HOW(LH_EXCLUSIVE, LH_WAIT_TRIED, LH_KIND_SEMAPHORE),
    trying = LH_HOW(LH_EXCLUSIVE, LH_WAIT_TRY, LH_KIND_SEMAPHORE),
};

/* A signal now that this thread took while it might have been a lock. */
static void let_go(struct lh_semaphore *s, sem_t *sem)
{
    lh_semaphore_set_holder(s, 0);
    lh_held_forget(lh_self, sem);
}

/* What is done to a signal is of no interest. */
static inline bool is_signal(struct lh_semaphore *s)
{
    return lh_semaphore_use(s) == LH_SEMAPHORE_SIGNAL &&
           lh_semaphore_holder(s) == 0;
}

/* The caller's use of it. A macro, as LH_CALLER() is. */
#define USE(sem, pc, cfa)                                                      \
    ((struct lh_lockcheck){ sem, LH_KIND_SEMAPHORE, pc, cfa })

/* The semaphore, if it may be a lock. takes: it is asked for, not posted. */
static struct lh_semaphore *lock_of(sem_t *sem, bool takes, void *pc,
                                    uintptr_t cfa)
{
    struct lh_semaphore *s = lh_self ? lh_semaphore_find(sem) : NULL;

    if (!s)
        lh_lockcheck_used(USE(sem, pc, cfa));
    if (!s && !(s = lh_semaphore_meet(sem, takes)))
        return NULL;
    if (lh_semaphore_use(s) == LH_SEMAPHORE_RETURNED && takes)
        lh_semaphore_confirm(s, sem);
    if (lh_semaphore_use(s) != LH_SEMAPHORE_SIGNAL)
        return s;
    if (lh_semaphore_holder(s) == lh_self->number)
        let_go(s, sem);
    return NULL;
}

/* ---- asked for ---- */

/* True if it was got, and counts as taken. */
static bool takes(struct lh_semaphore *s, sem_t *sem, int rc)
{
    if (rc != 0)
        return false;
    if (lh_semaphore_use(s) == LH_SEMAPHORE_SIGNAL) {
        if (lh_semaphore_holder(s) == lh_self->number)
            let_go(s, sem);
        return false;
    }
    if (lh_semaphore_holder(s) == 0)
        return true;
    /* Somebody had it: another one has posted, maybe unseen. */
    lh_semaphore_demote(s, sem);
    return false;
}

static __attribute__((noinline)) int
settle_any(struct lh_semaphore *s, struct lh_slot *slot, sem_t *sem, int rc)
{
    bool is_taken = takes(s, sem, rc);

    if (is_taken)
        lh_semaphore_set_holder(s, lh_self->number);
    lh_held_settle(slot, sem, is_taken ? LH_HOLDS : LH_GONE);
    return rc;
}

/* After the call; returns its result. */
static int settle(struct lh_semaphore *s, struct lh_slot *slot, int rc)
{
    return settle_any(s, slot, lh_semaphore_address(s), rc);
}

/* The newest slot may not be the one, after a signal handler that has left a
 * lock held. */
static __attribute__((noinline)) int settle_asked(struct lh_semaphore *s,
                                                  int rc)
{
    sem_t *sem = lh_semaphore_address(s);

    return settle_any(s, lh_held_find(lh_self, sem, true), sem, rc);
}

/* The same after lh_held_repeat(). sem_wait() ends in a jump to this, and keeps
 * no more than s over the call: each register that is saved is a store before
 * the semaphore's own atomic one. */
static __attribute__((noinline)) int settle_repeated(struct lh_semaphore *s,
                                                     int rc)
{
    struct lh_thread *t = lh_self;
    struct lh_slot *slot = t->top - 1;

    if (__builtin_expect(
            rc != 0 || slot->lock != lh_semaphore_address(s) ||
                atomic_load_explicit(&slot->state, memory_order_relaxed) !=
                    LH_WANTS ||
                lh_semaphore_holder(s) != 0 ||
                lh_semaphore_use(s) == LH_SEMAPHORE_SIGNAL,
            0))
        return settle_asked(s, rc);
    lh_semaphore_set_holder(s, t->number);
    atomic_store_explicit(&slot->state, LH_HOLDS, memory_order_relaxed);
    return 0;
}

struct wait {
    struct lh_semaphore *s;
    struct lh_slot *slot;
    sem_t *sem;
};

/* Cancelled, or ended by pthread_exit in a handler: nothing was got. */
static void cancelled(void *wait)
{
    struct wait *w = wait;

    lh_held_settle(w->slot, w->sem, LH_GONE);
}

static int wait_busy(struct lh_semaphore *s, sem_t *sem, void *pc,
                     uintptr_t cfa)
{
    struct wait w = { .s = s, .sem = sem };
    struct lh_watch watch;
    int rc;

    lh_semaphore_waits(sem);
    lh_semaphore_check_self(s, sem, pc, cfa);
    w.slot = lh_held_push(sem, blocking, pc, cfa);
    pthread_cleanup_push(cancelled, &w);
    /* Not in pieces: one that a signal handler interrupts goes on by itself
     * (SA_RESTART), one with a limit does not. */
    lh_live_enter(&watch, w.slot);
    rc = lh_real()->sem_wait(sem);
    lh_live_leave(&watch);
    pthread_cleanup_pop(0);
    return settle(s, w.slot, rc);
}

static __attribute__((noinline)) int wait_any(sem_t *sem, void *pc,
                                              uintptr_t cfa)
{
    struct lh_semaphore *s = lock_of(sem, true, pc, cfa);
    struct lh_slot *slot;

    if (!s)
        return lh_real()->sem_wait(sem);
    if (lh_semaphore_value(sem) == 0)
        return wait_busy(s, sem, pc, cfa);
    slot = lh_held_push(sem, blocking, pc, cfa);
    return settle(s, slot, lh_real()->sem_wait(sem));
}

static __attribute__((noinline)) int
wait_nesting(struct lh_semaphore *s, sem_t *sem, struct lh_slot *slot)
{
    lh_held_capture(lh_self, slot);
    return settle_repeated(s, lh_real()->sem_wait(sem));
}

/*
 * One that is free is asked for without a clean-up handler. Should the thread
 * be cancelled all the same, the request is seen to be abandoned by the next
 * one (held.c).
 */
LH_HOOK int sem_wait(sem_t *sem)
{
    struct lh_semaphore *s = lh_semaphore_glance(sem);
    struct lh_slot *slot;
    bool nests = false;

    if (__builtin_expect(s && lh_semaphore_use(s) == LH_SEMAPHORE_LOCK &&
                             lh_semaphore_value(sem) != 0 &&
                             (slot = lh_held_repeat(sem, blocking, LH_CALLER(),
                                                    LH_CFA(), &nests)),
                         1)) {
        if (nests)
            return wait_nesting(s, sem, slot);
        return settle_repeated(s, lh_real()->sem_wait(sem));
    }
    if (s && is_signal(s))
        return lh_real()->sem_wait(sem);
    return wait_any(sem, LH_CALLER(), LH_CFA());
}

LH_HOOK int sem_timedwait(sem_t *sem, const struct timespec *deadline)
{
    struct wait w = { .s = lock_of(sem, true, LH_CALLER(), LH_CFA()),
                      .sem = sem };
    int rc;

    if (!w.s)
        return lh_real()->sem_timedwait(sem, deadline);
    lh_semaphore_waits(sem);
    w.slot = lh_held_push(sem, timed, LH_CALLER(), LH_CFA());
    pthread_cleanup_push(cancelled, &w);
    rc = lh_real()->sem_timedwait(sem, deadline);
    pthread_cleanup_pop(0);
    return settle(w.s, w.slot, rc);
}

LH_HOOK int sem_clockwait(sem_t *sem, clockid_t clock,
                          const struct timespec *deadline)
{
    struct wait w = { .s = lock_of(sem, true, LH_CALLER(), LH_CFA()),
                      .sem = sem };
    int rc;

    if (!lh_real()->sem_clockwait) {
        errno = ENOSYS;
        return -1;
    }
    if (!w.s)
        return lh_real()->sem_clockwait(sem, clock, deadline);
    lh_semaphore_waits(sem);
    w.slot = lh_held_push(sem, timed, LH_CALLER(), LH_CFA());
    pthread_cleanup_push(cancelled, &w);
    rc = lh_real()->sem_clockwait(sem, clock, deadline);
    pthread_cleanup_pop(0);
    return settle(w.s, w.slot, rc);
}

LH_HOOK int sem_trywait(sem_t *sem)
{
    struct lh_semaphore *s = lock_of(sem, true, LH_CALLER(), LH_CFA());
    struct lh_slot *slot;
    bool waits;
    int rc;

    if (!s)
        return lh_real()->sem_trywait(sem);
    waits = lh_semaphore_place_waits(LH_CALLER());
    slot = lh_held_push(sem, waits ? tried : trying, LH_CALLER(), LH_CFA());
    rc = settle(s, slot, lh_real()->sem_trywait(sem));
    if (rc != 0)
        lh_semaphore_try_failed(sem, LH_CALLER());
    return rc;
}

/* ---- posted: all is done before, as another thread may then destroy it ----
 */

/* In the middle of a lock call a thread runs signal handlers only. */
static inline bool is_in_lock_call(const struct lh_thread *t)
{
    return atomic_load_explicit(&t->top[-1].state, memory_order_relaxed) >=
           LH_WANTS;
}

static __attribute__((noinline)) int post_any(sem_t *sem, void *pc,
                                              uintptr_t cfa)
{
    struct lh_semaphore *s = lock_of(sem, false, pc, cfa);
    struct lh_thread *t = lh_self;

    if (!s)
        return lh_real()->sem_post(sem);
    if (lh_semaphore_holder(s) == t->number && lh_semaphore_value(sem) == 0 &&
        !is_in_lock_call(t)) {
        if (lh_semaphore_use(s) == LH_SEMAPHORE_CANDIDATE)
            lh_semaphore_return(s, sem, pc, cfa);
        lh_semaphore_set_holder(s, 0);
        lh_held_release(sem);
    } else {
        lh_semaphore_demote(s, sem);
    }
    return lh_real()->sem_post(sem);
}

/* The usual case, without a call that returns: what was taken last. */
static inline bool gives_newest(struct lh_semaphore *s, const sem_t *sem)
{
    struct lh_thread *t = lh_self;
    struct lh_slot *slot;

    if (!t)
        return false;
    slot = t->top - 1;
    if (slot->lock != sem || slot->count != 1 ||
        atomic_load_explicit(&slot->state, memory_order_relaxed) != LH_HOLDS ||
        atomic_load_explicit(&slot[-1].state, memory_order_relaxed) ==
            LH_GONE ||
        lh_semaphore_holder(s) != t->number)
        return false;
    lh_semaphore_set_holder(s, 0);
    t->top = slot;
    return true;
}

LH_HOOK int sem_post(sem_t *sem)
{
    struct lh_semaphore *s = lh_semaphore_glance(sem);

    if (__builtin_expect(s && lh_semaphore_use(s) == LH_SEMAPHORE_LOCK &&
                             gives_newest(s, sem),
                         1))
        return lh_real()->sem_post(sem);
    if (s && is_signal(s))
        return lh_real()->sem_post(sem);
    return post_any(sem, LH_CALLER(), LH_CFA());
}

/* ---- made and destroyed ---- */

LH_HOOK int sem_init(sem_t *sem, int shared, unsigned value)
{
    int rc = (lh_real_ensure(), lh_real()->sem_init(sem, shared, value));

    if (rc != 0)
        return rc;
    lh_semaphore_forget(sem);
    lh_lockcheck_made(USE(sem, LH_CALLER(), LH_CFA()));
    if (value == 1)
        lh_detector_lock_born(sem, LH_KIND_SEMAPHORE, LH_CALLER(), LH_CFA());
    else
        lh_detector_lock_died(sem);
    return rc;
}

LH_HOOK int sem_destroy(sem_t *sem)
{
    int rc;

    lh_real_ensure();
    lh_lockcheck_used(USE(sem, LH_CALLER(), LH_CFA())); /* a second time */
    rc = lh_real()->sem_destroy(sem);
    /* Its memory is still the caller's to give back. */
    if (rc == 0) {
        lh_semaphore_forget(sem);
        lh_detector_lock_died(sem);
        lh_lockcheck_destroyed(USE(sem, LH_CALLER(), LH_CFA()));
    }
    return rc;
}

LH_VERSIONS(sem_init, "GLIBC_2.34", "GLIBC_2.2.5");
LH_VERSIONS(sem_destroy, "GLIBC_2.34", "GLIBC_2.2.5");
LH_VERSIONS(sem_wait, "GLIBC_2.34", "GLIBC_2.2.5");
LH_VERSIONS(sem_trywait, "GLIBC_2.34", "GLIBC_2.2.5");
LH_VERSIONS(sem_timedwait, "GLIBC_2.34", "GLIBC_2.2.5");
LH_VERSIONS(sem_clockwait, "GLIBC_2.34", "GLIBC_2.30");
LH_VERSIONS(sem_post, "GLIBC_2.34", "GLIBC_2.2.5");
