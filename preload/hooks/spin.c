/* SPDX-License-Identifier: MIT
 *
 * spin.c - pthread_spin_*: spinning is waiting.
 */
#include <pthread.h>

#include "hooks/hook.h"
#include "runtime/live.h"
#include "runtime/lockcheck.h"
#include "runtime/spinword.h"
#include "runtime/sys.h"

enum {
    blocking = LH_HOW(LH_EXCLUSIVE, LH_WAIT_BLOCK, LH_KIND_SPIN),
    trying = LH_HOW(LH_EXCLUSIVE, LH_WAIT_TRY, LH_KIND_SPIN),
};

#ifdef __x86_64__
static inline void relax(void)
{
    __builtin_ia32_pause();
}
#else
static inline void relax(void) {}
#endif

/* The caller's use of it. A macro, as LH_CALLER() is. */
#define USE(lock, pc, cfa)                                                     \
    ((struct lh_lockcheck){ (void *)(lock), LH_KIND_SPIN, pc, cfa })

/* The caller is about to spin: for good, if it holds the lock itself, or a
 * thread does that this process was forked without. */
static __attribute__((noinline)) void before_wait(void *lock, void *pc,
                                                  uintptr_t cfa)
{
    struct lh_slot *slot = lh_self ? lh_held_find(lh_self, lock, false) : NULL;

    if (slot)
        lh_self_deadlock(slot, pc, cfa);
    else
        lh_lockcheck_request(USE(lock, pc, cfa));
}

static bool is_due(const struct timespec *time)
{
    return lh_sys_monotonic_ms() >=
           (uint64_t)time->tv_sec * 1000 + (uint64_t)time->tv_nsec / 1000000;
}

/* Spins as the C library would, and looks up now and then. */
static __attribute__((noinline)) int spin_watched(pthread_spinlock_t *lock)
{
    enum { SPINS = 10000 };
    struct lh_watch watch;

    lh_live_begin(&watch);
    while (lh_real()->spin_trylock(lock) != 0) {
        for (int i = 0; i < SPINS && lh_spin_is_taken(lock); i++)
            relax();
        if (lh_spin_is_taken(lock) && is_due(&watch.next))
            lh_live_look(&watch);
    }
    lh_live_end(&watch);
    return 0;
}

static __attribute__((noinline)) int lock_any(pthread_spinlock_t *lock,
                                              void *pc, uintptr_t cfa)
{
    struct lh_slot *slot;
    int rc;

    lh_lockcheck_used(USE(lock, pc, cfa));
    if (lh_spin_is_taken(lock))
        before_wait((void *)lock, pc, cfa);
    slot = lh_held_push((void *)lock, blocking, pc, cfa);
    rc = lh_spin_is_taken(lock) && lh_live_concerns(slot)
             ? spin_watched(lock)
             : lh_real()->spin_lock(lock);
    lh_held_settle(slot, (void *)lock, lh_outcome(rc));
    return rc;
}

LH_HOOK int pthread_spin_lock(pthread_spinlock_t *lock)
{
    if (__builtin_expect(
            lh_spin_is_taken(lock) ||
                !lh_held_ask((void *)lock, blocking, LH_CALLER(), LH_CFA()),
            0))
        return lock_any(lock, LH_CALLER(), LH_CFA());
    return lh_held_settle_repeated((void *)lock, lh_real()->spin_lock(lock));
}

LH_HOOK int pthread_spin_trylock(pthread_spinlock_t *lock)
{
    struct lh_slot *slot =
        lh_held_push((void *)lock, trying, LH_CALLER(), LH_CFA());
    int rc = lh_real()->spin_trylock(lock);

    lh_held_settle(slot, (void *)lock, lh_outcome(rc));
    return rc;
}

static __attribute__((noinline)) int unlock_any(pthread_spinlock_t *lock,
                                                void *pc, uintptr_t cfa)
{
    if (__builtin_expect(!lh_held_release((void *)lock), 0))
        lh_lockcheck_release(USE(lock, pc, cfa));
    return lh_real()->spin_unlock(lock);
}

LH_HOOK int pthread_spin_unlock(pthread_spinlock_t *lock)
{
    if (__builtin_expect(!lh_held_give((void *)lock), 0))
        return unlock_any(lock, LH_CALLER(), LH_CFA());
    return lh_real()->spin_unlock(lock);
}

LH_HOOK int pthread_spin_init(pthread_spinlock_t *lock, int pshared)
{
    int rc;

    lh_real_ensure();
    lh_lockcheck_init(USE(lock, LH_CALLER(), LH_CFA()));
    rc = lh_real()->spin_init(lock, pshared);
    if (rc == 0) {
        lh_detector_lock_born((void *)lock, LH_KIND_SPIN, LH_CALLER(),
                              LH_CFA());
        lh_lockcheck_made(USE(lock, LH_CALLER(), LH_CFA()));
    }
    return rc;
}

LH_HOOK int pthread_spin_destroy(pthread_spinlock_t *lock)
{
    bool is_held;
    int rc;

    lh_real_ensure();
    is_held = lh_lockcheck_destroy(USE(lock, LH_CALLER(), LH_CFA()));
    rc = lh_real()->spin_destroy(lock);
    /* Its memory is still the caller's to give back. */
    if (rc == 0)
        lh_detector_lock_died((void *)lock);
    if (rc == 0 && !is_held)
        lh_lockcheck_destroyed(USE(lock, LH_CALLER(), LH_CFA()));
    return rc;
}

LH_VERSIONS(pthread_spin_lock, "GLIBC_2.34", "GLIBC_2.2.5");
LH_VERSIONS(pthread_spin_trylock, "GLIBC_2.34", "GLIBC_2.2.5");
LH_VERSIONS(pthread_spin_unlock, "GLIBC_2.34", "GLIBC_2.2.5");
LH_VERSIONS(pthread_spin_init, "GLIBC_2.34", "GLIBC_2.2.5");
LH_VERSIONS(pthread_spin_destroy, "GLIBC_2.34", "GLIBC_2.2.5");
