/* SPDX-License-Identifier: MIT
 *
 * ord/base.h - time, the mutex and the condition that the rest builds on.
 *
 * Durations and instants are nanoseconds in an int64_t. An instant is on
 * CLOCK_MONOTONIC; a function takes a deadline, which is an instant, and a
 * caller who has a timeout turns it into one once:
 *
 *     ord_ns deadline = ord_deadline_after(50 * ORD_MS);
 *
 * Nothing here allocates. Functions return 0 or an errno number:
 *
 *     EINVAL     an argument is out of its range
 *     EBUSY      taken, or still in use when it is destroyed
 *     ETIMEDOUT  the deadline has passed
 *     EDEADLK    the caller holds it already
 *     EPERM      the caller does not hold it
 */
#ifndef ORD_BASE_H
#define ORD_BASE_H

#include <pthread.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int64_t ord_ns;

#define ORD_US ((ord_ns)1000)
#define ORD_MS ((ord_ns)1000000)
#define ORD_SECOND ((ord_ns)1000000000)

/* A deadline that never passes. */
#define ORD_NEVER INT64_MAX

/* The present instant on CLOCK_MONOTONIC. */
ord_ns ord_now(void);

/* The instant `timeout` from now; what is too far is ORD_NEVER, and 0 or less
 * has passed already. */
ord_ns ord_deadline_after(ord_ns timeout);

/*
 * A clock that a test can turn by hand. Where a structure takes one, NULL is
 * CLOCK_MONOTONIC. now() may be called by any thread and with a lock held.
 */
struct ord_clock {
    ord_ns (*now)(void *ctx);
    void *ctx;
};
ord_ns ord_clock_now(const struct ord_clock *clock);

/* A mutex that is not recursive: its holder gets EDEADLK, another EPERM. */
struct ord_mutex {
    pthread_mutex_t m;
};
/* What glibc's PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP is, which strict C11
 * hides. */
#define ORD_MUTEX_INIT                                                         \
    {                                                                          \
        {                                                                      \
            {                                                                  \
                __PTHREAD_MUTEX_INITIALIZER(PTHREAD_MUTEX_ERRORCHECK_NP)       \
            }                                                                  \
        }                                                                      \
    }

void ord_mutex_init(struct ord_mutex *mutex);
int ord_mutex_destroy(struct ord_mutex *mutex); /* EBUSY */
int ord_mutex_lock(struct ord_mutex *mutex);    /* EDEADLK */
int ord_mutex_trylock(struct ord_mutex *mutex); /* EBUSY */
int ord_mutex_timedlock(struct ord_mutex *mutex, ord_ns deadline);
/* EDEADLK, ETIMEDOUT */
int ord_mutex_unlock(struct ord_mutex *mutex); /* EPERM */

/*
 * A condition over one mutex. Waits take a predicate, called with the mutex
 * held, and return 0 only when it was true: a wake-up alone means nothing.
 */
struct ord_cond {
    pthread_cond_t c;
    unsigned nwaiting; /* under the mutex waited with */
};
#define ORD_COND_INIT                                                          \
    {                                                                          \
        PTHREAD_COND_INITIALIZER, 0                                            \
    }

typedef int (*ord_predicate)(void *arg); /* not 0: true */

void ord_cond_init(struct ord_cond *cond);
int ord_cond_destroy(struct ord_cond *cond); /* EBUSY */
int ord_cond_wait(struct ord_cond *cond, struct ord_mutex *mutex,
                  ord_predicate predicate, void *arg); /* EPERM */
int ord_cond_timedwait(struct ord_cond *cond, struct ord_mutex *mutex,
                       ord_predicate predicate, void *arg,
                       ord_ns deadline); /* EPERM, ETIMEDOUT */

/* One wait of unknown length, for a loop of the caller's own around it. Returns
 * 0 or ETIMEDOUT. */
int ord_cond_pause(struct ord_cond *cond, struct ord_mutex *mutex,
                   ord_ns deadline);
void ord_cond_signal(struct ord_cond *cond);
void ord_cond_broadcast(struct ord_cond *cond);

#ifdef __cplusplus
}
#endif

#endif
