/* SPDX-License-Identifier: MIT
 * pipeline.c - stages joined by bounded queues. */
#include "ord/pipeline.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "ord/queue.h"

struct stage {
    struct ord_stage is;
    struct ord_pipeline *pipeline;
    struct ord_queue *before; /* the one after it is the next */
    pthread_t *threads;
    unsigned nstarted;
    unsigned nrunning; /* under the pipeline's lock */
};

struct ord_pipeline {
    struct ord_mutex lock; /* protects the counts and each nrunning */
    size_t nfailed;
    size_t ndropped;
    int first_error;
    bool joined; /* by the one thread that stops or destroys */
    void (*discard)(void *item);
    size_t nstages;
    struct stage *stages;
    size_t nqueues; /* one more than stages, once all are made */
    struct ord_queue *queues;
};

static struct ord_queue *last_queue(const struct ord_pipeline *pipeline)
{
    return &pipeline->queues[pipeline->nstages];
}

static void drop(struct ord_pipeline *pipeline, void *item)
{
    ord_mutex_lock(&pipeline->lock);
    pipeline->ndropped++;
    ord_mutex_unlock(&pipeline->lock);
    if (pipeline->discard)
        pipeline->discard(item);
}

static void note_failure(struct ord_pipeline *pipeline, int error)
{
    ord_mutex_lock(&pipeline->lock);
    if (pipeline->nfailed++ == 0)
        pipeline->first_error = error;
    ord_mutex_unlock(&pipeline->lock);
}

static void work_on(struct stage *stage, void *in)
{
    void *out = NULL;
    int error = stage->is.work(stage->is.ctx, in, &out);

    if (error != 0)
        note_failure(stage->pipeline, error);
    else if (out && ord_queue_put(stage->before + 1, out, ORD_NEVER) != 0)
        drop(stage->pipeline, out); /* it was stopped */
}

/* The last thread of a stage to leave hands the end on. */
static void leave(struct stage *stage)
{
    bool last;

    ord_mutex_lock(&stage->pipeline->lock);
    last = --stage->nrunning == 0;
    ord_mutex_unlock(&stage->pipeline->lock);
    if (last)
        ord_queue_close(stage->before + 1);
}

static void *run(void *arg)
{
    struct stage *stage = arg;
    void *item;

    while (ord_queue_get(stage->before, &item, ORD_NEVER) == 0)
        work_on(stage, item);
    leave(stage);
    return NULL;
}

static void join_threads(struct ord_pipeline *pipeline)
{
    for (size_t i = 0; i < pipeline->nstages; i++)
        for (unsigned t = 0; t < pipeline->stages[i].nstarted; t++)
            pthread_join(pipeline->stages[i].threads[t], NULL);
    pipeline->joined = true;
}

static void release(struct ord_pipeline *pipeline)
{
    for (size_t i = 0; i < pipeline->nqueues; i++)
        ord_queue_destroy(&pipeline->queues[i]);
    for (size_t i = 0; pipeline->stages && i < pipeline->nstages; i++)
        free(pipeline->stages[i].threads);
    free(pipeline->queues);
    free(pipeline->stages);
    ord_mutex_destroy(&pipeline->lock);
    free(pipeline);
}

static int make_stage(struct ord_pipeline *pipeline, size_t i,
                      const struct ord_stage *is)
{
    struct stage *stage = &pipeline->stages[i];

    stage->is = *is;
    stage->pipeline = pipeline;
    stage->before = &pipeline->queues[i];
    stage->nrunning = is->nthreads;
    stage->threads = calloc(is->nthreads, sizeof(*stage->threads));
    return stage->threads ? 0 : ENOMEM;
}

static int make_queue(struct ord_pipeline *pipeline, size_t capacity)
{
    int rc = ord_queue_init(&pipeline->queues[pipeline->nqueues], ORD_FIFO,
                            capacity);

    if (rc == 0)
        pipeline->nqueues++;
    return rc;
}

static int allocate(struct ord_pipeline *pipeline,
                    const struct ord_stage *stages, size_t capacity)
{
    size_t n = pipeline->nstages;
    int rc = 0;

    pipeline->stages = calloc(n, sizeof(*pipeline->stages));
    pipeline->queues = calloc(n + 1, sizeof(*pipeline->queues));
    if (!pipeline->stages || !pipeline->queues)
        return ENOMEM;
    for (size_t i = 0; i < n && rc == 0; i++) {
        rc = make_stage(pipeline, i, &stages[i]);
        if (rc == 0)
            rc = make_queue(pipeline, stages[i].capacity);
    }
    return rc ? rc : make_queue(pipeline, capacity);
}

static int start(struct stage *stage)
{
    for (; stage->nstarted < stage->is.nthreads; stage->nstarted++)
        if (pthread_create(&stage->threads[stage->nstarted], NULL, run,
                           stage) != 0)
            return EAGAIN;
    return 0;
}

/* Those that began end at once: nothing was put in yet. */
static int start_all(struct ord_pipeline *pipeline)
{
    int rc = 0;

    for (size_t i = 0; i < pipeline->nstages && rc == 0; i++)
        rc = start(&pipeline->stages[i]);
    if (rc != 0)
        ord_pipeline_stop(pipeline);
    return rc;
}

static bool is_valid(const struct ord_stage *stages, size_t nstages,
                     size_t capacity)
{
    if (nstages == 0 || capacity == 0)
        return false;
    for (size_t i = 0; i < nstages; i++)
        if (!stages[i].work || !stages[i].nthreads || !stages[i].capacity)
            return false;
    return true;
}

int ord_pipeline_create(struct ord_pipeline **pipeline,
                        const struct ord_stage *stages, size_t nstages,
                        size_t capacity, void (*discard)(void *item))
{
    struct ord_pipeline *made;
    int rc;

    if (!is_valid(stages, nstages, capacity))
        return EINVAL;
    made = calloc(1, sizeof(*made));
    if (!made)
        return ENOMEM;
    ord_mutex_init(&made->lock);
    made->nstages = nstages;
    made->discard = discard;
    rc = allocate(made, stages, capacity);
    if (rc == 0)
        rc = start_all(made);
    if (rc != 0)
        release(made);
    else
        *pipeline = made;
    return rc;
}

int ord_pipeline_put(struct ord_pipeline *pipeline, void *item, ord_ns deadline)
{
    return ord_queue_put(&pipeline->queues[0], item, deadline);
}

int ord_pipeline_get(struct ord_pipeline *pipeline, void **item,
                     ord_ns deadline)
{
    return ord_queue_get(last_queue(pipeline), item, deadline);
}

void ord_pipeline_close(struct ord_pipeline *pipeline)
{
    ord_queue_close(&pipeline->queues[0]);
}

/* All are closed before any is emptied, so that no stage waits for room; what a
 * stage still takes it cannot put on, and drops itself. */
size_t ord_pipeline_stop(struct ord_pipeline *pipeline)
{
    void *item;
    size_t n;

    for (size_t i = 0; i < pipeline->nqueues; i++)
        ord_queue_close(&pipeline->queues[i]);
    for (size_t i = 0; i < pipeline->nqueues; i++)
        while (ord_queue_poll(&pipeline->queues[i], &item) == 0)
            drop(pipeline, item);
    if (!pipeline->joined)
        join_threads(pipeline);
    ord_mutex_lock(&pipeline->lock);
    n = pipeline->ndropped;
    ord_mutex_unlock(&pipeline->lock);
    return n;
}

size_t ord_pipeline_nfailed(struct ord_pipeline *pipeline, int *first_error)
{
    size_t n;

    ord_mutex_lock(&pipeline->lock);
    n = pipeline->nfailed;
    *first_error = pipeline->first_error;
    ord_mutex_unlock(&pipeline->lock);
    return n;
}

static bool has_ended(struct ord_pipeline *pipeline)
{
    unsigned nrunning = 0;

    ord_mutex_lock(&pipeline->lock);
    for (size_t i = 0; i < pipeline->nstages; i++)
        nrunning += pipeline->stages[i].nrunning;
    ord_mutex_unlock(&pipeline->lock);
    return nrunning == 0 && ord_queue_depth(last_queue(pipeline)) == 0;
}

int ord_pipeline_destroy(struct ord_pipeline *pipeline)
{
    if (!has_ended(pipeline))
        return EBUSY;
    if (!pipeline->joined)
        join_threads(pipeline);
    release(pipeline);
    return 0;
}
