/* SPDX-License-Identifier: MIT
 *
 * ord/pool.h - a fixed number of worker threads over a bounded queue.
 *
 * A task is submitted with a future of the caller's, which gets its result or
 * its error; an error never ends a worker. Callbacks of the future run in the
 * worker, with no lock held.
 *
 * A task may wait for another task of its own pool as long as a worker is left
 * to run it. A wait that would leave every worker waiting for tasks of this
 * pool, or that closes a ring of tasks waiting for one another (the shortest is
 * a task that waits for itself), is refused with EDEADLK, whatever its
 * deadline. So is a submission by a task to its own full queue when no worker
 * is left to make room. Not seen is a worker that lost the room it was woken
 * for to a submitter from outside after the last of the others began to wait;
 * give such submissions a deadline.
 *
 * Memory:   allocated by create, released by destroy; submitting allocates
 *           nothing. Futures stay in place until they are done.
 * Threads:  all may run at once, but create and destroy run alone, and a future
 *           of the pool is not cancelled while the pool is destroyed.
 * Errors:   EINVAL     an argument is out of its range
 *           ENOMEM     no memory
 *           EAGAIN     no thread could be made; offer: the queue is full
 *           EBUSY      the future is in use; destroy: not shut down
 *           EPIPE      shut down, and the task will not be run
 *           ETIMEDOUT  the deadline passed, and the task will not be run
 *           EDEADLK    waiting here would be for ever
 */
#ifndef ORD_POOL_H
#define ORD_POOL_H

#include <stddef.h>

#include "ord/future.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ord_pool;

int ord_pool_create(struct ord_pool **pool, unsigned nworkers, size_t capacity);
/* EINVAL, ENOMEM, EAGAIN */
int ord_pool_destroy(struct ord_pool *pool); /* EBUSY */

/* Waits for room until the deadline, or refuses. After an error the future is
 * as it was. */
int ord_pool_submit(struct ord_pool *pool, struct ord_future *future,
                    ord_task task, void *arg, ord_ns deadline);
/* EBUSY, EPIPE, ETIMEDOUT, EDEADLK */
int ord_pool_offer(struct ord_pool *pool, struct ord_future *future,
                   ord_task task, void *arg); /* EBUSY, EPIPE, EAGAIN */

/* For a task whose wait was refused and who cannot do without: runs one queued
 * task inside it. Returns 0, EAGAIN if none is queued, EPIPE if none is and the
 * pool is shut down, or EINVAL outside the pool's tasks. */
int ord_pool_help(struct ord_pool *pool);

enum ord_shutdown {
    ORD_DRAIN, /* what is queued is run */
    ORD_DROP,  /* what is queued is cancelled; its future has ECANCELED */
};

/*
 * Refuses new tasks, and returns when the workers have ended. What has begun is
 * always finished.
 *
 * n  receives how many tasks were in the queue and were drained or dropped.
 * Returns 0, EPIPE if it was shut down before, or EDEADLK in a task of its own.
 */
int ord_pool_shutdown(struct ord_pool *pool, enum ord_shutdown how, size_t *n);

unsigned ord_pool_nworkers(const struct ord_pool *pool);

#ifdef __cplusplus
}
#endif

#endif
