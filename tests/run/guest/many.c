/* SPDX-License-Identifier: MIT
 *
 * many.c - nothing has a fixed maximum: locks held at once, locks in all,
 * threads over a life; and memory does not grow where nothing new is learned.
 */
#include "guest.h"
#include "lockhound.h"

static mutex_t a = MUTEX, b = MUTEX;

static long resident_kib(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    CHECK(f && fscanf(f, "%*d %ld", &pages) == 1);
    fclose(f);
    return pages * 4;
}

static void stays_flat(const char *what, long before, long most_kib)
{
    long grown = resident_kib() - before;

    dprintf(1, "%s: %ld KiB\n", what, grown);
    CHECK(grown <= most_kib);
}

/* ---- 200 held at once ---- */

static mutex_t held[200];

static void hold_all(void)
{
    struct nesting reverse = { &held[199], &held[0], NULL, 0 };
    pthread_t t = go(nest_thread, &reverse);

    wait_flag(&reverse.done);
    for (int i = 0; i < 200; i++)
        lock(&held[i]);
    for (int i = 0; i < 200; i++)
        unlock(&held[i]);
    join(t);
}

/* ---- 100 000 locks ---- */

static void locks(void)
{
    enum { N = 100000 };
    mutex_t *m = calloc(N, sizeof *m);
    struct nesting reverse = { &m[N - 1], &m[0], NULL, 0 };
    pthread_t t = go(nest_thread, &reverse);

    CHECK(m);
    wait_flag(&reverse.done);
    for (int i = 0; i + 1 < N; i++)
        nest(&m[i], &m[i + 1]); /* a ring of them all: one too long */
    nest(&m[0], &m[N - 1]);
    join(t);
}

/* ---- 20 000 threads ---- */

/* When a thread lived is kept for good, about 90 bytes; nothing else. */
enum { MOST_KIB = 10000 * 150 / 1024 };

static void *one_life(void *unused)
{
    nest(&a, &b);
    return unused;
}

static void threads(void)
{
    long before = 0;

    for (int i = 0; i < 20000; i++) {
        if (i == 10000)
            before = resident_kib();
        join(go(one_life, NULL));
    }
    stays_flat("10000 threads joined", before, MOST_KIB);
}

static int nended;

static void *counted_life(void *unused)
{
    nest(&a, &b);
    __atomic_fetch_add(&nended, 1, __ATOMIC_RELAXED);
    return unused;
}

static void detached(void)
{
    long before = 0;

    for (int i = 0; i < 20000; i++) {
        if (i == 10000)
            before = resident_kib();
        CHECK(pthread_detach(go(counted_life, NULL)) == 0);
        while (__atomic_load_n(&nended, __ATOMIC_RELAXED) + 20 < i)
            sched_yield();
    }
    /* On a busy machine a hundred of them may not be gone yet, each with some
     * 30 KiB; if all 10 000 stayed, it would be 300 MiB. */
    stays_flat("10000 threads detached", before, 10000);
}

/* ---- a million lives of a lock ---- */

static void lives(void)
{
    long before = 0;

    for (int i = 0; i < 1000000; i++) {
        mutex_t m;
        if (i == 200000)
            before = resident_kib();
        pthread_mutex_init(&m, NULL);
        lock(&m);
        unlock(&m);
        if (i % 16 == 0)
            nest(&a, &m);
        pthread_mutex_destroy(&m);
    }
    stays_flat("800000 lives", before, 300);
}

/* ---- any order ---- */

/* What is held, after random locking and unlocking of 150 recursive and plain
 * mutexes, is what the detector believes. */
static void any_order(unsigned seed)
{
    enum { N = 150 };
    static mutex_t m[N];
    static unsigned char depth[N];
    pthread_mutexattr_t recursive;

    dprintf(1, "seed %u\n", seed);
    srandom(seed);
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    for (int i = 0; i < N; i++)
        pthread_mutex_init(&m[i], i % 3 ? NULL : &recursive);
    for (int round = 0; round < 15000; round++) {
        int i = (int)(random() % N);
        /* Fuller and emptier by turns, over both borders of chunks. */
        int wants = random() % 100 < (round / 300 % 2 ? 75 : 25);
        if (wants && depth[i] < (i % 3 ? 1 : 5)) {
            if (random() % 4)
                lock(&m[i]);
            else
                CHECK(pthread_mutex_trylock(&m[i]) == 0);
            depth[i]++;
        } else if (!wants && depth[i]) {
            unlock(&m[i]);
            depth[i]--;
        }
        if (round % 997 == 0)
            for (int k = 0; k < N; k++) {
                if (depth[k])
                    lockhound_assert_held(&m[k]);
                else
                    lockhound_assert_not_held(&m[k]);
            }
    }
    for (int i = 0; i < N; i++)
        while (depth[i]) {
            lockhound_assert_held(&m[i]);
            unlock(&m[i]);
            depth[i]--;
        }
    for (int i = 0; i < N; i++)
        lockhound_assert_not_held(&m[i]);
}

int main(int argc, char **argv)
{
    if (is_mode(argv, "held"))
        hold_all();
    if (is_mode(argv, "locks"))
        locks();
    if (is_mode(argv, "threads"))
        threads();
    if (is_mode(argv, "detached"))
        detached();
    if (is_mode(argv, "lives"))
        lives();
    if (is_mode(argv, "any-order"))
        any_order(argc > 2 ? (unsigned)atoi(argv[2]) : (unsigned)time(NULL));
    return 0;
}
