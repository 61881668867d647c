/* SPDX-License-Identifier: MIT
 * base.c - time, the mutex and the condition. */
#include "ord/base.h"

#include <errno.h>
#include <time.h>

ord_ns ord_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (ord_ns)t.tv_sec * ORD_SECOND + t.tv_nsec;
}

ord_ns ord_deadline_after(ord_ns timeout)
{
    ord_ns deadline;

    if (__builtin_add_overflow(ord_now(), timeout, &deadline))
        return timeout > 0 ? ORD_NEVER : 0;
    return deadline;
}

ord_ns ord_clock_now(const struct ord_clock *clock)
{
    return clock ? clock->now(clock->ctx) : ord_now();
}

static struct timespec timespec_of(ord_ns instant)
{
    if (instant < 0)
        instant = 0;
    return (struct timespec){ .tv_sec = instant / ORD_SECOND,
                              .tv_nsec = instant % ORD_SECOND };
}

void ord_mutex_init(struct ord_mutex *mutex)
{
    pthread_mutexattr_t attr;

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&mutex->m, &attr);
    pthread_mutexattr_destroy(&attr);
}

int ord_mutex_destroy(struct ord_mutex *mutex)
{
    return pthread_mutex_destroy(&mutex->m);
}

int ord_mutex_lock(struct ord_mutex *mutex)
{
    return pthread_mutex_lock(&mutex->m);
}

int ord_mutex_trylock(struct ord_mutex *mutex)
{
    return pthread_mutex_trylock(&mutex->m);
}

#ifdef __SANITIZE_THREAD__
/* ThreadSanitizer, at least up to gcc 12, does not see clocklock and would
 * report races under a lock taken by it. In that build the deadline is moved to
 * the clock of the call that it does see. */
int ord_mutex_timedlock(struct ord_mutex *mutex, ord_ns deadline)
{
    struct timespec t;
    ord_ns ahead; /* of CLOCK_MONOTONIC */

    clock_gettime(CLOCK_REALTIME, &t);
    ahead = (ord_ns)t.tv_sec * ORD_SECOND + t.tv_nsec - ord_now();
    if (__builtin_add_overflow(deadline, ahead, &deadline))
        deadline = ORD_NEVER;
    t = timespec_of(deadline);
    return pthread_mutex_timedlock(&mutex->m, &t);
}
#else
int ord_mutex_timedlock(struct ord_mutex *mutex, ord_ns deadline)
{
    struct timespec t = timespec_of(deadline);

    return pthread_mutex_clocklock(&mutex->m, CLOCK_MONOTONIC, &t);
}
#endif

int ord_mutex_unlock(struct ord_mutex *mutex)
{
    return pthread_mutex_unlock(&mutex->m);
}

void ord_cond_init(struct ord_cond *cond)
{
    pthread_cond_init(&cond->c, NULL);
    cond->nwaiting = 0;
}

int ord_cond_destroy(struct ord_cond *cond)
{
    return cond->nwaiting ? EBUSY : pthread_cond_destroy(&cond->c);
}

int ord_cond_pause(struct ord_cond *cond, struct ord_mutex *mutex,
                   ord_ns deadline)
{
    struct timespec t = timespec_of(deadline);
    int rc;

    cond->nwaiting++;
    rc = deadline == ORD_NEVER
             ? pthread_cond_wait(&cond->c, &mutex->m)
             : pthread_cond_clockwait(&cond->c, &mutex->m, CLOCK_MONOTONIC, &t);
    cond->nwaiting--;
    return rc;
}

int ord_cond_timedwait(struct ord_cond *cond, struct ord_mutex *mutex,
                       ord_predicate predicate, void *arg, ord_ns deadline)
{
    while (!predicate(arg)) {
        int rc = ord_cond_pause(cond, mutex, deadline);
        if (rc == ETIMEDOUT)
            return predicate(arg) ? 0 : ETIMEDOUT;
        if (rc != 0)
            return rc;
    }
    return 0;
}

int ord_cond_wait(struct ord_cond *cond, struct ord_mutex *mutex,
                  ord_predicate predicate, void *arg)
{
    return ord_cond_timedwait(cond, mutex, predicate, arg, ORD_NEVER);
}

void ord_cond_signal(struct ord_cond *cond)
{
    pthread_cond_signal(&cond->c);
}

void ord_cond_broadcast(struct ord_cond *cond)
{
    pthread_cond_broadcast(&cond->c);
}
