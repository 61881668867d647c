// SPDX-License-Identifier: MIT
/*
 * locks.c - nanoseconds a lock/unlock pair takes, in one mode a process.
 *
 *     locks MODE     prints one number, and "busy" behind it if the machine
 *                    was, so that the number is no better than a guess
 *
 * one             one lock
 * nested2,4,8     that many locks, taken in a loop and released in reverse
 * calls4          four locks, each taken by a function that calls the next
 * private-N       two threads, each with its own lock, N bytes apart
 * contended0      two threads, one lock, nothing done while it is held
 * contended500    the same with 500 ns of work while it is held; the time of
 *                 that work is part of the number
 * many            10 000 locks on pages of their own, taken in random order,
 *                 each while its predecessor is held
 * free            no lock: a malloc and a free of 64 bytes
 * free-beside     the same while a lock is held, in a page with locks
 * startup         does nothing; its run time is that of a process
 *
 * BENCH_MS is the time to spend (150). It is cut into rounds, of which the best
 * counts, as noise only adds. Not so where two threads disturb each other: a
 * round in which something else kept one of them from running would be the
 * best. Such rounds are repeated, and for one lock the median counts.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#include "alone.h"
#include "bench.h"

#define NROUNDS 31 /* short ones: a busy machine leaves only short gaps */
#define NTHREADS 2
#define NMANY 10000
#define MANY_STRIDE (4096 + 64)
#define WORK_NS 500
#define WAKE_NS 4000

static pthread_mutex_t nest[8] = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
};
static uint64_t budget_ns = 150000000;

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* One thread. */

static void loop_one(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        pthread_mutex_lock(&nest[0]);
        pthread_mutex_unlock(&nest[0]);
    }
}

static inline void loop_nested(size_t n, int depth)
{
    for (size_t i = 0; i < n; i++) {
        for (int d = 0; d < depth; d++)
            pthread_mutex_lock(&nest[d]);
        for (int d = depth; d-- > 0;)
            pthread_mutex_unlock(&nest[d]);
    }
}

/* Volatile, so that the compiler leaves the inner loops loops. */
static volatile int depths[] = { 2, 4, 8 };

static void loop_nested2(size_t n)
{
    loop_nested(n, depths[0]);
}
static void loop_nested4(size_t n)
{
    loop_nested(n, depths[1]);
}
static void loop_nested8(size_t n)
{
    loop_nested(n, depths[2]);
}

static __attribute__((noinline)) void call3(void)
{
    pthread_mutex_lock(&nest[3]);
    pthread_mutex_unlock(&nest[3]);
}

static __attribute__((noinline)) void call2(void)
{
    pthread_mutex_lock(&nest[2]);
    call3();
    pthread_mutex_unlock(&nest[2]);
}

static __attribute__((noinline)) void call1(void)
{
    pthread_mutex_lock(&nest[1]);
    call2();
    pthread_mutex_unlock(&nest[1]);
}

static void loop_calls4(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        pthread_mutex_lock(&nest[0]);
        call1();
        pthread_mutex_unlock(&nest[0]);
    }
}

static void loop_free(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        void *block = malloc(64);

        __asm__ volatile("" ::"r"(block) : "memory");
        free(block);
    }
}

/* Locks lie around the block that is given out again and again. */
static void loop_free_beside(size_t n)
{
    static pthread_mutex_t *around[100];

    for (size_t i = 0; i < 100 && !around[99]; i++) {
        around[i] = malloc(64);
        pthread_mutex_init(around[i], NULL);
    }
    pthread_mutex_lock(&nest[0]);
    loop_free(n);
    pthread_mutex_unlock(&nest[0]);
}

static char *many_memory;
static uint32_t *many_order;

static pthread_mutex_t *many_lock(size_t i)
{
    return (pthread_mutex_t *)(many_memory +
                               many_order[i] * (size_t)MANY_STRIDE);
}

static void make_many(void)
{
    uint64_t seed = 1;

    many_memory = bench_alloc(4096, (size_t)NMANY * MANY_STRIDE);
    many_order = bench_alloc(64, NMANY * sizeof(*many_order));
    bench_shuffle(many_order, NMANY, &seed);
    for (size_t i = 0; i < NMANY; i++)
        bench_check(pthread_mutex_init(many_lock(i), NULL), "init");
}

/* Goes on where the last call ended, so that short rounds reach all locks. */
static void loop_many(size_t n)
{
    static size_t at;

    if (!many_memory)
        make_many();
    for (size_t i = 0; i < n; i++) {
        pthread_mutex_lock(many_lock(at));
        pthread_mutex_lock(many_lock(at + 1));
        pthread_mutex_unlock(many_lock(at + 1));
        pthread_mutex_unlock(many_lock(at));
        at = at + 2 < NMANY ? at + 1 : 0;
    }
}

/* Two threads, each pinned to a CPU so that they do run side by side. */

struct worker {
    pthread_t thread;
    pthread_mutex_t *lock;
    unsigned index, work;
    int schedstat;
    double rate;      /* pairs a nanosecond in the last round */
    uint64_t wait_ns; /* in it, ready to run but without a processor */
} __attribute__((aligned(4096)));

static struct worker workers[NTHREADS];
static bool busy; /* no round was undisturbed; the main thread's */
/*
 * The round that runs, the last one to stop, and how many threads have ever
 * begun and ended one. Release increments pair with acquire loads: a worker's
 * rate is written before it counts itself in nended.
 */
static _Alignas(4096) atomic_uint round_now;
static _Alignas(4096) atomic_uint round_stop;
static _Alignas(4096) atomic_uint nbegun;
static _Alignas(4096) atomic_uint nended;

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

static void work(unsigned nsteps)
{
    uint64_t x = nsteps;

    for (unsigned i = 0; i < nsteps; i++) {
        x = x * 6364136223846793005u + 1;
        __asm__ volatile("" : "+r"(x));
    }
}

/* How many steps of work() take WORK_NS. */
static unsigned calibrate_work(void)
{
    double best = 0;

    for (int i = 0; i < 20; i++) {
        uint64_t start_ns = bench_now_ns();

        work(10000);
        double ns = (double)(bench_now_ns() - start_ns);
        if (i == 0 || ns < best)
            best = ns;
    }
    return (unsigned)(WORK_NS * 10000 / best);
}

/* The stop flag is looked at between steps, so a short step repeats itself. */
static __attribute__((noinline)) size_t step(pthread_mutex_t *lock)
{
    for (int i = 0; i < 16; i++) {
        pthread_mutex_lock(lock);
        pthread_mutex_unlock(lock);
    }
    return 16;
}

static __attribute__((noinline)) size_t work_step(pthread_mutex_t *lock,
                                                  unsigned nsteps)
{
    pthread_mutex_lock(lock);
    work(nsteps);
    pthread_mutex_unlock(lock);
    return 1;
}

/*
 * For how long the calling thread was ready without a processor, less what a
 * wake-up takes on an idle one (1 to 4 us measured): where two threads fight
 * for a lock they wake each other all the time. 0 if unknown.
 */
static int64_t waited_ns(struct worker *w)
{
    char text[128];
    ssize_t n = pread(w->schedstat, text, sizeof(text) - 1, 0);
    long long wait_ns, nslices;

    text[n > 0 ? n : 0] = 0;
    if (sscanf(text, "%*d %lld %lld", &wait_ns, &nslices) != 2)
        return 0;
    return wait_ns - nslices * WAKE_NS;
}

static bool below(atomic_uint *count, unsigned n)
{
    return atomic_load_explicit(count, memory_order_acquire) < n;
}

/* The threads begin together, else one has the lock for itself for a while. */
static void run_round(struct worker *w, unsigned number)
{
    int64_t wait_ns = waited_ns(w);

    atomic_fetch_add_explicit(&nbegun, 1, memory_order_release);
    for (unsigned i = 1; below(&nbegun, number * NTHREADS); i++)
        if (i % 4096 == 0)
            sched_yield();
    uint64_t start_ns = bench_now_ns();
    size_t n = 0;

    while (atomic_load_explicit(&round_stop, memory_order_relaxed) < number)
        n += w->work ? work_step(w->lock, w->work) : step(w->lock);
    w->rate = (double)n / (double)(bench_now_ns() - start_ns);
    wait_ns = waited_ns(w) - wait_ns;
    w->wait_ns = wait_ns > 0 ? (uint64_t)wait_ns : 0;
}

static void *run_worker(void *arg)
{
    struct worker *w = arg;

    pin(w->index);
    w->schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    for (unsigned seen = 0;;) {
        unsigned number =
            atomic_load_explicit(&round_now, memory_order_acquire);

        if (number == UINT32_MAX)
            return NULL;
        if (number == seen) {
            sched_yield();
            continue;
        }
        seen = number;
        run_round(w, number);
        atomic_fetch_add_explicit(&nended, 1, memory_order_release);
    }
}

/*
 * Runs a round. Returns the nanoseconds a pair takes, those of both threads
 * counted together; wait_ns receives how long they had no processor.
 */
static double time_round(unsigned number, uint64_t length_ns, uint64_t *wait_ns)
{
    const struct timespec length = { .tv_nsec = (long)length_ns };
    const struct timespec pause = { .tv_nsec = 50000 };
    double rate = 0;

    atomic_store_explicit(&round_now, number, memory_order_release);
    /* This thread sleeps, as the processors are for the other two. */
    while (below(&nbegun, number * NTHREADS))
        nanosleep(&pause, NULL);
    nanosleep(&length, NULL);
    atomic_store_explicit(&round_stop, number, memory_order_relaxed);
    while (below(&nended, number * NTHREADS))
        nanosleep(&pause, NULL);
    *wait_ns = 0;
    for (int i = 0; i < NTHREADS; i++) {
        rate += workers[i].rate;
        *wait_ns += workers[i].wait_ns;
    }
    return 1 / rate;
}

static void start_worker(unsigned i, pthread_mutex_t *lock, unsigned nsteps)
{
    struct worker *w = &workers[i];

    w->lock = lock;
    w->work = nsteps;
    w->index = i;
    bench_check(pthread_create(&w->thread, NULL, run_worker, w), "thread");
}

/*
 * Fills ns with rounds in which both threads ran, and the least disturbed one
 * if there is none such. Returns their number.
 */
static int run_rounds(double *ns)
{
    uint64_t round_ns = budget_ns / (NROUNDS + 1), wait_ns, least_ns;
    uint64_t end_ns = bench_now_ns() + 4 * budget_ns;
    unsigned number = 1;
    int n = 0;

    time_round(number++, round_ns, &least_ns); /* the warm-up */
    least_ns = UINT64_MAX;
    while (n < NROUNDS && (number < 4 || bench_now_ns() < end_ns)) {
        double value = time_round(number++, round_ns, &wait_ns);

        if (wait_ns <= round_ns / 20)
            ns[n++] = value;
        else if (n == 0 && wait_ns < least_ns)
            ns[0] = value;
        least_ns = wait_ns < least_ns ? wait_ns : least_ns;
    }
    busy = n == 0;
    return n ? n : 1;
}

/* Two threads, locks stride apart or one lock if that is 0; ns gets sorted. */
static int measure_two(size_t stride, unsigned nsteps, double *ns)
{
    char *memory = bench_alloc(4096, stride + sizeof(pthread_mutex_t));
    pthread_mutex_t *first = (pthread_mutex_t *)memory;
    pthread_mutex_t *second = (pthread_mutex_t *)(memory + stride);

    bench_check(pthread_mutex_init(first, NULL), "init");
    if (stride)
        bench_check(pthread_mutex_init(second, NULL), "init");
    /* LLVM's dyndd crashes when two threads take the first two locks at once */
    step(first);
    start_worker(0, first, nsteps);
    start_worker(1, second, nsteps);
    int n = run_rounds(ns);
    atomic_store_explicit(&round_now, UINT32_MAX, memory_order_release);
    for (int i = 0; i < NTHREADS; i++)
        bench_check(pthread_join(workers[i].thread, NULL), "join");
    qsort(ns, (size_t)n, sizeof(*ns), compare);
    free(memory);
    return n;
}

/* What one thread sees: both make progress at once. */
static double measure_private(size_t stride)
{
    double ns[NROUNDS];

    measure_two(stride, 0, ns);
    return NTHREADS * ns[0];
}

/* What the lock lets through, whoever takes it. */
static double measure_contended(unsigned nsteps)
{
    double ns[NROUNDS];
    int nrounds = measure_two(0, nsteps, ns);

    return ns[nrounds / 2];
}

static const struct mode {
    const char *name;
    loop_fn *loop;
    size_t first;    /* iterations that reach everything once */
    unsigned npairs; /* lock/unlock pairs in one iteration */
} modes[] = {
    { "one", loop_one, 1000, 1 },
    { "nested2", loop_nested2, 1000, 2 },
    { "nested4", loop_nested4, 1000, 4 },
    { "nested8", loop_nested8, 1000, 8 },
    { "calls4", loop_calls4, 1000, 4 },
    { "many", loop_many, NMANY - 1, 2 },
    { "free", loop_free, 1000, 1 },
    { "free-beside", loop_free_beside, 1000, 1 },
};

static double measure(const char *name)
{
    for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
        const struct mode *m = &modes[i];

        if (!strcmp(name, m->name))
            return measure_alone(m->loop, m->first, (double)budget_ns) /
                   m->npairs;
    }
    if (!strncmp(name, "private-", 8))
        return measure_private(
            bench_number(name + 8, sizeof(pthread_mutex_t), 1 << 20) & ~7ul);
    if (!strcmp(name, "contended0"))
        return measure_contended(0);
    if (!strcmp(name, "contended500"))
        return measure_contended(calibrate_work());
    fprintf(stderr, "locks: no mode %s\n", name);
    exit(2);
}

int main(int argc, char **argv)
{
    const char *ms = getenv("BENCH_MS");

    if (argc != 2) {
        fprintf(stderr, "usage: locks MODE\n");
        return 2;
    }
    if (!strcmp(argv[1], "startup"))
        return 0;
    if (ms)
        budget_ns = bench_number(ms, 1, 7000) * 1000000;
    double ns = measure(argv[1]);
    printf("%.3f%s\n", ns, busy ? " busy" : "");
    return 0;
}
