/* SPDX-License-Identifier: MIT
 * pool.c - a fixed number of workers over a bounded queue. */
#include "ord/pool.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "ord/queue.h"

struct worker {
    struct ord_pool *pool;
    pthread_t thread;
    struct ord_future *runs;      /* under the pool's lock, as the next two */
    struct ord_future *waits_for; /* one of this pool's */
    bool submits;                 /* to this pool, whose queue was full */
};

/* The pool's lock may be held when a future's or the queue's is taken, never
 * the other way round. */
struct ord_pool {
    struct ord_mutex lock;
    struct ord_queue queue; /* of futures */
    bool shut_down;         /* under the lock, as the next */
    bool ended;             /* the workers have been joined */
    unsigned nworkers;
    struct worker *workers;
};

/* The worker that this thread is, if it is one. */
static _Thread_local struct worker *this_worker;

static struct worker *worker_of(const struct ord_pool *pool)
{
    return this_worker && this_worker->pool == pool ? this_worker : NULL;
}

static bool is_settled(struct ord_future *future)
{
    int error;
    void *result;

    return ord_future_result(future, &error, &result) == 0;
}

/* Will this worker go on by itself? With the lock held, as the next three. */
static bool is_blocked(struct worker *worker)
{
    struct ord_queue *queue = &worker->pool->queue;

    if (worker->submits)
        return ord_queue_depth(queue) == queue->items.capacity;
    return worker->waits_for && !is_settled(worker->waits_for);
}

static bool all_blocked(const struct ord_pool *pool)
{
    for (unsigned i = 0; i < pool->nworkers; i++)
        if (!is_blocked(&pool->workers[i]))
            return false;
    return true;
}

static struct worker *runner_of(const struct ord_pool *pool,
                                const struct ord_future *future)
{
    for (unsigned i = 0; i < pool->nworkers; i++)
        if (pool->workers[i].runs == future)
            return &pool->workers[i];
    return NULL;
}

/* Follows who waits for whom; no ring is longer than there are workers. */
static bool waits_for_itself(const struct ord_pool *pool,
                             const struct worker *worker)
{
    const struct worker *next = worker;

    for (unsigned i = 0; i < pool->nworkers; i++) {
        if (!next->waits_for || is_settled(next->waits_for))
            return false;
        next = runner_of(pool, next->waits_for);
        if (!next || next == worker)
            return next == worker;
    }
    return false;
}

static int before_wait(void *self, struct ord_future *future)
{
    struct ord_pool *pool = self;
    struct worker *worker = worker_of(pool);
    int rc = 0;

    if (!worker)
        return 0;
    ord_mutex_lock(&pool->lock);
    worker->waits_for = future;
    if (all_blocked(pool) || waits_for_itself(pool, worker)) {
        worker->waits_for = NULL;
        rc = EDEADLK;
    }
    ord_mutex_unlock(&pool->lock);
    return rc;
}

static void after_wait(void *self)
{
    struct ord_pool *pool = self;
    struct worker *worker = worker_of(pool);

    if (!worker)
        return;
    ord_mutex_lock(&pool->lock);
    worker->waits_for = NULL;
    ord_mutex_unlock(&pool->lock);
}

static int withdraw(void *self, struct ord_future *future)
{
    struct ord_pool *pool = self;

    return ord_queue_remove(&pool->queue, future);
}

static const struct ord_executor executor = { withdraw, before_wait,
                                              after_wait };

/* Returns what the worker ran before: a task that helps runs another inside. */
static struct ord_future *set_runs(struct worker *worker,
                                   struct ord_future *future)
{
    struct ord_future *before;

    ord_mutex_lock(&worker->pool->lock);
    before = worker->runs;
    worker->runs = future;
    ord_mutex_unlock(&worker->pool->lock);
    return before;
}

static void run_task(struct worker *worker, struct ord_future *future)
{
    struct ord_future *before;
    void *result = NULL;
    int error;

    ord_future_begin(future);
    before = set_runs(worker, future);
    error = future->task(future->arg, &result);
    set_runs(worker, before);
    ord_future_finish(future, error, result);
    ord_queue_task_done(&worker->pool->queue);
}

static void *work(void *arg)
{
    struct worker *worker = arg;
    struct ord_queue *queue = &worker->pool->queue;
    void *future;

    this_worker = worker;
    while (ord_queue_get(queue, &future, ORD_NEVER) == 0)
        run_task(worker, future);
    return NULL;
}

int ord_pool_help(struct ord_pool *pool)
{
    struct worker *worker = worker_of(pool);
    void *future;
    int rc;

    if (!worker)
        return EINVAL;
    rc = ord_queue_poll(&pool->queue, &future);
    if (rc == 0)
        run_task(worker, future);
    return rc;
}

static void join_workers(struct ord_pool *pool)
{
    for (unsigned i = 0; i < pool->nworkers; i++)
        pthread_join(pool->workers[i].thread, NULL);
}

static void release(struct ord_pool *pool)
{
    ord_queue_destroy(&pool->queue);
    ord_mutex_destroy(&pool->lock);
    free(pool->workers);
    free(pool);
}

/* nworkers counts those that run, of which is_blocked() and its like know; no
 * task comes before all do. */
static int start_workers(struct ord_pool *pool, unsigned nworkers)
{
    for (; pool->nworkers < nworkers; pool->nworkers++) {
        struct worker *worker = &pool->workers[pool->nworkers];

        worker->pool = pool;
        if (pthread_create(&worker->thread, NULL, work, worker) != 0) {
            ord_queue_close(&pool->queue);
            join_workers(pool);
            return EAGAIN;
        }
    }
    return 0;
}

static int allocate(struct ord_pool *pool, unsigned nworkers, size_t capacity)
{
    int rc;

    pool->workers = calloc(nworkers, sizeof(*pool->workers));
    if (!pool->workers)
        return ENOMEM;
    rc = ord_queue_init(&pool->queue, ORD_FIFO, capacity);
    if (rc != 0)
        free(pool->workers);
    return rc;
}

int ord_pool_create(struct ord_pool **pool, unsigned nworkers, size_t capacity)
{
    struct ord_pool *made;
    int rc;

    if (nworkers == 0 || capacity == 0)
        return EINVAL;
    made = calloc(1, sizeof(*made));
    if (!made)
        return ENOMEM;
    rc = allocate(made, nworkers, capacity);
    if (rc != 0) {
        free(made);
        return rc;
    }
    ord_mutex_init(&made->lock);
    rc = start_workers(made, nworkers);
    if (rc != 0) {
        release(made);
        return rc;
    }
    *pool = made;
    return 0;
}

int ord_pool_destroy(struct ord_pool *pool)
{
    bool ended;

    ord_mutex_lock(&pool->lock);
    ended = pool->ended;
    ord_mutex_unlock(&pool->lock);
    if (!ended)
        return EBUSY;
    release(pool);
    return 0;
}

/* A worker that would wait in its own pool's queue: EDEADLK, or 0 and it is
 * marked. */
static int begin_submit(struct ord_pool *pool, struct worker *worker)
{
    int rc = 0;

    ord_mutex_lock(&pool->lock);
    worker->submits = true;
    if (all_blocked(pool)) {
        worker->submits = false;
        rc = EDEADLK;
    }
    ord_mutex_unlock(&pool->lock);
    return rc;
}

static void end_submit(struct ord_pool *pool, struct worker *worker)
{
    ord_mutex_lock(&pool->lock);
    worker->submits = false;
    ord_mutex_unlock(&pool->lock);
}

static int put_as_worker(struct ord_pool *pool, struct worker *worker,
                         struct ord_future *future, ord_ns deadline)
{
    int rc = ord_queue_offer(&pool->queue, future);

    if (rc != EAGAIN)
        return rc;
    rc = begin_submit(pool, worker);
    if (rc != 0)
        return rc;
    rc = ord_queue_put(&pool->queue, future, deadline);
    end_submit(pool, worker);
    return rc;
}

int ord_pool_submit(struct ord_pool *pool, struct ord_future *future,
                    ord_task task, void *arg, ord_ns deadline)
{
    struct worker *worker = worker_of(pool);
    int rc = ord_future_queue(future, &executor, pool, task, arg);

    if (rc != 0)
        return rc;
    rc = worker ? put_as_worker(pool, worker, future, deadline)
                : ord_queue_put(&pool->queue, future, deadline);
    if (rc != 0)
        ord_future_unqueue(future);
    return rc;
}

int ord_pool_offer(struct ord_pool *pool, struct ord_future *future,
                   ord_task task, void *arg)
{
    int rc = ord_future_queue(future, &executor, pool, task, arg);

    if (rc != 0)
        return rc;
    rc = ord_queue_offer(&pool->queue, future);
    if (rc != 0)
        ord_future_unqueue(future);
    return rc;
}

static size_t drop_queued(struct ord_pool *pool)
{
    void *future;
    size_t n = 0;

    while (ord_queue_poll(&pool->queue, &future) == 0) {
        ord_future_finish(future, ECANCELED, NULL);
        ord_queue_task_done(&pool->queue);
        n++;
    }
    return n;
}

int ord_pool_shutdown(struct ord_pool *pool, enum ord_shutdown how, size_t *n)
{
    bool again;

    if (how != ORD_DRAIN && how != ORD_DROP)
        return EINVAL;
    if (worker_of(pool))
        return EDEADLK;
    ord_mutex_lock(&pool->lock);
    again = pool->shut_down;
    pool->shut_down = true;
    ord_mutex_unlock(&pool->lock);
    if (again)
        return EPIPE;

    *n = ord_queue_close(&pool->queue);
    if (how == ORD_DROP)
        *n = drop_queued(pool);
    join_workers(pool);
    ord_mutex_lock(&pool->lock);
    pool->ended = true;
    ord_mutex_unlock(&pool->lock);
    return 0;
}

unsigned ord_pool_nworkers(const struct ord_pool *pool)
{
    return pool->nworkers;
}
