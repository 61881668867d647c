/* SPDX-License-Identifier: MIT
 *
 * hangs.c - hangs for good in the way that the argument names; with a number
 * for some.
 */
#include <semaphore.h>

#include "guest.h"

enum { MOST = 64 };

static mutex_t m[MOST];
static pthread_rwlock_t rw[2] = { PTHREAD_RWLOCK_INITIALIZER,
                                  PTHREAD_RWLOCK_INITIALIZER };
static pthread_cond_t signalled = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t others;
static sem_t posted;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_barrier_t together; /* all hold their first lock */
static int n;
static pthread_t main_thread;

static void *ring_member(void *number)
{
    int i = (int)(intptr_t)number;

    lock(&m[i]);
    pthread_barrier_wait(&together);
    lock(&m[(i + 1) % n]);
    return NULL;
}

static void ring(void)
{
    pthread_barrier_init(&together, NULL, (unsigned)n);
    for (intptr_t i = 1; i < n; i++)
        go(ring_member, (void *)i);
    ring_member(NULL);
}

static void inherit(void)
{
    pthread_mutexattr_t attr;

    CHECK(pthread_mutexattr_init(&attr) == 0);
    CHECK(pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT) == 0);
    for (int i = 0; i < n; i++)
        CHECK(pthread_mutex_init(&m[i], &attr) == 0);
    ring();
}

static void *write_member(void *number)
{
    int i = (int)(intptr_t)number;

    CHECK(pthread_rwlock_wrlock(&rw[i]) == 0);
    pthread_barrier_wait(&together);
    CHECK((i ? pthread_rwlock_rdlock : pthread_rwlock_wrlock)(&rw[!i]) == 0);
    return NULL;
}

static void *reader(void *unused)
{
    (void)unused;
    CHECK(pthread_rwlock_rdlock(&rw[0]) == 0);
    pthread_barrier_wait(&together);
    pause();
    return NULL;
}

static void *locker(void *mutex)
{
    lock(mutex);
    return NULL;
}

/* The main thread holds m[0], the thread that it joins asks for it. */
static void joins(void)
{
    lock(&m[0]);
    join(go(locker, &m[0]));
}

static void *waits_for_main(void *unused)
{
    (void)unused;
    lock(&m[0]);
    pthread_barrier_wait(&together);
    pthread_join(main_thread, NULL);
    return NULL;
}

static void waits_forever(void)
{
    sigset_t none;

    sigemptyset(&none);
    for (;;)
        sigsuspend(&none);
}

static void *prints(void *unused)
{
    (void)unused;
    pthread_barrier_wait(&together);
    fputs("never seen\n", stdout);
    return NULL;
}

static void *runs_once(void *unused)
{
    (void)unused;
    pthread_once(&once, waits_forever);
    return NULL;
}

int main(int argc, char **argv)
{
    CHECK(argc > 1);
    alarm(60);
    n = argc > 2 ? atoi(argv[2]) : 2;
    main_thread = pthread_self();
    pthread_barrier_init(&together, NULL, 2);
    if (is_mode(argv, "ring")) {
        ring();
    } else if (is_mode(argv, "inherit")) {
        inherit();
    } else if (is_mode(argv, "write")) {
        go(write_member, (void *)1);
        write_member(NULL);
    } else if (is_mode(argv, "self")) {
        lock(&m[0]);
        lock(&m[0]);
    } else if (is_mode(argv, "join")) {
        joins();
    } else if (is_mode(argv, "join-main")) {
        go(waits_for_main, NULL);
        pthread_barrier_wait(&together);
        lock(&m[0]);
    } else if (is_mode(argv, "gone")) {
        join(go(locker, &m[0]));
        lock(&m[0]);
    } else if (is_mode(argv, "readers")) {
        pthread_barrier_init(&together, NULL, 3);
        go(reader, NULL);
        go(reader, NULL);
        pthread_barrier_wait(&together);
        pthread_rwlock_wrlock(&rw[0]);
    } else if (is_mode(argv, "condition")) {
        lock(&m[0]);
        pthread_cond_wait(&signalled, &m[0]);
    } else if (is_mode(argv, "limit")) {
        struct timespec then = { 4000000000, 0 };
        lock(&m[0]);
        pthread_cond_timedwait(&signalled, &m[0], &then);
    } else if (is_mode(argv, "semaphore")) {
        sem_init(&posted, 0, 0);
        sem_wait(&posted);
    } else if (is_mode(argv, "barrier")) {
        pthread_barrier_init(&others, NULL, 2);
        pthread_barrier_wait(&others);
    } else if (is_mode(argv, "once")) {
        go(runs_once, NULL);
        runs_once(NULL);
    } else if (is_mode(argv, "stream")) {
        flockfile(stdout);
        go(prints, NULL);
        pthread_barrier_wait(&together);
        waits_forever();
    } else {
        waits_forever();
    }
    return 0;
}
