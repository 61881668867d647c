/* SPDX-License-Identifier: MIT
 *
 * c11.c - mtx_*, cnd_* and thrd_* of C11.
 *
 * glibc's are the pthread ones by other names: mtx_t is a pthread_mutex_t,
 * thrd_t a pthread_t. They do not pass through the pthread names, and their
 * results are enum values, of which thrd_success is 0.
 */
#include <threads.h>

#include "hooks/cond.h"
#include "hooks/mutex.h"
#include "hooks/thread.h"
#include "runtime/frames.h"
#include "runtime/live.h"
#include "runtime/mutexcheck.h"

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t) && thrd_success == 0,
               "a C11 mutex is the same object as that of POSIX");

static pthread_mutex_t *mutex_of(mtx_t *mutex)
{
    return (pthread_mutex_t *)mutex;
}

LH_HOOK int mtx_init(mtx_t *mutex, int type)
{
    int rc;

    lh_real_ensure();
    lh_mutexcheck_init(mutex_of(mutex), LH_CALLER(), LH_CFA());
    rc = lh_real()->mtx_init(mutex, type);
    if (rc == thrd_success)
        lh_detector_lock_born(mutex, LH_KIND_MUTEX, LH_CALLER(), LH_CFA());
    return rc;
}

LH_HOOK void mtx_destroy(mtx_t *mutex)
{
    lh_real_ensure();
    lh_mutexcheck_refused(mutex_of(mutex), LH_CALLER(), LH_CFA());
    lh_mutexcheck_destroy(mutex_of(mutex), LH_CALLER(), LH_CFA());
    lh_real()->mtx_destroy(mutex);
    /* One in use stays as it is, as with pthread_mutex_destroy, but nothing
     * says so. Its memory is still the caller's to give back. */
    if (!lh_mutex_is_destroyed(mutex_of(mutex)))
        return;
    lh_detector_lock_died(mutex);
    lh_mutexcheck_destroyed(mutex_of(mutex), LH_CALLER(), LH_CFA());
}

LH_HOOK int mtx_lock(mtx_t *c11_mutex)
{
    pthread_mutex_t *mutex = mutex_of(c11_mutex);
    bool nests = false;
    struct lh_slot *slot = lh_mutex_take(mutex, LH_CALLER(), LH_CFA(), &nests);

    if (slot && !nests)
        return lh_real()->mtx_lock(mutex);
    if (slot)
        return lh_mutex_lock_nesting(mutex, &lh_real()->mtx_lock, slot);
    return lh_mutex_lock(mutex, &lh_real()->mtx_lock, LH_CALLER(), LH_CFA());
}

LH_HOOK int mtx_trylock(mtx_t *mutex)
{
    return lh_mutex_trylock(mutex_of(mutex), &lh_real()->mtx_trylock,
                            LH_CALLER(), LH_CFA());
}

LH_HOOK int mtx_timedlock(mtx_t *restrict mutex,
                          const struct timespec *restrict deadline)
{
    return lh_mutex_timedlock(mutex_of(mutex), &lh_real()->mtx_timedlock,
                              deadline, LH_CALLER(), LH_CFA());
}

LH_HOOK int mtx_unlock(mtx_t *c11_mutex)
{
    pthread_mutex_t *mutex = mutex_of(c11_mutex);

    if (lh_mutex_give(mutex))
        return lh_real()->mtx_unlock(mutex);
    return lh_mutex_unlock(mutex, &lh_real()->mtx_unlock, LH_CALLER(),
                           LH_CFA());
}

/* What the pthread function behind it returned: a wait that fails otherwise
 * was refused. */
static int errno_of(int result)
{
    switch (result) {
    case thrd_success:
        return 0;
    case thrd_timedout:
        return ETIMEDOUT;
    default:
        return EINVAL;
    }
}

LH_HOOK int cnd_wait(cnd_t *cond, mtx_t *mutex)
{
    struct lh_cond_wait w =
        lh_cond_begin(cond, mutex_of(mutex), LH_CALLER(), LH_CFA());
    int rc;

    pthread_cleanup_push(lh_cond_cancelled, &w);
    rc = lh_real()->cnd_wait(cond, mutex);
    pthread_cleanup_pop(0);
    lh_cond_end(&w, errno_of(rc));
    return rc;
}

LH_HOOK int cnd_timedwait(cnd_t *restrict cond, mtx_t *restrict mutex,
                          const struct timespec *restrict deadline)
{
    struct lh_cond_wait w =
        lh_cond_begin(cond, mutex_of(mutex), LH_CALLER(), LH_CFA());
    int rc;

    pthread_cleanup_push(lh_cond_cancelled, &w);
    rc = lh_real()->cnd_timedwait(cond, mutex, deadline);
    pthread_cleanup_pop(0);
    lh_cond_end(&w, errno_of(rc));
    return rc;
}

/* A start routine of C11 returns an int, and glibc knows by how the thread was
 * made: the detector only keeps it. */
typedef void *kept_start(void *);

static kept_start *keep(thrd_start_t routine)
{
    return (kept_start *)(void (*)(void))routine;
}

static thrd_start_t kept(const struct lh_thread *t)
{
    return (thrd_start_t)(void (*)(void))t->start;
}

/* Ends in a jump, as start() in thread.c does. */
static int start(void *thread)
{
    struct lh_thread *t = thread;

    lh_detector_begin(t, LH_CFA());
    return kept(t)(t->argument);
}

LH_HOOK int thrd_create(thrd_t *handle, thrd_start_t routine, void *argument)
{
    struct lh_thread *t;
    uint32_t number;
    int rc;

    lh_real_ensure();
    lh_frames_creating(LH_CALLER(), LH_CFA());
    t = lh_detector_announce(keep(routine), argument, NULL);
    if (!t)
        return lh_real()->thrd_create(handle, routine, argument);
    number = t->number; /* it may be gone when thrd_create returns */
    rc = lh_real()->thrd_create(handle, start, t);
    if (rc == thrd_success)
        lh_detector_created(number, *handle);
    else
        lh_detector_cancel(t);
    return rc;
}

LH_HOOK int thrd_join(thrd_t handle, int *result)
{
    void *returned;
    int rc = lh_join(handle, &returned, LH_CALLER(), LH_CFA());

    if (rc != 0)
        return thrd_error;
    if (result)
        *result = (int)(intptr_t)returned;
    return thrd_success;
}

LH_HOOK int thrd_detach(thrd_t handle)
{
    /* Before: afterwards the handle may be another thread's. */
    lh_detector_detached(handle);
    return lh_real()->thrd_detach(handle);
}

LH_HOOK void thrd_exit(int result)
{
    lh_real_ensure();
    lh_held_abandon();
    lh_live_main_ends();
    lh_real()->thrd_exit(result);
    __builtin_unreachable();
}

LH_VERSIONS(mtx_init, "GLIBC_2.34", "GLIBC_2.28");
LH_VERSIONS(mtx_destroy, "GLIBC_2.34", "GLIBC_2.28");
LH_VERSIONS(mtx_lock, "GLIBC_2.34", "GLIBC_2.28");
LH_VERSIONS(mtx_trylock, "GLIBC_2.34", "GLIBC_2.28");
LH_VERSIONS(mtx_timedlock, "GLIBC_2.34", "GLIBC_2.28");
LH_VERSIONS(mtx_unlock, "GLIBC_2.34", "GLIBC_2.28");
LH_VERSIONS(cnd_wait, "GLIBC_2.34", "GLIBC_2.28");
LH_VERSIONS(cnd_timedwait, "GLIBC_2.34", "GLIBC_2.28");
LH_VERSIONS(thrd_create, "GLIBC_2.34", "GLIBC_2.28");
LH_VERSIONS(thrd_join, "GLIBC_2.34", "GLIBC_2.28");
LH_VERSIONS(thrd_detach, "GLIBC_2.34", "GLIBC_2.28");
LH_VERSIONS(thrd_exit, "GLIBC_2.34", "GLIBC_2.28");
