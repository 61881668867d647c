/* SPDX-License-Identifier: MIT
 *
 * replay.c - runs a script of lock operations, one step at a time.
 *
 *     replay SCRIPT
 *
 * Every step names the thread that makes it; the others wait for their turns
 * on futexes, so that nothing ever blocks on a lock and the order of events is
 * the script's. compare.py writes scripts and explains the operations.
 * Prints where its functions and locks lie, then each step's result.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_THREADS = 64,
    MAX_STEPS = 4096,
    NLOCKS = 24,
    NRWLOCKS = 12, /* numbered from there on; then the spin locks */
    NSPINS = 6,
    NINNER = 8,
    NOUTER = 4
};

struct step {
    int thread;
    char what;
    int a, b, inner, outer;
    int rc;
};

/* compare.py knows which is of which type. */
static pthread_mutex_t locks[NLOCKS] = {
    [0 ... 11] = PTHREAD_MUTEX_INITIALIZER,
    [12 ... 17] = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
    [18 ... 23] = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP,
};

static pthread_rwlock_t rwlocks[NRWLOCKS] = {
    [0 ... 5] = PTHREAD_RWLOCK_INITIALIZER,
    [6 ... 11] = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP,
};
static pthread_spinlock_t spins[NSPINS] = { [0 ... NSPINS - 1] = 1 }; /* free */

static struct step steps[MAX_STEPS];
static int nsteps;
static _Atomic uint32_t turn;
static pthread_t handles[MAX_THREADS];
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static const struct timespec past = { 1, 0 };

static void *run(void *thread);

static inline __attribute__((always_inline)) int
init_mutex(pthread_mutex_t *mutex, int type)
{
    pthread_mutexattr_t attr;

    if (type == 0)
        return 0;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, type);
    return pthread_mutex_init(mutex, &attr);
}

static int init_rwlock(pthread_rwlock_t *rwlock, int kind)
{
    pthread_rwlockattr_t attr;

    if (kind == 0)
        return 0;
    pthread_rwlockattr_init(&attr);
    pthread_rwlockattr_setkind_np(&attr, kind);
    return pthread_rwlock_init(rwlock, &attr);
}

static inline __attribute__((always_inline)) int act(struct step *s)
{
    pthread_mutex_t *m = &locks[s->a];
    pthread_rwlock_t *rw = &rwlocks[s->a - NLOCKS];
    pthread_spinlock_t *spin = &spins[s->a - NLOCKS - NRWLOCKS];

    switch (s->what) {
    case 'l':
        return pthread_mutex_lock(m);
    case 't':
        return pthread_mutex_trylock(m);
    case 'k':
        return pthread_mutex_timedlock(m, &past);
    case 'q':
        return pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &past);
    case 'u':
        return pthread_mutex_unlock(m);
    case 'w':
        return pthread_cond_timedwait(&cond, m, &past);
    case 'v':
        return pthread_cond_clockwait(&cond, m, CLOCK_MONOTONIC, &past);
    case 'D':
        return pthread_mutex_destroy(m);
    case 'i':
        return s->b ? init_mutex(m, s->b) : pthread_mutex_init(m, NULL);
    case 'r':
        return pthread_rwlock_rdlock(rw);
    case 'R':
        return pthread_rwlock_tryrdlock(rw);
    case 'e':
        return pthread_rwlock_timedrdlock(rw, &past);
    case 'f':
        return pthread_rwlock_clockrdlock(rw, CLOCK_MONOTONIC, &past);
    case 'W':
        return pthread_rwlock_wrlock(rw);
    case 'T':
        return pthread_rwlock_trywrlock(rw);
    case 'K':
        return pthread_rwlock_timedwrlock(rw, &past);
    case 'Q':
        return pthread_rwlock_clockwrlock(rw, CLOCK_MONOTONIC, &past);
    case 'U':
        return pthread_rwlock_unlock(rw);
    case 'B':
        return pthread_rwlock_destroy(rw);
    case 'I':
        return s->b ? init_rwlock(rw, s->b) : pthread_rwlock_init(rw, NULL);
    case 's':
        return pthread_spin_lock(spin);
    case 'S':
        return pthread_spin_trylock(spin);
    case 'z':
        return pthread_spin_unlock(spin);
    case 'y':
        return pthread_spin_init(spin, PTHREAD_PROCESS_PRIVATE);
    case 'c':
        return pthread_create(&handles[s->a], NULL, run,
                              (void *)(intptr_t)s->a);
    case 'j':
        return pthread_join(handles[s->a], NULL);
    case 'J':
        return pthread_timedjoin_np(handles[s->a], NULL, NULL);
    case 'd':
        return pthread_detach(handles[s->a]);
    case 'n':
    case 'x':
    case 'X':
        return 0;
    }
    abort();
}

#define INNER(n)                                                               \
    __attribute__((noinline)) static int inner##n(struct step *s)              \
    {                                                                          \
        int rc = act(s);                                                       \
        __asm__ volatile("" ::: "memory");                                     \
        return rc;                                                             \
    }
// clang-format off
INNER(0) INNER(1) INNER(2) INNER(3) INNER(4) INNER(5) INNER(6) INNER(7)
    // clang-format on
    static int (*const inner[NINNER])(struct step *) = {
        inner0, inner1, inner2, inner3, inner4, inner5, inner6, inner7,
    };

#define OUTER(n)                                                               \
    __attribute__((noinline)) static int outer##n(struct step *s)              \
    {                                                                          \
        int rc = inner[s->inner](s);                                           \
        __asm__ volatile("" ::: "memory");                                     \
        return rc;                                                             \
    }
// clang-format off
OUTER(0) OUTER(1) OUTER(2) OUTER(3)
    // clang-format on
    static int (*const outer[NOUTER])(struct step *) = {
        outer0,
        outer1,
        outer2,
        outer3,
    };

static void wait_for_turn(uint32_t mine)
{
    uint32_t now;

    while ((now = atomic_load(&turn)) != mine)
        syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, now, NULL, NULL, 0);
}

static void next_turn(void)
{
    atomic_fetch_add(&turn, 1);
    syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, MAX_THREADS, NULL, NULL, 0);
}

static void *run(void *thread)
{
    for (int i = 0; i < nsteps; i++) {
        struct step *s = &steps[i];
        if (s->thread != (int)(intptr_t)thread)
            continue;
        wait_for_turn((uint32_t)i);
        errno = 4242;
        s->rc = outer[s->outer](s);
        if (errno != 4242 && s->what != 'c')
            s->rc += 1000 * errno;
        next_turn();
        if (s->what == 'X')
            pthread_exit(NULL);
        if (s->what == 'x')
            return NULL;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    FILE *script = argc == 2 ? fopen(argv[1], "r") : NULL;

    if (!script)
        return 1;
    while (nsteps < MAX_STEPS) {
        struct step *s = &steps[nsteps];
        if (fscanf(script, "%d %c %d %d %d %d", &s->thread, &s->what, &s->a,
                   &s->b, &s->inner, &s->outer) != 6)
            break;
        nsteps++;
    }
    fclose(script);
    run(NULL);
    for (int i = 0; i < NINNER; i++)
        printf("inner %d %#lx\n", i, (unsigned long)inner[i]);
    for (int i = 0; i < NOUTER; i++)
        printf("outer %d %#lx\n", i, (unsigned long)outer[i]);
    printf("locks %#lx %zu %d\n", (unsigned long)locks, sizeof locks[0], 0);
    printf("locks %#lx %zu %d\n", (unsigned long)rwlocks, sizeof rwlocks[0],
           NLOCKS);
    printf("locks %#lx %zu %d\n", (unsigned long)spins, sizeof spins[0],
           NLOCKS + NRWLOCKS);
    for (int i = 0; i < nsteps; i++)
        printf("rc %d\n", steps[i].rc);
    fflush(stdout);
    return 42;
}
