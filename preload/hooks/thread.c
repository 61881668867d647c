/* SPDX-License-Identifier: MIT
 * thread.c - pthread_create, join, detach, exit and setname_np. */
#include <pthread.h>

#include "hooks/hook.h"
#include "hooks/thread.h"
#include "runtime/frames.h"
#include "runtime/live.h"

/* The new thread's first function. It ends in a jump to the program's own
 * start routine, so that stacks end as they would without us. */
static void *start(void *thread)
{
    struct lh_thread *t = thread;

    lh_detector_begin(t, LH_CFA());
    return t->start(t->argument);
}

LH_HOOK int pthread_create(pthread_t *handle, const pthread_attr_t *attr,
                           void *(*routine)(void *), void *argument)
{
    struct lh_thread *t;
    uint32_t number;
    int rc;

    lh_frames_creating(LH_CALLER(), LH_CFA());
    t = lh_detector_announce(routine, argument, attr);
    if (!t)
        return lh_real()->create(handle, attr, routine, argument);
    number = t->number; /* it may be gone when create returns */
    rc = lh_real()->create(handle, attr, start, t);
    if (rc == 0)
        lh_detector_created(number, *handle);
    else
        lh_detector_cancel(t);
    return rc;
}

static void no_join(void *number)
{
    lh_live_joined(*(uint32_t *)number);
}

/* Waits in pieces if the wait could be part of a ring. */
static int wait_for_end(pthread_t handle, void **result)
{
    struct lh_watch watch;
    int rc = ETIMEDOUT;

    if (!lh_live_concerns_join() || !lh_real()->in_pieces)
        return lh_real()->join(handle, result);
    lh_live_begin(&watch);
    while (rc == ETIMEDOUT) {
        rc = lh_real()->clockjoin_np(handle, result, CLOCK_MONOTONIC,
                                     &watch.next);
        if (rc == ETIMEDOUT)
            lh_live_look(&watch);
    }
    lh_live_end(&watch);
    return rc;
}

int lh_join(pthread_t handle, void **result, void *pc, uintptr_t cfa)
{
    uint32_t number = lh_detector_number(handle);
    int rc;

    if (!lh_self || !number)
        return lh_real()->join(handle, result);
    lh_live_joins(number, pc, cfa);
    pthread_cleanup_push(no_join, &number);
    rc = wait_for_end(handle, result);
    pthread_cleanup_pop(1);
    if (rc == 0)
        lh_detector_joined(handle, number);
    return rc;
}

LH_HOOK int pthread_join(pthread_t handle, void **result)
{
    return lh_join(handle, result, LH_CALLER(), LH_CFA());
}

LH_HOOK int pthread_tryjoin_np(pthread_t handle, void **result)
{
    uint32_t number = lh_detector_number(handle);
    int rc = lh_real()->tryjoin_np(handle, result);

    if (rc == 0)
        lh_detector_joined(handle, number);
    return rc;
}

LH_HOOK int pthread_timedjoin_np(pthread_t handle, void **result,
                                 const struct timespec *deadline)
{
    uint32_t number = lh_detector_number(handle);
    int rc = lh_real()->timedjoin_np(handle, result, deadline);

    if (rc == 0)
        lh_detector_joined(handle, number);
    return rc;
}

LH_HOOK int pthread_clockjoin_np(pthread_t handle, void **result,
                                 clockid_t clock,
                                 const struct timespec *deadline)
{
    uint32_t number;
    int rc;

    if (!lh_real()->clockjoin_np)
        return ENOSYS;
    number = lh_detector_number(handle);
    rc = lh_real()->clockjoin_np(handle, result, clock, deadline);
    if (rc == 0)
        lh_detector_joined(handle, number);
    return rc;
}

LH_HOOK int pthread_detach(pthread_t handle)
{
    /* Before: afterwards the handle may be another thread's. */
    lh_detector_detached(handle);
    return lh_real()->detach(handle);
}

LH_HOOK void pthread_exit(void *result)
{
    lh_real_ensure();
    lh_held_abandon();
    lh_live_main_ends();
    lh_real()->exit(result);
    __builtin_unreachable();
}

LH_HOOK int pthread_setname_np(pthread_t handle, const char *name)
{
    int rc = lh_real()->setname_np(handle, name);

    if (rc == 0)
        lh_detector_named(handle, name);
    return rc;
}

LH_VERSIONS(pthread_create, "GLIBC_2.34", "GLIBC_2.2.5");
LH_VERSIONS(pthread_join, "GLIBC_2.34", "GLIBC_2.2.5");
LH_VERSIONS(pthread_tryjoin_np, "GLIBC_2.34", "GLIBC_2.3.3");
LH_VERSIONS(pthread_timedjoin_np, "GLIBC_2.34", "GLIBC_2.3.3");
LH_VERSIONS(pthread_clockjoin_np, "GLIBC_2.34", "GLIBC_2.31");
LH_VERSIONS(pthread_detach, "GLIBC_2.34", "GLIBC_2.2.5");
LH_VERSIONS(pthread_setname_np, "GLIBC_2.34", "GLIBC_2.12");
