/* SPDX-License-Identifier: MIT
 *
 * ord/sem.h - a counting semaphore, with or without a bound.
 *
 * wait takes one unit and waits while there is none; post gives one back. A
 * bounded semaphore knows how many units there are: a post that no wait has
 * earned is refused, where an unbounded one would have a unit too many from
 * then on. Units are not handed to the longest waiter; whoever comes takes.
 *
 *     static struct ord_sem slots = ORD_SEM_BOUNDED_INIT(4);
 *
 * Allocates nothing. Any thread may call anything; destroy comes last.
 * Deadlines are instants of ord_now(). Returns 0 or an errno number:
 *
 *     EINVAL     more units at the start than the bound
 *     EAGAIN     there is none now (trywait)
 *     ETIMEDOUT  there was none by the deadline
 *     EOVERFLOW  all units are here already (post)
 *     EBUSY      a thread waits (destroy)
 */
#ifndef ORD_SEM_H
#define ORD_SEM_H

#include <limits.h>

#include "ord/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All of it private. */
struct ord_sem {
    struct ord_mutex mutex; /* over the rest */
    struct ord_cond posted;
    unsigned count, max;
};
#define ORD_SEM_INIT(units)                                                    \
    {                                                                          \
        ORD_MUTEX_INIT, ORD_COND_INIT, (units), UINT_MAX                       \
    }
#define ORD_SEM_BOUNDED_INIT(units)                                            \
    {                                                                          \
        ORD_MUTEX_INIT, ORD_COND_INIT, (units), (units)                        \
    }

void ord_sem_init(struct ord_sem *sem, unsigned units);

/* Starts with `units` of at most `max`. EINVAL. */
int ord_sem_init_bounded(struct ord_sem *sem, unsigned units, unsigned max);
int ord_sem_destroy(struct ord_sem *sem); /* EBUSY */

void ord_sem_wait(struct ord_sem *sem);
int ord_sem_trywait(struct ord_sem *sem);                    /* EAGAIN */
int ord_sem_timedwait(struct ord_sem *sem, ord_ns deadline); /* ETIMEDOUT */
int ord_sem_post(struct ord_sem *sem);                       /* EOVERFLOW */

/* The units that nobody has, at some moment of the call. */
unsigned ord_sem_count(struct ord_sem *sem);

#ifdef __cplusplus
}
#endif

#endif
