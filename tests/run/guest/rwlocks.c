/* SPDX-License-Identifier: MIT
 *
 * rwlocks.c - read-write locks and spin locks in orders good and bad. Argument:
 * what to do. The locks are called r, s (of the default kind), q (whose readers
 * wait behind writers), m, n (mutexes), p (a spin lock).
 */
#include <dlfcn.h>
#include <sys/time.h>

#include "guest.h"
#include "lockhound.h"

typedef pthread_rwlock_t rwlock_t;

static rwlock_t r = PTHREAD_RWLOCK_INITIALIZER;
static rwlock_t s = PTHREAD_RWLOCK_INITIALIZER;
static rwlock_t q = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static mutex_t m = MUTEX, n = MUTEX;
static pthread_spinlock_t p;
static const struct timespec past = { 1, 0 };
static const struct timespec never = { INT32_MAX, 0 };

#define DO(call) CHECK((call) == 0)
#define RD(lock) DO(pthread_rwlock_rdlock(&(lock)))
#define WR(lock) DO(pthread_rwlock_wrlock(&(lock)))
#define UN(lock) DO(pthread_rwlock_unlock(&(lock)))

/* Each routine in a thread of its own, one after the other, and none of them
 * joined before the last is done: they are parallel. */
typedef void (*routine)(void);

struct part {
    routine what;
    int *after, done;
};

static void *play(void *argument)
{
    struct part *part = argument;

    if (part->after)
        wait_flag(part->after);
    part->what();
    set_flag(&part->done);
    return NULL;
}

#define TOGETHER(...)                                                          \
    together((const routine[]){ __VA_ARGS__ },                                 \
             sizeof((const routine[]){ __VA_ARGS__ }) / sizeof(routine))

static void together(const routine *what, size_t nparts)
{
    struct part parts[4];
    pthread_t threads[4];

    for (size_t i = 0; i < nparts; i++) {
        parts[i] = (struct part){ what[i], i ? &parts[i - 1].done : NULL, 0 };
        threads[i] = go(play, &parts[i]);
    }
    for (size_t i = 0; i < nparts; i++)
        join(threads[i]);
}

static void read_q_twice(void)
{
    RD(q);
    RD(q);
    UN(q);
    UN(q);
}

static void write_q(void)
{
    WR(q);
    UN(q);
}

static void write_q_for_a_while(void)
{
    DO(pthread_rwlock_timedwrlock(&q, &never));
    UN(q);
}

static void write_q_in_m(void)
{
    lock(&m);
    write_q();
    unlock(&m);
}

static void read_q_twice_in_m(void)
{
    lock(&m);
    read_q_twice();
    unlock(&m);
}

static void try_to_read_q_again(void)
{
    RD(q);
    DO(pthread_rwlock_tryrdlock(&q));
    UN(q);
    UN(q);
}

static void try_to_write_q(void)
{
    DO(pthread_rwlock_trywrlock(&q));
    UN(q);
}

static void read_q_in_m(void)
{
    lock(&m);
    RD(q);
    UN(q);
    unlock(&m);
}

static void m_while_reading_q(void)
{
    RD(q);
    lock(&m);
    unlock(&m);
    UN(q);
}

static void m_while_writing_q(void)
{
    WR(q);
    lock(&m);
    unlock(&m);
    UN(q);
}

static void read_r_twice(void)
{
    RD(r);
    lock(&n);
    RD(r);
    RD(r);
    UN(r);
    UN(r);
    unlock(&n);
    UN(r);
}

static void write_r(void)
{
    WR(r);
    UN(r);
}

static void m_while_reading_r(void)
{
    RD(r);
    RD(r);
    UN(r);
    lock(&m); /* still held once */
    unlock(&m);
    UN(r);
}

static void write_r_in_m(void)
{
    lock(&m);
    WR(r);
    UN(r);
    unlock(&m);
}

static void read_r_in_m(void)
{
    lock(&m);
    RD(r);
    UN(r);
    unlock(&m);
}

static void m_with_gate_read(void)
{
    RD(s);
    m_while_reading_r();
    UN(s);
}

static void write_r_with_gate_read(void)
{
    RD(s);
    write_r_in_m();
    UN(s);
}

static void m_after_refusals(void)
{
    RD(r);
    CHECK(pthread_rwlock_trywrlock(&r) == EBUSY);
    CHECK(pthread_rwlock_timedwrlock(&r, &past) == ETIMEDOUT);
    UN(r);
    WR(r);
    CHECK(pthread_rwlock_rdlock(&r) == EDEADLK);
    CHECK(pthread_rwlock_wrlock(&r) == EDEADLK);
    CHECK(pthread_rwlock_timedrdlock(&r, &past) == EDEADLK);
    CHECK(pthread_rwlock_tryrdlock(&r) == EBUSY);
    UN(r);
    lock(&m); /* r is not held */
    unlock(&m);
}

static void p_in_m(void)
{
    lock(&m);
    DO(pthread_spin_lock(&p));
    DO(pthread_spin_unlock(&p));
    unlock(&m);
}

static void m_in_p(void)
{
    DO(pthread_spin_lock(&p));
    lock(&m);
    unlock(&m);
    DO(pthread_spin_unlock(&p));
}

static void m_in_tried_p(void)
{
    DO(pthread_spin_trylock(&p));
    lock(&m);
    unlock(&m);
    DO(pthread_spin_unlock(&p));
}

static void try_p_in_m(void)
{
    lock(&m);
    DO(pthread_spin_trylock(&p));
    DO(pthread_spin_unlock(&p));
    unlock(&m);
}

static void renew_r(void)
{
    DO(pthread_rwlock_destroy(&r));
    DO(pthread_rwlock_init(&r, NULL));
}

static void renew_p(void)
{
    DO(pthread_spin_destroy(&p));
    DO(pthread_spin_init(&p, PTHREAD_PROCESS_PRIVATE));
}

static void many_times(routine what)
{
    for (int i = 0; i < 100; i++)
        what();
}

static void read_q_in_m_often(void)
{
    many_times(read_q_in_m);
}

static void write_q_often(void)
{
    many_times(write_q);
}

/* ---- what never returns: SIGALRM ends it, or on-deadlock= ---- */

static void upgrade(void)
{
    RD(r);
    WR(r);
}

static void spin_twice(void)
{
    DO(pthread_spin_lock(&p));
    DO(pthread_spin_lock(&p));
}

static void *spin_once(void *unused)
{
    DO(pthread_spin_lock(&p));
    return unused;
}

/* The child has the lock, but not the thread id that it was written under. */
static void read_in_child(void)
{
    pid_t pid;
    int status;

    WR(r);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        alarm(1);
        RD(r);
        _exit(3);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    UN(r);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* ---- what looks like it, and returns ---- */

static void *unlock_r(void *unused)
{
    UN(r);
    return unused;
}

static void *unlock_p(void *unused)
{
    DO(pthread_spin_unlock(&p));
    return unused;
}

static void *read_r_until(void *flag)
{
    RD(r);
    set_flag(flag);
    wait_flag((int *)flag + 1);
    UN(r);
    return NULL;
}

/* Its reads are over, and another thread reads: it waits for that one. */
static void write_after_reading(void)
{
    static int flags[2];
    pthread_t t;

    RD(r);
    RD(r);
    UN(r);
    UN(r);
    t = go(read_r_until, flags);
    wait_flag(flags);
    CHECK(pthread_rwlock_timedwrlock(&r, &past) == ETIMEDOUT);
    set_flag(flags + 1);
    WR(r);
    UN(r);
    join(t);
}

/* By side doors: a spin lock, or a reader's lock, is given back by another
 * thread. */
static void handed_over(void)
{
    DO(pthread_spin_lock(&p));
    join(go(unlock_p, NULL));
    DO(pthread_spin_lock(&p));
    DO(pthread_spin_unlock(&p));
    RD(r);
    join(go(unlock_r, NULL));
    WR(r);
    UN(r);
}

static volatile int nhandled;

static void handler(int number)
{
    (void)number;
    if (pthread_spin_trylock(&p) == 0) {
        DO(pthread_spin_unlock(&p));
        nhandled = nhandled + 1;
    }
}

/* A handler that only tries, at any moment of a loop that locks. */
static void interrupted(void)
{
    struct itimerval often = { { 0, 50 }, { 0, 50 } };

    signal(SIGALRM, handler);
    setitimer(ITIMER_REAL, &often, NULL);
    while (nhandled < 200) {
        DO(pthread_spin_lock(&p));
        DO(pthread_spin_unlock(&p));
        RD(r);
        RD(q);
        UN(q);
        UN(r);
    }
    signal(SIGALRM, SIG_IGN);
    lockhound_assert_not_held((void *)&p);
    lockhound_assert_not_held(&r);
    lockhound_assert_not_held(&q);
}

static void by_version(const char *version, const char *clock_version)
{
    static const struct {
        const char *take, *give;
        int is_spin;
    } ways[] = {
        { "pthread_rwlock_rdlock", "pthread_rwlock_unlock", 0 },
        { "pthread_rwlock_wrlock", "pthread_rwlock_unlock", 0 },
        { "pthread_rwlock_tryrdlock", "pthread_rwlock_unlock", 0 },
        { "pthread_rwlock_trywrlock", "pthread_rwlock_unlock", 0 },
        { "pthread_rwlock_timedrdlock", "pthread_rwlock_unlock", 0 },
        { "pthread_rwlock_timedwrlock", "pthread_rwlock_unlock", 0 },
        { "pthread_rwlock_clockrdlock", "pthread_rwlock_unlock", 0 },
        { "pthread_rwlock_clockwrlock", "pthread_rwlock_unlock", 0 },
        { "pthread_spin_lock", "pthread_spin_unlock", 1 },
        { "pthread_spin_trylock", "pthread_spin_unlock", 1 },
    };

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        int timed = !!strstr(ways[i].take, "_timed");
        int clocked = !!strstr(ways[i].take, "_clock");
        void *object = ways[i].is_spin ? (void *)&p : &r;
        void *take = dlvsym(RTLD_DEFAULT, ways[i].take,
                            clocked ? clock_version : version);
        int (*give)(void *) =
            (int (*)(void *))dlvsym(RTLD_DEFAULT, ways[i].give, version);

        CHECK(take && give);
        lockhound_assert_not_held(object);
        if (clocked)
            DO(((int (*)(void *, clockid_t, const struct timespec *))take)(
                object, CLOCK_MONOTONIC, &never));
        else if (timed)
            DO(((int (*)(void *, const struct timespec *))take)(object,
                                                                &never));
        else
            DO(((int (*)(void *))take)(object));
        lockhound_assert_held(object);
        DO(give(object));
        lockhound_assert_not_held(object);
    }
}

static void asked_for_by_version(void)
{
    by_version("GLIBC_2.2.5", "GLIBC_2.30");
    by_version("GLIBC_2.34", "GLIBC_2.34");
}

int main(int argc, char **argv)
{
    (void)argc;
    DO(pthread_spin_init(&p, PTHREAD_PROCESS_PRIVATE));
    if (is_mode(argv, "nested-read"))
        TOGETHER(read_q_twice, write_q);
    if (is_mode(argv, "writer-first"))
        TOGETHER(write_q, read_q_twice);
    if (is_mode(argv, "nested-read-alone"))
        TOGETHER(read_q_twice, read_q_twice);
    if (is_mode(argv, "nested-read-same-thread")) {
        write_q();
        read_q_twice();
    }
    if (is_mode(argv, "nested-read-timed-writer"))
        TOGETHER(read_q_twice, write_q_for_a_while);
    if (is_mode(argv, "nested-read-gated"))
        TOGETHER(read_q_twice_in_m, write_q_in_m);
    if (is_mode(argv, "nested-try"))
        TOGETHER(try_to_read_q_again, write_q);
    if (is_mode(argv, "nested-read-try-writer"))
        TOGETHER(read_q_twice, try_to_write_q);
    if (is_mode(argv, "nested-read-default"))
        TOGETHER(read_r_twice, write_r);
    if (is_mode(argv, "reader-writer-reader"))
        TOGETHER(m_while_reading_q, read_q_in_m, write_q);
    if (is_mode(argv, "reader-reader"))
        TOGETHER(m_while_reading_q, read_q_in_m);
    if (is_mode(argv, "reader-writer-often"))
        TOGETHER(read_q_in_m_often, write_q_often, m_while_reading_q);
    if (is_mode(argv, "writer-queue-writer"))
        TOGETHER(m_while_writing_q, read_q_in_m, write_q, write_q_in_m);
    if (is_mode(argv, "read-then-write"))
        TOGETHER(m_while_reading_r, write_r_in_m);
    if (is_mode(argv, "read-then-read"))
        TOGETHER(m_while_reading_r, read_r_in_m, write_r);
    if (is_mode(argv, "shared-gate"))
        TOGETHER(m_with_gate_read, write_r_with_gate_read);
    if (is_mode(argv, "refusals"))
        TOGETHER(m_after_refusals, write_r_in_m);
    if (is_mode(argv, "spin"))
        TOGETHER(p_in_m, m_in_p);
    if (is_mode(argv, "spin-tried-outer"))
        TOGETHER(p_in_m, m_in_tried_p);
    if (is_mode(argv, "spin-tried-inner"))
        TOGETHER(try_p_in_m, m_in_p);
    if (is_mode(argv, "renewed"))
        TOGETHER(m_while_reading_r, renew_r, write_r_in_m);
    if (is_mode(argv, "spin-renewed"))
        TOGETHER(p_in_m, renew_p, m_in_p);
    if (is_mode(argv, "upgrade") && alarm(1) == 0)
        upgrade();
    if (is_mode(argv, "spin-twice") && alarm(1) == 0)
        spin_twice();
    if (is_mode(argv, "spin-contended") && alarm(1) == 0) {
        join(go(spin_once, NULL));
        spin_once(NULL);
    }
    if (is_mode(argv, "read-in-child"))
        read_in_child();
    if (is_mode(argv, "write-after-reading"))
        write_after_reading();
    if (is_mode(argv, "handed-over"))
        handed_over();
    if (is_mode(argv, "interrupted"))
        interrupted();
    if (is_mode(argv, "versions"))
        asked_for_by_version();
    return 0;
}
