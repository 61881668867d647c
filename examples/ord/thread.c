/* SPDX-License-Identifier: MIT
 * thread.c - a thread with a result, and a periodic one. */
#include "ord/thread.h"

#include <errno.h>
#include <stddef.h>

static void *run(void *arg)
{
    struct ord_thread *thread = arg;
    void *result = NULL;
    int error = thread->task(thread->arg, &result);

    ord_future_finish(&thread->ended, error, result);
    return NULL;
}

int ord_thread_start(struct ord_thread *thread, ord_task task, void *arg)
{
    ord_future_init(&thread->ended);
    ord_future_begin(&thread->ended);
    thread->task = task;
    thread->arg = arg;
    if (pthread_create(&thread->id, NULL, run, thread) == 0)
        return 0;
    ord_future_finish(&thread->ended, EAGAIN, NULL);
    ord_future_destroy(&thread->ended);
    return EAGAIN;
}

int ord_thread_join(struct ord_thread *thread, int *error, void **result,
                    ord_ns deadline)
{
    int rc;

    if (pthread_equal(thread->id, pthread_self()))
        return EDEADLK;
    rc = ord_future_wait(&thread->ended, deadline);
    if (rc != 0)
        return rc;
    ord_future_result(&thread->ended, error, result);
    pthread_join(thread->id, NULL);
    return ord_future_destroy(&thread->ended);
}

static int is_stopping(void *arg)
{
    const struct ord_periodic *periodic = arg;

    return periodic->stopping;
}

/* The next instant that has not passed; those that have are counted. Called
 * with the lock held. */
static ord_ns next_instant(struct ord_periodic *periodic, ord_ns last)
{
    ord_ns late = ord_now() - last;
    ord_ns nskipped = late > 0 ? late / periodic->period : 0;

    periodic->nskipped += (uint64_t)nskipped;
    return last + (nskipped + 1) * periodic->period;
}

static int run_periodically(void *arg, void **result)
{
    struct ord_periodic *periodic = arg;
    ord_ns due = ord_deadline_after(periodic->period);

    (void)result;
    ord_mutex_lock(&periodic->lock);
    /* It is the passing of the deadline that begins a run. */
    while (ord_cond_timedwait(&periodic->stop, &periodic->lock, is_stopping,
                              periodic, due) == ETIMEDOUT) {
        periodic->nruns++;
        ord_mutex_unlock(&periodic->lock);
        periodic->fn(periodic->arg);
        ord_mutex_lock(&periodic->lock);
        due = next_instant(periodic, due);
    }
    ord_mutex_unlock(&periodic->lock);
    return 0;
}

int ord_periodic_start(struct ord_periodic *periodic, ord_ns period,
                       void (*fn)(void *arg), void *arg)
{
    if (period <= 0)
        return EINVAL;
    ord_mutex_init(&periodic->lock);
    ord_cond_init(&periodic->stop);
    periodic->stopping = 0;
    periodic->nruns = 0;
    periodic->nskipped = 0;
    periodic->period = period;
    periodic->fn = fn;
    periodic->arg = arg;
    return ord_thread_start(&periodic->thread, run_periodically, periodic);
}

void ord_periodic_ask_stop(struct ord_periodic *periodic)
{
    ord_mutex_lock(&periodic->lock);
    periodic->stopping = 1;
    ord_cond_broadcast(&periodic->stop);
    ord_mutex_unlock(&periodic->lock);
}

int ord_periodic_stop(struct ord_periodic *periodic, ord_ns deadline)
{
    int error;
    void *result;
    int rc;

    ord_periodic_ask_stop(periodic);
    rc = ord_thread_join(&periodic->thread, &error, &result, deadline);
    if (rc != 0)
        return rc;
    ord_cond_destroy(&periodic->stop);
    return ord_mutex_destroy(&periodic->lock);
}

static uint64_t read_count(struct ord_periodic *periodic, const uint64_t *count)
{
    uint64_t n;

    ord_mutex_lock(&periodic->lock);
    n = *count;
    ord_mutex_unlock(&periodic->lock);
    return n;
}

uint64_t ord_periodic_nruns(struct ord_periodic *periodic)
{
    return read_count(periodic, &periodic->nruns);
}

uint64_t ord_periodic_nskipped(struct ord_periodic *periodic)
{
    return read_count(periodic, &periodic->nskipped);
}
