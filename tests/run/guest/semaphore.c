/* SPDX-License-Identifier: MIT
 *
 * semaphore.c - semaphores that are locks, and such that are not.
 */
#include <dlfcn.h>
#include <limits.h>
#include <semaphore.h>
#include <sys/time.h>

#include "guest.h"

static sem_t s, t, items;
static mutex_t m = MUTEX, n = MUTEX;

static void make(sem_t *sem, unsigned value)
{
    CHECK(sem_init(sem, 0, value) == 0);
}

static void wait_for(sem_t *sem)
{
    CHECK(sem_wait(sem) == 0);
}

static void post(sem_t *sem)
{
    CHECK(sem_post(sem) == 0);
}

static int value_of(sem_t *sem)
{
    int value;

    CHECK(sem_getvalue(sem, &value) == 0);
    return value;
}

/* Runs two functions in two threads that are alive together, the second after
 * the first has done its work. */
struct part {
    void (*work)(void);
    int *after, done;
};

static void *run_part(void *argument)
{
    struct part *p = argument;

    if (p->after)
        wait_flag(p->after);
    p->work();
    set_flag(&p->done);
    return NULL;
}

static void in_turn(void (*first)(void), void (*second)(void))
{
    struct part a = { first, NULL, 0 }, b = { second, &a.done, 0 };
    pthread_t t1 = go(run_part, &a), t2 = go(run_part, &b);

    join(t1);
    join(t2);
}

/* ---- locks ---- */

static void s_then_t(void)
{
    wait_for(&s);
    wait_for(&t);
    post(&t);
    post(&s);
}

static void t_then_s(void)
{
    wait_for(&t);
    wait_for(&s);
    post(&s);
    post(&t);
}

static void nested_both_ways(void)
{
    make(&s, 1);
    make(&t, 1);
    in_turn(s_then_t, t_then_s);
}

static void s_then_m(void)
{
    wait_for(&s);
    lock(&m);
    unlock(&m);
    post(&s);
}

static void m_then_s(void)
{
    lock(&m);
    wait_for(&s);
    post(&s);
    unlock(&m);
}

static void with_a_mutex(void)
{
    make(&s, 1);
    in_turn(s_then_m, m_then_s);
}

static void t_then_try_s(void)
{
    wait_for(&t);
    CHECK(sem_trywait(&s) == 0);
    post(&s);
    post(&t);
}

/* A try waits for nothing. */
static void tried(void)
{
    make(&s, 1);
    make(&t, 1);
    in_turn(s_then_t, t_then_try_s);
}

static void try_t_then_s(void)
{
    CHECK(sem_trywait(&t) == 0);
    wait_for(&s);
    post(&s);
    post(&t);
}

/* But what a try has taken is held. */
static void tried_outside(void)
{
    make(&s, 1);
    make(&t, 1);
    in_turn(s_then_t, try_t_then_s);
}

static void t_then_timed_s(void)
{
    struct timespec never = { .tv_sec = INT32_MAX };

    wait_for(&t);
    CHECK(sem_timedwait(&s, &never) == 0);
    post(&s);
    CHECK(sem_clockwait(&s, CLOCK_MONOTONIC, &never) == 0);
    post(&s);
    post(&t);
}

static void timed(void)
{
    make(&s, 1);
    make(&t, 1);
    in_turn(s_then_t, t_then_timed_s);
}

/* Static, and never made by sem_init(): glibc's first word is the value. */
static sem_t given = { { 1 } };

static void given_then_m(void)
{
    wait_for(&given);
    lock(&m);
    unlock(&m);
    post(&given);
}

static void m_then_given(void)
{
    lock(&m);
    wait_for(&given);
    post(&given);
    unlock(&m);
}

static void without_init(void)
{
    in_turn(given_then_m, m_then_given);
}

/* The same memory, another lock. */
static void made_again(void)
{
    make(&s, 1);
    make(&t, 1);
    in_turn(s_then_t, s_then_t);
    CHECK(sem_destroy(&s) == 0);
    make(&s, 1);
    in_turn(t_then_s, t_then_s);
    make(&t, 1); /* without an end */
    in_turn(s_then_t, s_then_t);
}

/* What was learned of s while it was a candidate names a lock that has ended.
 */
static void beside_ended(void)
{
    make(&s, 1);
    make(&t, 1);
    wait_for(&t);
    wait_for(&s);
    lock(&m);
    unlock(&m);
    post(&s);
    post(&t);
    CHECK(sem_destroy(&t) == 0);
    in_turn(s_then_m, m_then_s);
}

/* ---- signals ---- */

static void waits_s_then_t(void)
{
    wait_for(&s);
    wait_for(&t);
}

static void waits_t_then_s(void)
{
    wait_for(&t);
    wait_for(&s);
}

static void signals(unsigned value)
{
    make(&s, value);
    make(&t, value);
    for (int i = 0; i < 2; i++) {
        post(&s);
        post(&t);
    }
    in_turn(waits_s_then_t, waits_t_then_s);
}

/* A buffer for one: who puts waits for room, who gets makes it. Both nest
 * their lock inside, in a way that would be an inversion. */
static void put_one(void)
{
    wait_for(&s);
    lock(&m);
    unlock(&m);
    post(&items);
}

static void get_one(void)
{
    wait_for(&items);
    post(&s);
}

static void put_under_m(void)
{
    lock(&m);
    wait_for(&s);
    unlock(&m);
    post(&items);
}

static void buffer(void)
{
    make(&s, 1);
    make(&items, 0);
    in_turn(put_one, get_one);
    in_turn(put_one, get_one);
    in_turn(put_under_m, get_one);
}

/* Used as a lock for long, then posted by another thread: what was taken as an
 * order is none, and nobody holds it. */
static void takes_s_for_good(void)
{
    wait_for(&s);
}

static void posts_s(void)
{
    post(&s);
}

static void *takes_s_and_nests(void *flags)
{
    int *flag = flags;

    wait_for(&s);
    set_flag(&flag[0]);
    wait_flag(&flag[1]);
    lock(&m); /* s was given away */
    unlock(&m);
    return NULL;
}

static void handed_over(void)
{
    static int flag[2];
    pthread_t taker;

    make(&s, 1);
    in_turn(m_then_s, m_then_s);
    taker = go(takes_s_and_nests, flag);
    wait_flag(&flag[0]);
    post(&s);
    set_flag(&flag[1]);
    join(taker);
    in_turn(s_then_m, m_then_s);
}

/* Taken by a thread that has ended, posted by nobody that can be seen. */
static void grows(void)
{
    make(&s, 1);
    in_turn(takes_s_for_good, posts_s);
    post(&s);
    CHECK(value_of(&s) == 2);
    in_turn(s_then_m, m_then_s);
}

static void counting(void)
{
    make(&s, 2);
    make(&t, 3);
    in_turn(s_then_t, t_then_s);
    CHECK(value_of(&s) == 2 && value_of(&t) == 3);
}

/* ---- handlers ---- */

static sem_t *from_handler;

static void on_signal(int signal)
{
    (void)signal;
    post(from_handler);
}

static void handle(int flags)
{
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = flags };

    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
}

/* Waits, and a handler of the same thread posts. */
static void *waits_twice(void *flag)
{
    lock(&m);
    wait_for(&s);
    unlock(&m);
    set_flag(flag);
    wait_for(&s);
    lock(&m);
    unlock(&m);
    return NULL;
}

/* The number of waiters is in glibc's second word. */
static void wait_for_waiter(sem_t *sem)
{
    while (!__atomic_load_n((unsigned *)(void *)sem + 1, __ATOMIC_RELAXED))
        sched_yield();
}

static void posted_in_wait(void)
{
    static int has_one;
    pthread_t waiter;

    make(&s, 1);
    from_handler = &s;
    handle(SA_RESTART);
    waiter = go(waits_twice, &has_one);
    wait_flag(&has_one);
    wait_for_waiter(&s);
    CHECK(pthread_kill(waiter, SIGUSR1) == 0);
    join(waiter);
}

static void under_m_raised(void)
{
    lock(&m);
    wait_for(&s);
    raise(SIGUSR1);
    unlock(&m);
}

static void raised_then_m(void)
{
    wait_for(&s);
    lock(&m);
    unlock(&m);
    raise(SIGUSR1);
}

static void posted_by_handler(void)
{
    make(&s, 1);
    from_handler = &s;
    handle(0);
    for (int i = 0; i < 20; i++)
        in_turn(under_m_raised, raised_then_m);
    CHECK(value_of(&s) == 1);
}

/* A handler that comes between any two instructions: it posts a signal, tries a
 * lock of its own, and the one that it interrupts. */
static sem_t own;
static volatile int nticks;

static void on_tick(int signal)
{
    int saved = errno;

    (void)signal;
    nticks++;
    post(&items);
    if (sem_trywait(&own) == 0)
        post(&own);
    if (nticks % 2 == 0 && sem_trywait(&t) == 0)
        post(&t);
    errno = saved;
}

static void storm(void)
{
    struct itimerval often = { { 0, 200 }, { 0, 200 } }, never = { 0 };
    struct sigaction action = { .sa_handler = on_tick, .sa_flags = SA_RESTART };

    make(&s, 1);
    make(&t, 1);
    make(&own, 1);
    make(&items, 0);
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
    while (nticks < 300) {
        s_then_t();
        m_then_s();
        s_then_t();
    }
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
    CHECK(value_of(&s) == 1 && value_of(&t) == 1 && value_of(&own) == 1);
    CHECK(value_of(&items) == nticks);
}

/* The least signal stack that programs use. */
static void *posts_on_small_stack(void *unused)
{
    static char memory[8192];
    stack_t small = { .ss_sp = memory, .ss_size = sizeof memory };

    CHECK(sigaltstack(&small, NULL) == 0);
    for (int i = 0; i < 4; i++) {
        wait_for(&s);
        raise(SIGUSR1);
    }
    return unused;
}

static void small_stack(void)
{
    make(&s, 1);
    from_handler = &s;
    handle(SA_ONSTACK);
    join(go(posts_on_small_stack, NULL));
    CHECK(value_of(&s) == 1);
}

/* ---- cancellation ---- */

static int is_waiting, is_cleaned;

static void clean_up(void *unused)
{
    (void)unused;
    lock(&m); /* not under s */
    unlock(&m);
    set_flag(&is_cleaned);
}

static void *waits_for_good(void *unused)
{
    pthread_cleanup_push(clean_up, NULL);
    set_flag(&is_waiting);
    wait_for(&s);
    pthread_cleanup_pop(0);
    return unused;
}

static void is_cancelled(pthread_t thread)
{
    void *result;

    CHECK(pthread_cancel(thread) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    CHECK(is_cleaned);
}

static void cancelled(void)
{
    pthread_t waiter;

    make(&s, 1);
    in_turn(m_then_s, m_then_s);
    wait_for(&s);
    waiter = go(waits_for_good, NULL);
    wait_for_waiter(&s);
    is_cancelled(waiter);
    post(&s);
    CHECK(value_of(&s) == 1);
}

/* A cancellation that is pending acts though the semaphore is free. */
static void *waits_when_cancelled(void *flag)
{
    pthread_cleanup_push(clean_up, NULL);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    set_flag(&is_waiting);
    wait_flag(flag);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    wait_for(&s);
    pthread_cleanup_pop(0);
    return NULL;
}

static void pending(void)
{
    static int go_on;
    pthread_t waiter;
    void *result;

    make(&s, 1);
    in_turn(m_then_s, m_then_s);
    waiter = go(waits_when_cancelled, &go_on);
    wait_flag(&is_waiting);
    CHECK(pthread_cancel(waiter) == 0);
    set_flag(&go_on);
    CHECK(pthread_join(waiter, &result) == 0 && result == PTHREAD_CANCELED);
    CHECK(is_cleaned && value_of(&s) == 1);
}

/* ---- what calls return ---- */

static void interrupts(int signal)
{
    (void)signal;
}

static void *waits_interrupted(void *unused)
{
    errno = 0;
    CHECK(sem_wait(&s) == -1 && errno == EINTR);
    return unused;
}

static void interrupted(void)
{
    struct sigaction action = { .sa_handler = interrupts };
    pthread_t waiter;

    CHECK(sigaction(SIGUSR2, &action, NULL) == 0);
    make(&s, 1);
    wait_for(&s);
    waiter = go(waits_interrupted, NULL);
    wait_for_waiter(&s);
    CHECK(pthread_kill(waiter, SIGUSR2) == 0);
    join(waiter);
    post(&s);
}

static void results_of(sem_t *sem)
{
    const struct timespec past = { 1, 0 }, wrong = { 1, 2000000000 };

    errno = 77;
    CHECK(sem_trywait(sem) == 0 && errno == 77);
    CHECK(sem_post(sem) == 0 && errno == 77);
    CHECK(sem_wait(sem) == 0 && errno == 77);
    CHECK(value_of(sem) == 0);
    CHECK(sem_trywait(sem) == -1 && errno == EAGAIN);
    CHECK(sem_timedwait(sem, &past) == -1 && errno == ETIMEDOUT);
    CHECK(sem_timedwait(sem, &wrong) == -1 && errno == EINVAL);
    CHECK(sem_clockwait(sem, CLOCK_MONOTONIC, &past) == -1 &&
          errno == ETIMEDOUT);
    CHECK(sem_clockwait(sem, -1, &past) == -1 && errno == EINVAL);
    errno = 77;
    CHECK(sem_post(sem) == 0 && errno == 77 && value_of(sem) == 1);
    CHECK(sem_timedwait(sem, &past) == 0 && errno == 77);
    CHECK(sem_post(sem) == 0 && errno == 77);
}

static void results(void)
{
    make(&s, 1);
    for (int i = 0; i < 40; i++)
        results_of(&s);
    CHECK(sem_init(&t, 0, (unsigned)SEM_VALUE_MAX + 1) == -1 &&
          errno == EINVAL);
    make(&t, SEM_VALUE_MAX);
    CHECK(sem_post(&t) == -1 && errno == EOVERFLOW);
    interrupted();
}

/* Old programs ask for an older version. */
static void versions(void)
{
    static const char *const names[] = { "sem_init",      "sem_destroy",
                                         "sem_wait",      "sem_trywait",
                                         "sem_timedwait", "sem_post" };
    Dl_info first, now, old;

    CHECK(dladdr(dlsym(RTLD_DEFAULT, "pthread_mutex_lock"), &first));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CHECK(dladdr(dlvsym(RTLD_DEFAULT, names[i], "GLIBC_2.34"), &now));
        CHECK(dladdr(dlvsym(RTLD_DEFAULT, names[i], "GLIBC_2.2.5"), &old));
        CHECK(now.dli_fbase == first.dli_fbase);
        CHECK(old.dli_fbase == first.dli_fbase);
    }
}

/* ---- fork ---- */

static void inherited(void)
{
    pid_t pid;
    int status;

    make(&s, 1);
    in_turn(m_then_s, m_then_s);
    wait_for(&s);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) { /* its only thread holds s: s, m; and then m, s */
        lock(&m);
        unlock(&m);
        post(&s);
        in_turn(m_then_s, s_then_m);
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    post(&s);
}

/* ---- asked for by its taker ---- */

static void take_and_return(int times)
{
    make(&s, 1);
    for (int i = 0; i < times; i++) {
        wait_for(&s);
        post(&s);
    }
    wait_for(&s);
}

static void relocked(void)
{
    take_and_return(3);
    wait_for(&s);
}

static void relocked_at_once(void)
{
    take_and_return(0);
    wait_for(&s);
}

static void *posts_to_waiter(void *unused)
{
    wait_for_waiter(&s);
    post(&s);
    return unused;
}

/* Another thread is there to post. */
static void relocked_beside(void)
{
    pthread_t poster;

    take_and_return(3);
    poster = go(posts_to_waiter, NULL);
    wait_for(&s);
    join(poster);
}

/* A handler is. */
static void relocked_above_handler(void)
{
    struct sigaction action = { .sa_handler = on_signal,
                                .sa_flags = SA_RESTART };

    from_handler = &s;
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    take_and_return(0);
    CHECK(ualarm(1000, 0) == 0);
    wait_for(&s);
}

static void relocked_for_a_time(void)
{
    const struct timespec past = { 1, 0 };

    take_and_return(3);
    CHECK(sem_timedwait(&s, &past) == -1 && errno == ETIMEDOUT);
    CHECK(sem_trywait(&s) == -1 && errno == EAGAIN);
    post(&s);
}

/* ---- a place that tries, and waits when that fails ---- */

static __attribute__((noinline)) void acquire(sem_t *sem)
{
    if (sem_trywait(sem) != 0)
        wait_for(sem);
}

static void *acquires(void *sem)
{
    acquire(sem);
    post(sem);
    return NULL;
}

/* Makes acquire() wait once. */
static void contend(sem_t *sem)
{
    pthread_t other;

    wait_for(sem);
    other = go(acquires, sem);
    wait_for_waiter(sem);
    post(sem);
    join(other);
}

static void acquire_s_then_t(void)
{
    acquire(&s);
    acquire(&t);
    post(&t);
    post(&s);
}

static void acquire_t_then_s(void)
{
    acquire(&t);
    acquire(&s);
    post(&s);
    post(&t);
}

static void tries_then_waits(void)
{
    static sem_t other;

    make(&other, 1);
    contend(&other);
    make(&s, 1);
    make(&t, 1);
    in_turn(acquire_s_then_t, acquire_t_then_s);
}

/* The inner one is busy both times. */
static void waits_both_times(void)
{
    static int go_on;
    struct part first = { acquire_s_then_t, NULL, 0 };
    struct part second = { acquire_t_then_s, &go_on, 0 };
    pthread_t one, two;

    make(&s, 1);
    make(&t, 1);
    wait_for(&t);
    one = go(run_part, &first);
    two = go(run_part, &second);
    wait_for_waiter(&t);
    post(&t);
    wait_flag(&first.done);
    wait_for(&s);
    set_flag(&go_on);
    wait_for_waiter(&s);
    post(&s);
    join(one);
    join(two);
}

/* Backs off: what is waited for is waited for with nothing held. */
static void take_both(sem_t *first, sem_t *second)
{
    while (1) {
        wait_for(first);
        if (sem_trywait(second) == 0)
            break;
        post(first);
        wait_for(second);
        if (sem_trywait(first) == 0)
            break;
        post(second);
    }
    post(first);
    post(second);
}

static void *take_both_often(void *forward)
{
    for (int i = 0; i < 2000; i++)
        take_both(forward ? &s : &t, forward ? &t : &s);
    return NULL;
}

static void backs_off(void)
{
    pthread_t one, two;

    make(&s, 1);
    make(&t, 1);
    one = go(take_both_often, &s);
    two = go(take_both_often, NULL);
    join(one);
    join(two);
    wait_for(&s); /* and once for sure, s busy */
    wait_for(&t);
    CHECK(sem_trywait(&s) == -1);
    post(&t);
    post(&s);
}

/* ---- many ---- */

enum { MANY = 3000 };

static void *makes_many(void *mine)
{
    sem_t *many = mine;

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MANY; i++)
            make(&many[i], 1);
        for (int i = 1; i < MANY; i++) {
            wait_for(&many[i - 1]);
            wait_for(&many[i]);
            post(&many[i]);
            post(&many[i - 1]);
        }
        for (int i = 0; i < MANY; i++)
            CHECK(sem_destroy(&many[i]) == 0);
    }
    return NULL;
}

static void many(void)
{
    static sem_t all[4][MANY];
    pthread_t thread[4];

    for (int i = 0; i < 4; i++)
        thread[i] = go(makes_many, all[i]);
    for (int i = 0; i < 4; i++)
        join(thread[i]);
    nested_both_ways();
}

/* ---- a lock and a mutex, both kinds of gate ---- */

static void n_m_under_s(void)
{
    wait_for(&s);
    nest(&n, &m);
    post(&s);
}

static void m_n_under_s(void)
{
    wait_for(&s);
    nest(&m, &n);
    post(&s);
}

static void gate(void)
{
    make(&s, 1);
    in_turn(n_m_under_s, m_n_under_s);
}

static void signals_from_none(void)
{
    signals(0);
}

static void signals_from_one(void)
{
    signals(1);
}

static const struct {
    const char *name;
    void (*run)(void);
} modes[] = {
    { "nested-both-ways", nested_both_ways },
    { "with-a-mutex", with_a_mutex },
    { "tried", tried },
    { "tried-outside", tried_outside },
    { "timed", timed },
    { "without-init", without_init },
    { "made-again", made_again },
    { "beside-ended", beside_ended },
    { "signals", signals_from_none },
    { "signals-from-one", signals_from_one },
    { "buffer", buffer },
    { "handed-over", handed_over },
    { "grows", grows },
    { "counting", counting },
    { "posted-in-wait", posted_in_wait },
    { "posted-by-handler", posted_by_handler },
    { "storm", storm },
    { "small-stack", small_stack },
    { "cancelled", cancelled },
    { "pending", pending },
    { "results", results },
    { "versions", versions },
    { "inherited", inherited },
    { "relocked", relocked },
    { "relocked-at-once", relocked_at_once },
    { "relocked-beside", relocked_beside },
    { "relocked-above-handler", relocked_above_handler },
    { "relocked-for-a-time", relocked_for_a_time },
    { "tries-then-waits", tries_then_waits },
    { "waits-both-times", waits_both_times },
    { "backs-off", backs_off },
    { "many", many },
    { "gate", gate },
};

int main(int argc, char **argv)
{
    (void)argc;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (is_mode(argv, modes[i].name))
            modes[i].run();
    return 0;
}
