// SPDX-License-Identifier: MIT
/*
 * ord.c - nanoseconds an operation of libord takes, or of what one would write
 * with pthreads in its place, in one mode a process.
 *
 *     ord MODE plain|ord     prints one number
 *
 * mutex            lock and unlock, uncontended; plain is an errorcheck mutex,
 *                  so that both sides know their holder
 * rwlock           read lock and unlock, uncontended; plain prefers writers
 *                  (PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP)
 * queue            an item through a queue of 64, from one producer to one
 *                  consumer; plain is a ring, a mutex and two conditions
 * pool             a task that adds one, submitted and waited for, 64 at a
 *                  time, by two workers; plain is the ring above, and a mutex,
 *                  a condition and a flag in each task
 * counter-sharded  an add by two threads at once, those of both counted; plain
 * counter-locked   is a mutex and an int64_t
 *
 * But for the mutex mode, plain mutexes are of the default type and check
 * nothing.
 *
 * BENCH_MS is the time to spend (150). It is cut into rounds, of which the best
 * counts, as noise only adds. Of the queue's and the counters' rounds the
 * median does: the best would be one in which the threads did not meet. Threads
 * are made and joined in each round, which is about a hundredth of it, and the
 * same on both sides.
 */
#include <ord/base.h>
#include <ord/counter.h>
#include <ord/pool.h>
#include <ord/queue.h>
#include <ord/rwlock.h>
#include <sched.h>
#include <stdbool.h>

#include "bench.h"

#define NROUNDS 64 /* at most */
#define NTHREADS 2
#define CAPACITY 64
#define NTASKS CAPACITY /* in flight */

static uint64_t budget_ns = 150000000;

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* What was measured must have been done. */
static void expect(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "ord: wrong result: %s\n", what);
    exit(1);
}

static void pin(unsigned index)
{
    cpu_set_t all, mine;

    if (sched_getaffinity(0, sizeof(all), &all) || CPU_COUNT(&all) < NTHREADS)
        return;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &all) || index-- > 0)
            continue;
        CPU_ZERO(&mine);
        CPU_SET(cpu, &mine);
        sched_setaffinity(0, sizeof(mine), &mine);
        return;
    }
}

/*
 * Two new threads, each on a CPU of its own, call their function with the same
 * argument. They inherit the affinity of this thread, which stays as it is.
 */

struct worker {
    pthread_t thread;
    void (*fn)(size_t n);
    size_t n;
    unsigned index;
};

static void *run_worker(void *arg)
{
    struct worker *w = arg;

    pin(w->index);
    w->fn(w->n);
    return NULL;
}

static void run_two(void (*first)(size_t n), void (*second)(size_t n), size_t n)
{
    struct worker workers[NTHREADS] = {
        { .fn = first, .n = n, .index = 0 },
        { .fn = second, .n = n, .index = 1 },
    };

    for (int i = 0; i < NTHREADS; i++)
        bench_check(
            pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]),
            "thread");
    for (int i = 0; i < NTHREADS; i++)
        bench_check(pthread_join(workers[i].thread, NULL), "join");
}

/* A loop does n times what it measures. */

typedef void loop_fn(size_t n);

static void mutex_plain(size_t n)
{
    static pthread_mutex_t lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

    for (size_t i = 0; i < n; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
}

static void mutex_ord(size_t n)
{
    static struct ord_mutex lock = ORD_MUTEX_INIT;

    for (size_t i = 0; i < n; i++) {
        ord_mutex_lock(&lock);
        ord_mutex_unlock(&lock);
    }
}

static void rwlock_plain(size_t n)
{
    static pthread_rwlock_t lock =
        PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

    for (size_t i = 0; i < n; i++) {
        pthread_rwlock_rdlock(&lock);
        pthread_rwlock_unlock(&lock);
    }
}

static void rwlock_ord(size_t n)
{
    static struct ord_rwlock lock = ORD_RWLOCK_INIT;
    struct ord_rw_hold hold = ORD_RW_HOLD_INIT;

    for (size_t i = 0; i < n; i++) {
        ord_rwlock_read(&lock, &hold);
        ord_rwlock_unlock(&lock, &hold);
    }
}

/* The bounded queue as it is written by hand. */

static struct ring {
    pthread_mutex_t lock; /* protects the rest */
    pthread_cond_t not_full;
    pthread_cond_t not_empty;
    void *slots[CAPACITY];
    size_t head;
    size_t nitems;
} ring = { .lock = PTHREAD_MUTEX_INITIALIZER,
           .not_full = PTHREAD_COND_INITIALIZER,
           .not_empty = PTHREAD_COND_INITIALIZER };

static void ring_put(void *item)
{
    pthread_mutex_lock(&ring.lock);
    while (ring.nitems == CAPACITY)
        pthread_cond_wait(&ring.not_full, &ring.lock);
    ring.slots[(ring.head + ring.nitems++) % CAPACITY] = item;
    pthread_cond_signal(&ring.not_empty);
    pthread_mutex_unlock(&ring.lock);
}

static void *ring_get(void)
{
    pthread_mutex_lock(&ring.lock);
    while (ring.nitems == 0)
        pthread_cond_wait(&ring.not_empty, &ring.lock);
    void *item = ring.slots[ring.head];
    ring.head = (ring.head + 1) % CAPACITY;
    ring.nitems--;
    pthread_cond_signal(&ring.not_full);
    pthread_mutex_unlock(&ring.lock);
    return item;
}

static char items[CAPACITY];

static void ring_produce(size_t n)
{
    for (size_t i = 0; i < n; i++)
        ring_put(&items[i % CAPACITY]);
}

static void ring_consume(size_t n)
{
    for (size_t i = 0; i < n; i++)
        expect(ring_get() == &items[i % CAPACITY], "queue plain");
}

static void queue_plain(size_t n)
{
    run_two(ring_produce, ring_consume, n);
}

static struct ord_queue queue;

static void queue_produce(size_t n)
{
    for (size_t i = 0; i < n; i++)
        bench_check(ord_queue_put(&queue, &items[i % CAPACITY], ORD_NEVER),
                    "put");
}

static void queue_consume(size_t n)
{
    void *item;

    for (size_t i = 0; i < n; i++) {
        bench_check(ord_queue_get(&queue, &item, ORD_NEVER), "get");
        expect(item == &items[i % CAPACITY], "queue ord");
    }
}

static void queue_ord(size_t n)
{
    bench_check(ord_queue_init(&queue, ORD_FIFO, CAPACITY), "queue");
    run_two(queue_produce, queue_consume, n);
    bench_check(ord_queue_destroy(&queue), "queue");
}

/* The pools. A task is made, submitted, waited for and destroyed. */

static int add_one(void *arg, void **result)
{
    ++*(int *)arg;
    *result = NULL;
    return 0;
}

struct plain_task {
    pthread_mutex_t lock; /* protects done and error */
    pthread_cond_t cond;
    bool done;
    int error;
    ord_task fn;
    void *arg;
    void *result;
};

static void *plain_worker(void *arg)
{
    struct plain_task *task;

    while ((task = ring_get())) {
        int error = task->fn(task->arg, &task->result);

        pthread_mutex_lock(&task->lock);
        task->error = error;
        task->done = true;
        pthread_cond_signal(&task->cond);
        pthread_mutex_unlock(&task->lock);
    }
    return arg;
}

static void plain_wait(struct plain_task *task)
{
    pthread_mutex_lock(&task->lock);
    while (!task->done)
        pthread_cond_wait(&task->cond, &task->lock);
    pthread_mutex_unlock(&task->lock);
    pthread_mutex_destroy(&task->lock);
    pthread_cond_destroy(&task->cond);
}

/* n is a multiple of NTASKS. */
static void pool_plain(size_t n)
{
    static struct plain_task tasks[NTASKS];
    pthread_t threads[NTHREADS];
    int sums[NTASKS] = { 0 };

    for (int i = 0; i < NTHREADS; i++)
        bench_check(pthread_create(&threads[i], NULL, plain_worker, NULL),
                    "thread");
    for (size_t i = 0; i < n; i += NTASKS) {
        for (size_t t = 0; t < NTASKS; t++) {
            tasks[t] = (struct plain_task){ .lock = PTHREAD_MUTEX_INITIALIZER,
                                            .cond = PTHREAD_COND_INITIALIZER,
                                            .fn = add_one,
                                            .arg = &sums[t] };
            ring_put(&tasks[t]);
        }
        for (size_t t = 0; t < NTASKS; t++)
            plain_wait(&tasks[t]);
    }
    for (int i = 0; i < NTHREADS; i++)
        ring_put(NULL);
    for (int i = 0; i < NTHREADS; i++)
        bench_check(pthread_join(threads[i], NULL), "join");
    expect((size_t)sums[0] == n / NTASKS, "pool plain");
}

static void pool_ord(size_t n)
{
    static struct ord_future futures[NTASKS];
    struct ord_pool *pool;
    int sums[NTASKS] = { 0 };
    size_t nleft;

    bench_check(ord_pool_create(&pool, NTHREADS, CAPACITY), "pool");
    for (size_t i = 0; i < n; i += NTASKS) {
        for (size_t t = 0; t < NTASKS; t++) {
            ord_future_init(&futures[t]);
            bench_check(ord_pool_submit(pool, &futures[t], add_one, &sums[t],
                                        ORD_NEVER),
                        "submit");
        }
        for (size_t t = 0; t < NTASKS; t++) {
            bench_check(ord_future_wait(&futures[t], ORD_NEVER), "wait");
            bench_check(ord_future_destroy(&futures[t]), "future");
        }
    }
    bench_check(ord_pool_shutdown(pool, ORD_DRAIN, &nleft), "shutdown");
    bench_check(ord_pool_destroy(pool), "pool");
    expect((size_t)sums[0] == n / NTASKS, "pool ord");
}

/* The counters: each of two threads does half of the adds. */

static _Alignas(64) struct {
    pthread_mutex_t lock;
    int64_t value; /* under the lock */
} counter = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void counter_add(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        pthread_mutex_lock(&counter.lock);
        counter.value++;
        pthread_mutex_unlock(&counter.lock);
    }
}

static void counter_plain(size_t n)
{
    counter.value = 0;
    run_two(counter_add, counter_add, n / NTHREADS);
    expect((size_t)counter.value == n, "counter plain");
}

static _Alignas(64) struct ord_counter_locked locked;

static void locked_add(size_t n)
{
    for (size_t i = 0; i < n; i++)
        ord_counter_locked_add(&locked, 1);
}

static void locked_ord(size_t n)
{
    ord_counter_locked_init(&locked);
    run_two(locked_add, locked_add, n / NTHREADS);
    expect((size_t)ord_counter_locked_read(&locked) == n, "counter-locked");
    bench_check(ord_counter_locked_destroy(&locked), "counter-locked");
}

static _Alignas(64) struct ord_counter_sharded sharded;

static void sharded_add(size_t n)
{
    for (size_t i = 0; i < n; i++)
        ord_counter_sharded_add(&sharded, 1);
}

static void sharded_ord(size_t n)
{
    ord_counter_sharded_init(&sharded);
    run_two(sharded_add, sharded_add, n / NTHREADS);
    expect((size_t)ord_counter_sharded_read(&sharded) == n, "counter-sharded");
}

static double time_loop(loop_fn *loop, size_t n)
{
    uint64_t start_ns = bench_now_ns();

    loop(n);
    return (double)(bench_now_ns() - start_ns);
}

/* The first call is the warm-up. Then the length of a round is found. */
static double measure(loop_fn *loop, bool median)
{
    uint64_t end_ns = bench_now_ns() + budget_ns;
    double round_ns = (double)budget_ns / 16, ns[NROUNDS];
    size_t n = 1024; /* a multiple of NTASKS and of NTHREADS */
    int nrounds = 1;

    loop(n);
    while ((ns[0] = time_loop(loop, n)) < round_ns / 2)
        n *= 2;
    while (nrounds < NROUNDS && bench_now_ns() < end_ns)
        ns[nrounds++] = time_loop(loop, n);
    qsort(ns, (size_t)nrounds, sizeof(*ns), compare);
    return ns[median ? nrounds / 2 : 0] / (double)n;
}

static const struct mode {
    const char *name;
    loop_fn *plain, *ord;
    bool median;
} modes[] = {
    { "mutex", mutex_plain, mutex_ord, false },
    { "rwlock", rwlock_plain, rwlock_ord, false },
    { "queue", queue_plain, queue_ord, true },
    { "pool", pool_plain, pool_ord, false },
    { "counter-sharded", counter_plain, sharded_ord, true },
    { "counter-locked", counter_plain, locked_ord, true },
};

int main(int argc, char **argv)
{
    const char *ms = getenv("BENCH_MS");

    if (argc != 3 || (strcmp(argv[2], "plain") && strcmp(argv[2], "ord"))) {
        fprintf(stderr, "usage: ord MODE plain|ord\n");
        return 2;
    }
    if (ms)
        budget_ns = bench_number(ms, 1, 7000) * 1000000;
    for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
        const struct mode *m = &modes[i];

        if (strcmp(argv[1], m->name))
            continue;
        printf("%.3f\n",
               measure(*argv[2] == 'p' ? m->plain : m->ord, m->median));
        return 0;
    }
    fprintf(stderr, "ord: no mode %s\n", argv[1]);
    return 2;
}
