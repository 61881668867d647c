/* SPDX-License-Identifier: MIT
 * future.c - a result that is not there yet. */
#include "ord/future.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

/* Moves go down only, but that an executor may give a queued one back. */
enum {
    PENDING = 0, /* as the static initializer has it */
    QUEUED,
    RUNNING,
    FINISHING, /* the result is there, callbacks run */
    DONE,
};

void ord_future_init(struct ord_future *future)
{
    *future = (struct ord_future){ .state = PENDING };
    ord_mutex_init(&future->lock);
    ord_cond_init(&future->done);
}

int ord_future_destroy(struct ord_future *future)
{
    bool busy;

    ord_mutex_lock(&future->lock);
    busy = (future->state != PENDING && future->state != DONE) ||
           future->done.nwaiting > 0;
    ord_mutex_unlock(&future->lock);
    if (busy)
        return EBUSY;
    ord_cond_destroy(&future->done);
    return ord_mutex_destroy(&future->lock);
}

static int is_done(void *arg)
{
    const struct ord_future *future = arg;

    return future->state == DONE;
}

int ord_future_wait(struct ord_future *future, ord_ns deadline)
{
    const struct ord_executor *executor;
    void *self;
    int rc;

    ord_mutex_lock(&future->lock);
    executor = is_done(future) ? NULL : future->executor;
    self = future->executor_self;
    ord_mutex_unlock(&future->lock);

    rc = executor ? executor->before_wait(self, future) : 0;
    if (rc != 0)
        return rc;
    ord_mutex_lock(&future->lock);
    rc = ord_cond_timedwait(&future->done, &future->lock, is_done, future,
                            deadline);
    ord_mutex_unlock(&future->lock);
    if (executor)
        executor->after_wait(self);
    return rc;
}

int ord_future_result(struct ord_future *future, int *error, void **result)
{
    int rc = EAGAIN;

    ord_mutex_lock(&future->lock);
    if (future->state >= FINISHING) {
        *error = future->error;
        *result = future->result;
        rc = 0;
    }
    ord_mutex_unlock(&future->lock);
    return rc;
}

/* Calls what is registered until there is no more. The lock is held at both
 * ends and free in the calls. */
static void run_callbacks(struct ord_future *future)
{
    struct ord_done *done;

    while ((done = future->callbacks) != NULL) {
        future->callbacks = done->next;
        ord_mutex_unlock(&future->lock);
        done->fn(future, done->arg);
        ord_mutex_lock(&future->lock);
    }
}

/* Finishes it if its state is at most `limit`. */
static int finish_from(struct ord_future *future, int limit, int error,
                       void *result)
{
    int rc = EBUSY;

    ord_mutex_lock(&future->lock);
    if (future->state <= limit) {
        future->state = FINISHING;
        future->error = error;
        future->result = result;
        run_callbacks(future);
        future->state = DONE;
        ord_cond_broadcast(&future->done);
        rc = 0;
    }
    ord_mutex_unlock(&future->lock);
    return rc;
}

int ord_future_finish(struct ord_future *future, int error, void *result)
{
    return finish_from(future, RUNNING, error, result);
}

int ord_future_cancel(struct ord_future *future)
{
    const struct ord_executor *executor;
    void *self;

    ord_mutex_lock(&future->lock);
    executor = future->state == QUEUED ? future->executor : NULL;
    self = future->executor_self;
    ord_mutex_unlock(&future->lock);

    /* Out of the queue it is ours alone; else a worker has it. */
    if (!executor)
        return finish_from(future, PENDING, ECANCELED, NULL);
    if (executor->withdraw(self, future) != 0)
        return EBUSY;
    return finish_from(future, QUEUED, ECANCELED, NULL);
}

void ord_future_on_done(struct ord_future *future, struct ord_done *done)
{
    struct ord_done **end = &future->callbacks;
    bool late;

    ord_mutex_lock(&future->lock);
    late = future->state == DONE;
    if (!late) {
        done->next = NULL;
        while (*end)
            end = &(*end)->next;
        *end = done;
    }
    ord_mutex_unlock(&future->lock);
    if (late)
        done->fn(future, done->arg);
}

int ord_future_begin(struct ord_future *future)
{
    int rc = EBUSY;

    ord_mutex_lock(&future->lock);
    if (future->state <= QUEUED) {
        future->state = RUNNING;
        rc = 0;
    }
    ord_mutex_unlock(&future->lock);
    return rc;
}

int ord_future_queue(struct ord_future *future,
                     const struct ord_executor *executor, void *self,
                     ord_task task, void *arg)
{
    int rc = EBUSY;

    ord_mutex_lock(&future->lock);
    if (future->state == PENDING) {
        future->state = QUEUED;
        future->executor = executor;
        future->executor_self = self;
        future->task = task;
        future->arg = arg;
        rc = 0;
    }
    ord_mutex_unlock(&future->lock);
    return rc;
}

void ord_future_unqueue(struct ord_future *future)
{
    ord_mutex_lock(&future->lock);
    future->state = PENDING;
    future->executor = NULL;
    ord_mutex_unlock(&future->lock);
}
