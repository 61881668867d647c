/* SPDX-License-Identifier: MIT
 *
 * misuse.c - mutexes and conditions used as they may not be, and, beside each,
 * what looks like it and is right.
 */
#include "guest.h"

static mutex_t m = MUTEX, other = MUTEX;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static const struct timespec past = { 1, 0 };
static int flags[4];

static void set_up(mutex_t *mutex, int type, int robust, int protocol,
                   int shared)
{
    pthread_mutexattr_t attr;

    CHECK(pthread_mutexattr_init(&attr) == 0);
    CHECK(pthread_mutexattr_settype(&attr, type) == 0);
    CHECK(pthread_mutexattr_setrobust(&attr, robust) == 0);
    CHECK(pthread_mutexattr_setprotocol(&attr, protocol) == 0);
    CHECK(pthread_mutexattr_setpshared(&attr, shared) == 0);
    CHECK(pthread_mutex_init(mutex, &attr) == 0);
    CHECK(pthread_mutexattr_destroy(&attr) == 0);
}

/* By its name, in m. */
static void make(const char *kind)
{
    int type = !strcmp(kind, "recursive")    ? PTHREAD_MUTEX_RECURSIVE
               : !strcmp(kind, "errorcheck") ? PTHREAD_MUTEX_ERRORCHECK
               : !strcmp(kind, "adaptive")   ? PTHREAD_MUTEX_ADAPTIVE_NP
                                             : PTHREAD_MUTEX_NORMAL;
    set_up(&m, type,
           !strcmp(kind, "robust") ? PTHREAD_MUTEX_ROBUST
                                   : PTHREAD_MUTEX_STALLED,
           !strcmp(kind, "inherit")   ? PTHREAD_PRIO_INHERIT
           : !strcmp(kind, "protect") ? PTHREAD_PRIO_PROTECT
                                      : PTHREAD_PRIO_NONE,
           !strcmp(kind, "shared") ? PTHREAD_PROCESS_SHARED
                                   : PTHREAD_PROCESS_PRIVATE);
}

/* ---- LH003 ---- */

static void relock(void)
{
    lock(&m);
    pthread_mutex_lock(&m);
}

static void *relock_thread(void *unused)
{
    relock();
    return unused;
}

static void relock_in_handler(int number)
{
    (void)number;
    pthread_mutex_lock(&m);
}

static void relock_by_signal(void)
{
    signal(SIGUSR1, relock_in_handler);
    lock(&m);
    raise(SIGUSR1);
}

/* What does not hang when it is asked for again. */
static void relock_fairly(void)
{
    struct timespec soon = { 0, 0 };

    lock(&m);
    CHECK(pthread_mutex_trylock(&m) == EBUSY);
    CHECK(pthread_mutex_timedlock(&m, &past) == ETIMEDOUT);
    CHECK(pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &soon) == ETIMEDOUT);
    unlock(&m);
    make("errorcheck");
    lock(&m);
    CHECK(pthread_mutex_lock(&m) == EDEADLK);
    unlock(&m);
    make("recursive");
    lock(&m);
    lock(&m);
    unlock(&m);
    unlock(&m);
}

static void *unlock_soon(void *unused)
{
    /* Main is at the point of asking again, or will be in a moment: either way
     * it asks for what it believes to hold. */
    wait_flag(&flags[0]);
    CHECK(pthread_mutex_unlock(&m) == 0);
    return unused;
}

/* A normal mutex as a signal: wrong, but it works. */
static void signalled(void)
{
    pthread_t t;

    lock(&m);
    t = go(unlock_soon, NULL);
    set_flag(&flags[0]);
    lock(&m);
    join(t);
    unlock(&m);
}

/* ---- LH010, LH011 ---- */

static void *unlock_it(void *result)
{
    *(int *)result = pthread_mutex_unlock(&m);
    return NULL;
}

static void unlock_free(int result)
{
    CHECK(pthread_mutex_unlock(&m) == result);
}

static void unlock_by_other(int result)
{
    int got;

    lock(&m);
    join(go(unlock_it, &got));
    CHECK(got == result);
    if (result)
        unlock(&m);
}

/* One report a place, however often. */
static void unlock_free_often(void)
{
    for (int i = 0; i < 100; i++) {
        mutex_t fresh = MUTEX;
        CHECK(pthread_mutex_unlock(&fresh) == 0);
    }
}

/* ---- LH012, LH013, LH014 ---- */

static void *hold_until_told(void *unused)
{
    lock(&m);
    set_flag(&flags[0]);
    wait_flag(&flags[1]);
    pthread_mutex_unlock(&m);
    return unused;
}

static void beside_holder(void (*act)(void))
{
    pthread_t t = go(hold_until_told, NULL);

    wait_flag(&flags[0]);
    act();
    set_flag(&flags[1]);
    join(t);
}

static void destroy_busy(void)
{
    CHECK(pthread_mutex_destroy(&m) == EBUSY);
}

static void initialize(void)
{
    CHECK(pthread_mutex_init(&m, NULL) == 0);
}

static void destroy_held(void)
{
    lock(&m);
    destroy_busy();
    unlock(&m);
}

static void destroy_held_robust(void)
{
    make("robust");
    lock(&m);
    CHECK(pthread_mutex_destroy(&m) == 0);
}

static void used_ended(void)
{
    make("normal");
    CHECK(pthread_mutex_destroy(&m) == 0);
    CHECK(pthread_mutex_lock(&m) == EINVAL);
    CHECK(pthread_mutex_unlock(&m) == EINVAL);
}

static void waited_ended(void)
{
    make("normal");
    CHECK(pthread_mutex_destroy(&m) == 0);
    CHECK(pthread_cond_timedwait(&condition, &m, &past) == EINVAL);
    CHECK(pthread_mutex_trylock(&m) == EINVAL);
}

static void ended_twice(void)
{
    make("normal");
    CHECK(pthread_mutex_destroy(&m) == 0);
    CHECK(pthread_mutex_destroy(&m) == 0);
}

/* Made again, by a call or by hand, it is another. */
static void renewed(void)
{
    make("normal");
    CHECK(pthread_mutex_destroy(&m) == 0);
    initialize();
    lock(&m);
    unlock(&m);
    CHECK(pthread_mutex_destroy(&m) == 0);
    m = (mutex_t)MUTEX;
    lock(&m);
    unlock(&m);
}

static void init_held(void)
{
    lock(&m);
    initialize();
    lock(&m);
    unlock(&m);
}

/* What was never locked, or lies where something else did. */
static void init_anything(void)
{
    memset(&m, 0xff, sizeof m);
    initialize();
    memset(&m, 0x01, sizeof m);
    initialize();
    m.__data.__lock = 1;
    m.__data.__owner = (int)syscall(SYS_gettid);
    initialize();
    lock(&m);
    unlock(&m);
    initialize();
}

/* ---- LH015 ---- */

static void *leave_with_it(void *how)
{
    lock(&m);
    if (how)
        pthread_exit(how);
    return NULL;
}

static void *leave_with_try(void *unused)
{
    CHECK(pthread_mutex_trylock(&m) == 0);
    return unused;
}

static void *be_cancelled(void *unused)
{
    lock(&m);
    set_flag(&flags[0]);
    for (;;)
        pause();
    return unused;
}

static void cancel_holder(void)
{
    pthread_t t = go(be_cancelled, NULL);

    wait_flag(&flags[0]);
    CHECK(pthread_cancel(t) == 0);
    join(t);
}

static pthread_key_t key;

static void unlock_late(void *unused)
{
    (void)unused;
    unlock(&m);
}

static void *leave_it_to_key(void *unused)
{
    lock(&m);
    CHECK(pthread_setspecific(key, &key) == 0);
    return unused;
}

static void unlock_in_destructor(void)
{
    CHECK(pthread_key_create(&key, unlock_late) == 0);
    join(go(leave_it_to_key, NULL));
}

static void *cleaned_up(void *unused)
{
    lock(&m);
    pthread_cleanup_push(unlock_late, NULL);
    pthread_exit(unused);
    pthread_cleanup_pop(1);
    return unused;
}

static int tid_of_detached;

static void *leave_detached(void *unused)
{
    lock(&m);
    __atomic_store_n(&tid_of_detached, (int)syscall(SYS_gettid),
                     __ATOMIC_RELAXED);
    return unused;
}

/* Nobody joins it. */
static void detached(void)
{
    pthread_t t = go(leave_detached, NULL);
    int tid;

    CHECK(pthread_detach(t) == 0);
    while (!(tid = __atomic_load_n(&tid_of_detached, __ATOMIC_RELAXED)) ||
           syscall(SYS_tgkill, getpid(), tid, 0) == 0)
        sched_yield();
}

/* Robust: the next one is told, and has it. */
static void robust_recovery(void)
{
    make("robust");
    join(go(leave_with_it, NULL));
    CHECK(pthread_mutex_lock(&m) == EOWNERDEAD);
    CHECK(pthread_mutex_consistent(&m) == 0);
    unlock(&m);
    lock(&m);
    unlock(&m);
    join(go(leave_with_it, NULL));
    CHECK(pthread_mutex_lock(&m) == EOWNERDEAD);
    unlock(&m); /* not made consistent: it is lost */
    CHECK(pthread_mutex_lock(&m) == ENOTRECOVERABLE);
    CHECK(pthread_mutex_trylock(&m) == ENOTRECOVERABLE);
    CHECK(pthread_mutex_destroy(&m) == 0);
}

static void *hold_for_good(void *unused)
{
    lock(&m);
    set_flag(&flags[0]);
    for (;;)
        pause();
    return unused;
}

/* The process ends, not the thread. */
static void exit_holding(void)
{
    go(hold_for_good, NULL);
    wait_flag(&flags[0]);
    lock(&other);
    exit(0);
}

/* ---- LH017 ---- */

static void wait_unheld(int result)
{
    CHECK(pthread_cond_timedwait(&condition, &m, &past) == result);
    if (result == ETIMEDOUT)
        unlock(&m);
}

static void wait_with_others_lock(void)
{
    CHECK(pthread_cond_timedwait(&condition, &m, &past) == EPERM);
}

static int is_told;

static void *wait_with(void *mutex)
{
    lock(mutex);
    set_flag(&flags[0]);
    while (!is_told)
        CHECK(pthread_cond_wait(&condition, mutex) == 0);
    unlock(mutex);
    return NULL;
}

/* First waits with m; then main with other, at the same time or after it. */
static void two_mutexes(int at_once)
{
    pthread_t t = go(wait_with, &m);

    wait_flag(&flags[0]);
    lock(&m); /* released by the wait that has begun */
    if (!at_once) {
        is_told = 1;
        CHECK(pthread_cond_broadcast(&condition) == 0);
        unlock(&m);
        join(t);
    } else {
        unlock(&m);
    }
    lock(&other);
    CHECK(pthread_cond_timedwait(&condition, &other, &past) == ETIMEDOUT);
    unlock(&other);
    if (!at_once)
        return;
    lock(&m);
    is_told = 1;
    CHECK(pthread_cond_broadcast(&condition) == 0);
    unlock(&m);
    join(t);
}

/* It was woken and only wants its mutex back: the condition is free. */
static void woken_but_waiting(void)
{
    pthread_t t = go(wait_with, &m);

    wait_flag(&flags[0]);
    lock(&m);
    is_told = 1;
    CHECK(pthread_cond_broadcast(&condition) == 0);
    lock(&other);
    CHECK(pthread_cond_timedwait(&condition, &other, &past) == ETIMEDOUT);
    unlock(&other);
    unlock(&m);
    join(t);
}

static void *wait_and_count(void *unused)
{
    for (int i = 0; i < 1000; i++) {
        lock(&m);
        CHECK(pthread_cond_timedwait(&condition, &m, &past) == ETIMEDOUT);
        unlock(&m);
    }
    return unused;
}

static void one_mutex(void)
{
    pthread_t t = go(wait_and_count, NULL), u = go(wait_and_count, NULL);

    join(t);
    join(u);
}

/* ---- every kind of mutex, used as it may be ---- */

static void fair(const char *kind)
{
    make(kind);
    for (int i = 0; i < 40; i++) {
        lock(&m);
        lock(&other);
        unlock(&m);
        CHECK(pthread_mutex_trylock(&m) == 0);
        CHECK(pthread_cond_timedwait(&condition, &m, &past) == ETIMEDOUT);
        unlock(&other);
        unlock(&m);
        CHECK(pthread_mutex_timedlock(&m, &past) == 0);
        unlock(&m);
    }
    one_mutex();
    CHECK(pthread_mutex_destroy(&m) == 0);
    make(kind);
}

int main(int argc, char **argv)
{
    const char *kind = argc > 2 ? argv[2] : "normal";
    int checks = !strcmp(kind, "errorcheck") || !strcmp(kind, "recursive") ||
                 !strcmp(kind, "robust") || !strcmp(kind, "inherit");
    int refuses = checks ? EPERM : 0;

    if (!is_mode(argv, "init-anything"))
        make(kind);
    if (is_mode(argv, "relock"))
        relock();
    if (is_mode(argv, "relock-in-thread"))
        join(go(relock_thread, NULL));
    if (is_mode(argv, "relock-by-signal"))
        relock_by_signal();
    if (is_mode(argv, "relock-fairly"))
        relock_fairly();
    if (is_mode(argv, "signalled"))
        signalled();
    if (is_mode(argv, "unlock-free"))
        unlock_free(refuses);
    if (is_mode(argv, "unlock-free-often"))
        unlock_free_often();
    if (is_mode(argv, "unlock-by-other"))
        unlock_by_other(refuses);
    if (is_mode(argv, "destroy-held"))
        destroy_held();
    if (is_mode(argv, "destroy-held-robust"))
        destroy_held_robust();
    if (is_mode(argv, "destroy-others"))
        beside_holder(destroy_busy);
    if (is_mode(argv, "used-ended"))
        used_ended();
    if (is_mode(argv, "waited-ended"))
        waited_ended();
    if (is_mode(argv, "ended-twice"))
        ended_twice();
    if (is_mode(argv, "renewed"))
        renewed();
    if (is_mode(argv, "init-held"))
        init_held();
    if (is_mode(argv, "init-anything"))
        init_anything();
    if (is_mode(argv, "return-holding"))
        join(go(leave_with_it, NULL));
    if (is_mode(argv, "pthread-exit-holding"))
        join(go(leave_with_it, &m));
    if (is_mode(argv, "try-and-return"))
        join(go(leave_with_try, NULL));
    if (is_mode(argv, "cancelled-holding"))
        cancel_holder();
    if (is_mode(argv, "detached-holding"))
        detached();
    if (is_mode(argv, "unlock-in-destructor"))
        unlock_in_destructor();
    if (is_mode(argv, "unlock-in-cleanup"))
        join(go(cleaned_up, NULL));
    if (is_mode(argv, "robust-recovery"))
        robust_recovery();
    if (is_mode(argv, "exit-holding"))
        exit_holding();
    if (is_mode(argv, "wait-unheld"))
        wait_unheld(checks ? EPERM : ETIMEDOUT);
    if (is_mode(argv, "wait-others"))
        beside_holder(wait_with_others_lock);
    if (is_mode(argv, "two-mutexes"))
        two_mutexes(1);
    if (is_mode(argv, "two-mutexes-in-turn"))
        two_mutexes(0);
    if (is_mode(argv, "woken-but-waiting"))
        woken_but_waiting();
    if (is_mode(argv, "fair"))
        fair(kind);
    return 0;
}
