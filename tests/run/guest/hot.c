/* SPDX-License-Identifier: MIT
 *
 * hot.c - what the shortest ways through the hooks must not get wrong: each
 * call is made often enough from one place to be taken that way.
 */
#include "guest.h"

#include <semaphore.h>

enum { WARM = 200 };

static mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static mutex_t adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static mutex_t outer = MUTEX;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t semaphore;

/* One place for each, whatever it returns. */
static __attribute__((noinline)) int ask(mutex_t *m)
{
    return pthread_mutex_lock(m);
}

static __attribute__((noinline)) int give(mutex_t *m)
{
    return pthread_mutex_unlock(m);
}

static void warm(mutex_t *m)
{
    for (int i = 0; i < WARM; i++) {
        CHECK(ask(m) == 0);
        CHECK(give(m) == 0);
    }
}

static void *give_back_of_other(void *m)
{
    CHECK(give(m) == EPERM);
    return NULL;
}

/* Results of the types that know their owner are their own. */
static void types(void)
{
    warm(&recursive);
    warm(&checking);
    warm(&adaptive);
    for (int i = 0; i < WARM; i++) {
        CHECK(ask(&recursive) == 0 && ask(&recursive) == 0);
        CHECK(give(&recursive) == 0 && give(&recursive) == 0);
        CHECK(ask(&checking) == 0 && ask(&checking) == EDEADLK);
        CHECK(give(&checking) == 0 && give(&checking) == EPERM);
        CHECK(give(&recursive) == EPERM);
    }
    CHECK(ask(&recursive) == 0 && ask(&checking) == 0);
    join(go(give_back_of_other, &recursive));
    join(go(give_back_of_other, &checking));
    CHECK(give(&checking) == 0 && give(&recursive) == 0);
}

/* In the child of a fork glibc knows another owner. */
static void forked(void)
{
    int status;
    pid_t child;

    warm(&recursive);
    CHECK(ask(&recursive) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(give(&recursive) == EPERM);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(give(&recursive) == 0);
}

static int went_first;

static void *inverted(void *m)
{
    wait_flag(&went_first);
    for (int i = 0; i < WARM; i++)
        nest(m, &outer);
    return NULL;
}

/* What was taken that way is held, once and however often it is taken. */
static void nested(mutex_t *m)
{
    pthread_t other = go(inverted, m);

    for (int i = 0; i < WARM; i++) {
        CHECK(ask(&outer) == 0);
        CHECK(ask(m) == 0);
        CHECK(give(m) == 0);
        CHECK(give(&outer) == 0);
    }
    set_flag(&went_first);
    join(other);
}

/* One way to take each kind, and back. */
static void each(mutex_t *m, pthread_rwlock_t *rw, pthread_spinlock_t *s,
                 sem_t *sem)
{
    CHECK(ask(m) == 0);
    CHECK(pthread_rwlock_wrlock(rw) == 0);
    CHECK(pthread_spin_lock(s) == 0);
    CHECK(sem_wait(sem) == 0);
    CHECK(sem_post(sem) == 0);
    CHECK(pthread_spin_unlock(s) == 0);
    CHECK(pthread_rwlock_unlock(rw) == 0);
    CHECK(give(m) == 0);
    CHECK(pthread_rwlock_rdlock(rw) == 0);
    CHECK(pthread_rwlock_unlock(rw) == 0);
}

static mutex_t its_mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t its_rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t its_spin;
static sem_t its_semaphore;
static int handled, done;

static void on_signal(int signal)
{
    (void)signal;
    each(&its_mutex, &its_rwlock, &its_spin, &its_semaphore);
    __atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
}

static void *shoot(void *thread)
{
    for (int i = 0; i < 20000; i++) {
        pthread_kill(*(pthread_t *)thread, SIGUSR1);
        if (i % 16 == 0)
            sched_yield();
    }
    set_flag(&done);
    return NULL;
}

/* A handler with locks of its own comes at every place. */
static void storm(void)
{
    pthread_t self = pthread_self(), shooter;

    CHECK(pthread_spin_init(&spin, 0) == 0 && sem_init(&semaphore, 0, 1) == 0);
    CHECK(pthread_spin_init(&its_spin, 0) == 0 &&
          sem_init(&its_semaphore, 0, 1) == 0);
    signal(SIGUSR1, on_signal);
    shooter = go(shoot, &self);
    while (!__atomic_load_n(&done, __ATOMIC_RELAXED))
        each(&recursive, &rwlock, &spin, &semaphore);
    join(shooter);
    CHECK(handled > 0);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    if (!strcmp(argv[1], "types"))
        types();
    else if (!strcmp(argv[1], "forked"))
        forked();
    else if (!strcmp(argv[1], "recursive"))
        nested(&recursive);
    else if (!strcmp(argv[1], "checking"))
        nested(&checking);
    else if (!strcmp(argv[1], "adaptive"))
        nested(&adaptive);
    else if (!strcmp(argv[1], "storm"))
        storm();
    else
        return 2;
    return 0;
}
