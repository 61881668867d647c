/* SPDX-License-Identifier: MIT
 * batch.c - many tasks of a pool at once. */
#include "ord/batch.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

/* Waits for a task of this batch, whose memory must not go before. Where the
 * wait is refused, the task is taken back from the queue; if a worker was
 * faster and now waits itself, what it may be waiting for is run here. */
static void settle(struct ord_pool *pool, struct ord_future *future)
{
    while (ord_future_wait(future, ORD_NEVER) == EDEADLK) {
        if (ord_future_cancel(future) == 0)
            return;
        if (ord_pool_help(pool) != 0)
            sched_yield();
    }
}

/* One that cannot be submitted has ended with the reason. */
static void submit_all(struct ord_pool *pool, struct ord_future *futures,
                       ord_task task, void *const *args, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int rc;

        ord_future_init(&futures[i]);
        rc = ord_pool_submit(pool, &futures[i], task, args[i], ORD_NEVER);
        if (rc != 0)
            ord_future_finish(&futures[i], rc, NULL);
    }
}

int ord_map(struct ord_pool *pool, ord_task task, void *const *args, size_t n,
            void **results, int *errors)
{
    struct ord_future *futures;
    int first_error = 0;

    if (n == 0)
        return 0;
    futures = calloc(n, sizeof(*futures));
    if (!futures)
        return ENOMEM;
    submit_all(pool, futures, task, args, n);
    for (size_t i = 0; i < n; i++) {
        settle(pool, &futures[i]);
        ord_future_result(&futures[i], &errors[i], &results[i]);
        ord_future_destroy(&futures[i]);
        if (first_error == 0)
            first_error = errors[i];
    }
    free(futures);
    return first_error;
}

/* There is room for each, so nothing is refused. */
static void note_end(struct ord_future *future, void *arg)
{
    struct ord_completion *completion = arg;

    ord_queue_offer(&completion->ended, future);
}

int ord_completion_init(struct ord_completion *completion,
                        struct ord_future *futures, size_t n)
{
    int rc = ord_queue_init(&completion->ended, ORD_FIFO, n);

    if (rc != 0)
        return rc;
    completion->done = calloc(n, sizeof(*completion->done));
    if (!completion->done) {
        ord_queue_destroy(&completion->ended);
        return ENOMEM;
    }
    completion->nleft = n;
    for (size_t i = 0; i < n; i++) {
        completion->done[i].fn = note_end;
        completion->done[i].arg = completion;
        ord_future_on_done(&futures[i], &completion->done[i]);
    }
    return 0;
}

int ord_completion_next(struct ord_completion *completion,
                        struct ord_future **future, ord_ns deadline)
{
    void *ended;
    int rc;

    if (completion->nleft == 0)
        return EPIPE;
    rc = ord_queue_get(&completion->ended, &ended, deadline);
    if (rc != 0)
        return rc;
    completion->nleft--;
    *future = ended;
    /* It was noted in a callback, and others may still run. */
    return ord_future_wait(*future, ORD_NEVER);
}

int ord_completion_destroy(struct ord_completion *completion)
{
    int rc;

    if (completion->nleft > 0)
        return EBUSY;
    rc = ord_queue_destroy(&completion->ended);
    if (rc == 0)
        free(completion->done);
    return rc;
}

int ord_submit_rated(struct ord_bucket *bucket, struct ord_pool *pool,
                     struct ord_future *future, ord_task task, void *arg,
                     ord_ns deadline)
{
    int rc = ord_bucket_take(bucket, 1, deadline);

    return rc ? rc : ord_pool_submit(pool, future, task, arg, deadline);
}

void ord_progress_init(struct ord_progress *progress,
                       void (*say)(size_t nended, size_t nsubmitted, void *arg),
                       void *arg)
{
    *progress = (struct ord_progress){ .say = say, .arg = arg };
    ord_mutex_init(&progress->lock);
}

int ord_progress_destroy(struct ord_progress *progress)
{
    size_t nleft;

    ord_mutex_lock(&progress->lock);
    nleft = progress->nsubmitted - progress->nended;
    ord_mutex_unlock(&progress->lock);
    return nleft > 0 ? EBUSY : ord_mutex_destroy(&progress->lock);
}

static void say_progress(struct ord_future *future, void *arg)
{
    struct ord_progress *progress = arg;
    size_t nended;
    size_t nsubmitted;

    (void)future;
    ord_mutex_lock(&progress->lock);
    nended = ++progress->nended;
    nsubmitted = progress->nsubmitted;
    ord_mutex_unlock(&progress->lock);
    progress->say(nended, nsubmitted, progress->arg);
}

static void count_submitted(struct ord_progress *progress, int change)
{
    ord_mutex_lock(&progress->lock);
    progress->nsubmitted += (size_t)change;
    ord_mutex_unlock(&progress->lock);
}

/* Counted before it can end, and registered after it is in: a future that has
 * ended by then calls at once. */
int ord_progress_submit(struct ord_progress *progress, struct ord_pool *pool,
                        struct ord_tracked *tracked, ord_task task, void *arg,
                        ord_ns deadline)
{
    int rc;

    count_submitted(progress, 1);
    rc = ord_pool_submit(pool, &tracked->future, task, arg, deadline);
    if (rc != 0) {
        count_submitted(progress, -1);
        return rc;
    }
    tracked->done.fn = say_progress;
    tracked->done.arg = progress;
    ord_future_on_done(&tracked->future, &tracked->done);
    return 0;
}
