/* SPDX-License-Identifier: MIT
 *
 * ord/timer.h - calls a function once, later, unless it is cancelled.
 *
 *     ord_timer_start(&timer, ord_deadline_after(5 * ORD_SECOND), expire,
 * seat);
 *     ...
 *     if (ord_timer_cancel(&timer) == 0)
 *         ...  expire() will never run
 *     ord_timer_wait(&timer);
 *     ord_timer_destroy(&timer);
 *
 * Each timer has a thread of its own, in which the function runs with no lock
 * held; it may cancel its timer, which is then too late. A timer is for one
 * start: destroy it, and it can be started again.
 *
 * Ownership: arg is the caller's and must live until wait has returned. Nothing
 *            is allocated but the thread's stack.
 * Threads:   any thread may cancel and wait at any time; start comes first and
 *            destroy last, each alone. Deadlines are instants of ord_now().
 *
 * Functions return 0 or an errno number:
 *
 *     EINVAL     the function is NULL
 *     EAGAIN     the thread could not be created; the timer is gone (start)
 *     EALREADY   the function has begun, or it is cancelled already (cancel)
 *     ECANCELED  it was cancelled, and the function has not run (wait)
 *     ETIMEDOUT  the timer was not over by the deadline (timedwait)
 *     EDEADLK    called by the timer's own function (wait)
 *     EBUSY      it has neither run to its end nor been cancelled (destroy)
 */
#ifndef ORD_TIMER_H
#define ORD_TIMER_H

#include "ord/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All of it private. */
struct ord_timer {
    struct ord_mutex mutex; /* over the state */
    struct ord_cond changed;
    int state;
    ord_ns deadline;
    void (*function)(void *arg);
    void *arg;
    pthread_t thread;
};

/* Calls function(arg) when the deadline has passed; at once if it has already.
 * With ORD_NEVER it can only be cancelled. EINVAL, EAGAIN. */
int ord_timer_start(struct ord_timer *timer, ord_ns deadline,
                    void (*function)(void *arg), void *arg);

/* Returns at once: 0 if the function will never run, or EALREADY. */
int ord_timer_cancel(struct ord_timer *timer);

/* Waits until the function has returned, or the timer is cancelled. EDEADLK,
 * ECANCELED. */
int ord_timer_wait(struct ord_timer *timer);
int ord_timer_timedwait(struct ord_timer *timer,
                        ord_ns deadline); /* and ETIMEDOUT */

/* Joins the thread, which is at its end. EBUSY. */
int ord_timer_destroy(struct ord_timer *timer);

#ifdef __cplusplus
}
#endif

#endif
