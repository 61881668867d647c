/* SPDX-License-Identifier: MIT
 *
 * ord/pipeline.h - stages joined by bounded queues.
 *
 * Each stage has threads of its own, which take an item from the queue before
 * it, work on it, and put what comes of it into the queue after it. A full
 * queue makes the stage before it wait. The end marker is the closing of a
 * queue, which takes no slot: it gets through when queues are full and when
 * every item fails, and reaches the reader after the last item.
 *
 * One thread a stage keeps the order of the items; more do not.
 *
 * Memory:   allocated by create, released by destroy. An item is the putter's
 *           until it is in, then the stage's that has it, then the reader's.
 * Threads:  all may run at once, but create and destroy run alone; stop is
 * called by one thread at a time, and not by a stage. Errors:   EINVAL     an
 * argument is out of its range ENOMEM     no memory EAGAIN     no thread could
 * be made EPIPE      closed; get: and nothing is left or will come ETIMEDOUT
 * the deadline passed EBUSY      a stage runs, or items are left
 */
#ifndef ORD_PIPELINE_H
#define ORD_PIPELINE_H

#include <stddef.h>

#include "ord/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ord_pipeline;

/*
 * work      with no lock held. Whatever it returns, the item `in` is now its
 *           own to release or to hand on. *out is NULL at first; if it returns
 *           0 and has left that, nothing goes on (a filter); an error is
 *           counted as failed, and nothing goes on.
 * nthreads  at least 1
 * capacity  of the queue before it, at least 1
 */
struct ord_stage {
    int (*work)(void *ctx, void *in, void **out);
    void *ctx;
    unsigned nthreads;
    size_t capacity;
};

/*
 * stages    is copied.
 * capacity  of the queue after the last stage
 * discard   releases an item that stop drops, with no lock held; NULL: nothing
 */
int ord_pipeline_create(struct ord_pipeline **pipeline,
                        const struct ord_stage *stages, size_t nstages,
                        size_t capacity, void (*discard)(void *item));
/* EINVAL, ENOMEM, EAGAIN */

int ord_pipeline_put(struct ord_pipeline *pipeline, void *item,
                     ord_ns deadline); /* EPIPE, ETIMEDOUT */
int ord_pipeline_get(struct ord_pipeline *pipeline, void **item,
                     ord_ns deadline); /* EPIPE, ETIMEDOUT */

/* Sends the end marker after the items that were put. */
void ord_pipeline_close(struct ord_pipeline *pipeline);

/* Closes every queue, drops the items on their way, and returns when every
 * stage has ended. Returns how many were dropped, in all. */
size_t ord_pipeline_stop(struct ord_pipeline *pipeline);

/* How many items failed; first_error receives the first one's, or 0. */
size_t ord_pipeline_nfailed(struct ord_pipeline *pipeline, int *first_error);

/* After get has said EPIPE, or after stop. */
int ord_pipeline_destroy(struct ord_pipeline *pipeline); /* EBUSY */

#ifdef __cplusplus
}
#endif

#endif
