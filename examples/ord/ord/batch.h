/* SPDX-License-Identifier: MIT
 *
 * ord/batch.h - many tasks of a pool at once.
 *
 * Memory:   each allocates when it begins, holding no lock.
 * Threads:  one thread uses a batch or completion; a progress may be used by
 *           several. Init and destroy run alone.
 * Errors:   ENOMEM  no memory
 *           EPIPE   completion: all have come
 *           EBUSY   destroy: not all have come
 *           and those of ord/pool.h, ord/bucket.h
 */
#ifndef ORD_BATCH_H
#define ORD_BATCH_H

#include <stddef.h>

#include "ord/bucket.h"
#include "ord/pool.h"
#include "ord/queue.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Runs the task on each of n arguments and returns when all have ended.
 *
 * results, errors  arrays of n, written in the order of args, whatever the
 *                  order in which they ended. What could not be run has the
 *                  error of its submission, or in a task of the pool ECANCELED,
 *                  if no worker was left to run it.
 * A task may not wait for the task that called this.
 * Returns the first error in that order or 0, or ENOMEM and nothing was run.
 */
int ord_map(struct ord_pool *pool, ord_task task, void *const *args, size_t n,
            void **results, int *errors);

/* Gives futures in the order in which they end, each once. They and this stay
 * in place until all have come. */
struct ord_completion {
    struct ord_queue ended; /* has room for all */
    struct ord_done *done;  /* one a future */
    size_t nleft;
};
int ord_completion_init(struct ord_completion *completion,
                        struct ord_future *futures, size_t n);
/* EINVAL: none; ENOMEM */
int ord_completion_next(struct ord_completion *completion,
                        struct ord_future **future, ord_ns deadline);
/* EPIPE, ETIMEDOUT */
int ord_completion_destroy(struct ord_completion *completion); /* EBUSY */

/* Submits once the bucket has given a token. The deadline is for both; a token
 * is spent even if the pool then refuses. */
int ord_submit_rated(struct ord_bucket *bucket, struct ord_pool *pool,
                     struct ord_future *future, ord_task task, void *arg,
                     ord_ns deadline);

/* Says after each task that ends how many have, of how many submitted. Each
 * number is said once, by the thread that ended the task, with no lock held;
 * so two threads may say theirs the other way round. */
struct ord_progress {
    struct ord_mutex lock; /* protects the two counts */
    size_t nsubmitted;
    size_t nended;
    void (*say)(size_t nended, size_t nsubmitted, void *arg);
    void *arg;
};

/* A future and what its progress needs; in place until it is done and its
 * submission has returned. */
struct ord_tracked {
    struct ord_future future;
    struct ord_done done;
};

void ord_progress_init(struct ord_progress *progress,
                       void (*say)(size_t nended, size_t nsubmitted, void *arg),
                       void *arg);
int ord_progress_destroy(struct ord_progress *progress);
/* EBUSY: some have not ended */

/* tracked->future has been initialized. */
int ord_progress_submit(struct ord_progress *progress, struct ord_pool *pool,
                        struct ord_tracked *tracked, ord_task task, void *arg,
                        ord_ns deadline);

#ifdef __cplusplus
}
#endif

#endif
