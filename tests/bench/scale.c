// SPDX-License-Identifier: MIT
/*
 * scale.c - what many locks, many order edges or a long ring cost a detector.
 *
 *     scale locks N      N locks, each taken once while another is held
 *     scale edges L E    E distinct orders among L locks, without a ring
 *     scale ring N       N threads and N locks in one ring, without a deadlock
 *
 * Prints lines of name, value and unit. The memory is growth since the
 * program's own was in place: what it is under a detector, less what it is
 * alone, is the detector's.
 */
#include <pthread.h>

#include "bench.h"

static void init_locks(pthread_mutex_t *locks, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bench_check(pthread_mutex_init(&locks[i], NULL), "init");
}

static __attribute__((noinline)) void take_both(pthread_mutex_t *outer,
                                                pthread_mutex_t *inner)
{
    pthread_mutex_lock(outer);
    pthread_mutex_lock(inner);
    pthread_mutex_unlock(inner);
    pthread_mutex_unlock(outer);
}

/* Lock i is taken under lock i - i % 1000: a thousand locks to an outer one. */
static void measure_locks(size_t n)
{
    pthread_mutex_t *locks = bench_alloc(64, n * sizeof(*locks));
    size_t rss_bytes = bench_rss_bytes();
    uint64_t start_ns = bench_now_ns();

    init_locks(locks, n);
    for (size_t i = 0; i < n; i++)
        if (i % 1000)
            take_both(&locks[i - i % 1000], &locks[i]);
    uint64_t ns = bench_now_ns() - start_ns;
    printf("time %.1f ns\n", (double)ns / (double)n);
    printf("memory %zu bytes\n", bench_rss_bytes() - rss_bytes);
}

struct edge {
    uint32_t from, to;
};

/* Adds key, never 0, to a table of size words; false if it was there. */
static int insert(uint64_t *table, size_t size, uint64_t key)
{
    uint64_t state = key;
    size_t i = bench_random(&state) & (size - 1);

    for (; table[i]; i = (i + 1) & (size - 1))
        if (table[i] == key)
            return 0;
    table[i] = key;
    return 1;
}

/*
 * The ranks of the locks are a random permutation and every edge goes up in
 * rank, so that there is no ring, yet neither the order of addresses nor that
 * of creation says which way an edge goes.
 */
static struct edge *make_edges(uint32_t nlocks, size_t nedges)
{
    struct edge *edges = bench_alloc(64, nedges * sizeof(*edges));
    uint32_t *order = bench_alloc(64, nlocks * sizeof(*order));
    size_t size = 1024;
    uint64_t seed = 1;

    while (size < 2 * nedges)
        size *= 2;
    uint64_t *known = bench_alloc(64, size * sizeof(*known));
    bench_shuffle(order, nlocks, &seed);
    for (size_t n = 0; n < nedges;) {
        uint32_t i = (uint32_t)(bench_random(&seed) % nlocks);
        uint32_t j = (uint32_t)(bench_random(&seed) % nlocks);
        uint32_t low = i < j ? i : j, high = i < j ? j : i;

        if (i == j || !insert(known, size, (uint64_t)low << 32 | high))
            continue;
        edges[n++] = (struct edge){ .from = order[low], .to = order[high] };
    }
    free(known);
    free(order);
    return edges;
}

static void measure_edges(uint32_t nlocks, size_t nedges)
{
    struct edge *edges = make_edges(nlocks, nedges);
    pthread_mutex_t *locks = bench_alloc(64, nlocks * sizeof(*locks));
    size_t rss_bytes = bench_rss_bytes();
    size_t at = 0;

    init_locks(locks, nlocks);
    for (int tenth = 1; tenth <= 10; tenth++) {
        size_t end = nedges / 10 * (size_t)tenth;
        size_t n = end - at;
        uint64_t start_ns = bench_now_ns();

        for (; at < end; at++)
            take_both(&locks[edges[at].from], &locks[edges[at].to]);
        uint64_t ns = bench_now_ns() - start_ns;
        printf("tenth%d %.1f ns\n", tenth, (double)ns / (double)n);
    }
    printf("memory %zu bytes\n", bench_rss_bytes() - rss_bytes);
}

struct member {
    pthread_t thread;
    pthread_mutex_t *own, *next;
    atomic_uint turn; /* 0: wait, 1: go on; see bench_wait() */
    atomic_uint *successor;
};

static void *run_member(void *arg)
{
    struct member *m = arg;

    bench_wait(&m->turn);
    take_both(m->own, m->next);
    bench_post(m->successor);
    return NULL;
}

/*
 * All threads exist before the first takes a lock and none is joined before
 * the last has released them; that each waits for its turn is nothing that a
 * detector sees, and so all of them could have met.
 */
static void run_ring(size_t n)
{
    pthread_mutex_t *locks = bench_alloc(64, n * sizeof(*locks));
    struct member *members = bench_alloc(64, n * sizeof(*members));
    atomic_uint last = 0;
    pthread_attr_t attr;

    init_locks(locks, n);
    bench_check(pthread_attr_init(&attr), "attributes");
    bench_check(pthread_attr_setstacksize(&attr, 64 << 10), "stack size");
    for (size_t i = 0; i < n; i++) {
        struct member *m = &members[i];

        m->own = &locks[i];
        m->next = &locks[(i + 1) % n];
        m->successor = i + 1 < n ? &members[i + 1].turn : &last;
        bench_check(pthread_create(&m->thread, &attr, run_member, m), "thread");
    }
    uint64_t start_ns = bench_now_ns();
    bench_post(&members[0].turn);
    bench_wait(&last);
    printf("time %.1f ns\n", (double)(bench_now_ns() - start_ns));
    for (size_t i = 0; i < n; i++)
        bench_check(pthread_join(members[i].thread, NULL), "join");
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";

    if (argc == 3 && !strcmp(mode, "locks")) {
        measure_locks(bench_number(argv[2], 2, 100000000));
    } else if (argc == 4 && !strcmp(mode, "edges")) {
        unsigned long nlocks = bench_number(argv[2], 10, 100000000);
        /* At most half of the pairs: drawing at random must end soon. */
        unsigned long max = nlocks * (nlocks - 1) / 4;

        measure_edges((uint32_t)nlocks, bench_number(argv[3], 10, max));
    } else if (argc == 3 && !strcmp(mode, "ring")) {
        run_ring(bench_number(argv[2], 2, 30000));
    } else {
        fprintf(stderr, "usage: scale locks N | edges LOCKS EDGES | ring N\n");
        return 2;
    }
    return 0;
}
