/* SPDX-License-Identifier: MIT
 *
 * ord/future.h - a result that is not there yet.
 *
 * A future is pending, perhaps queued, running, then done, for good: with a
 * result, or with an error that is not 0. A cancelled one is done with
 * ECANCELED; only what has not begun can be cancelled.
 *
 * Whoever makes the result calls ord_future_begin() and ord_future_finish(); a
 * pool and a thread do that themselves.
 *
 * Memory:   the caller's, in place until it is done; nothing is allocated. A
 *           result is a pointer that is never followed: it is whose it was.
 * Threads:  all may run at once, but init and destroy run alone. Once its wait
 *           has returned 0, who waited may destroy the future at once if no
 *           other thread is in a call on it.
 * Errors:   EAGAIN     it is not done
 *           EBUSY      it has begun or is done; destroy: it is not done, or a
 *                      thread waits
 *           ETIMEDOUT  the deadline passed
 *           EDEADLK    it would never be done: see ord/pool.h
 */
#ifndef ORD_FUTURE_H
#define ORD_FUTURE_H

#include "ord/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ord_future;

/* Makes a result. Returns 0, or the error that is to be the future's. */
typedef int (*ord_task)(void *arg, void **result);

/* To be called when it is done. The caller's, until fn is called. */
struct ord_done {
    void (*fn)(struct ord_future *future, void *arg);
    void *arg;
    struct ord_done *next;
};

/*
 * What runs queued futures. Called with no lock held.
 *
 * withdraw     returns 0 if it took the future out of its queue.
 * before_wait  may refuse a wait by the calling thread, with EDEADLK.
 * after_wait   follows a before_wait that returned 0.
 */
struct ord_executor {
    int (*withdraw)(void *self, struct ord_future *future);
    int (*before_wait)(void *self, struct ord_future *future);
    void (*after_wait)(void *self);
};

struct ord_future {
    struct ord_mutex lock; /* protects the rest */
    struct ord_cond done;
    int state;
    int error;
    void *result;
    struct ord_done *callbacks;
    const struct ord_executor *executor; /* NULL: none has it */
    void *executor_self;
    ord_task task; /* the executor's, as the next */
    void *arg;
};
#define ORD_FUTURE_INIT                                                        \
    {                                                                          \
        ORD_MUTEX_INIT, ORD_COND_INIT, 0, 0, NULL, NULL, NULL, NULL, NULL,     \
            NULL                                                               \
    }

void ord_future_init(struct ord_future *future);
int ord_future_destroy(struct ord_future *future); /* EBUSY */

/* Waits until it is done and its callbacks have returned. */
int ord_future_wait(struct ord_future *future, ord_ns deadline);
/* ETIMEDOUT, EDEADLK */

/* How it ended; both are written unless it has not. May be asked in a callback.
 */
int ord_future_result(struct ord_future *future, int *error, void **result);
/* EAGAIN */

int ord_future_cancel(struct ord_future *future); /* EBUSY */

/* Has done->fn called once: by the thread that finishes or cancels, or if it is
 * done already, by this one, before this returns. In the order they were added.
 * A callback may not wait for its own future. */
void ord_future_on_done(struct ord_future *future, struct ord_done *done);

/* For whoever makes the result. Finishing needs no begin. */
int ord_future_begin(struct ord_future *future); /* EBUSY */
int ord_future_finish(struct ord_future *future, int error, void *result);
/* EBUSY: done already */

/* For executors: queue takes a pending future, unqueue gives it back. */
int ord_future_queue(struct ord_future *future,
                     const struct ord_executor *executor, void *self,
                     ord_task task, void *arg); /* EBUSY */
void ord_future_unqueue(struct ord_future *future);

#ifdef __cplusplus
}
#endif

#endif
