/* SPDX-License-Identifier: MIT
 *
 * signals.c - handlers that lock between any two instructions of a hook, and
 * handlers that leave a lock call by siglongjmp.
 */
#include <setjmp.h>
#include <sys/time.h>

#include "guest.h"

static mutex_t a = MUTEX, b = MUTEX;

static void timer_us(long us)
{
    struct itimerval t = { { 0, us }, { 0, us } };

    CHECK(setitimer(ITIMER_REAL, &t, NULL) == 0);
}

static void handle(int signal, void (*handler)(int))
{
    struct sigaction action = { .sa_handler = handler };

    CHECK(sigaction(signal, &action, NULL) == 0);
}

static void only_here(int how, int signal)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, signal);
    pthread_sigmask(how, &set, NULL);
}

/* ---- a handler with mutexes of its own ---- */

static mutex_t own_a = MUTEX, own_b = MUTEX;
static volatile int nticks;

static void tick(int signal)
{
    (void)signal;
    nticks++;
    if (nticks % 4 == 0) {
        nest(&own_a, &own_b);
    } else if (pthread_mutex_trylock(&own_a) == 0) {
        unlock(&own_a);
    }
}

/* Nests many locks in many ways: known requests, new ones, other orders of
 * release, and a condition's. */
static void work(void)
{
    static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    static const struct timespec past = { 1, 0 };
    static mutex_t m[64];
    mutex_t fresh;
    static int round;
    int from = round++ % 60;

    nest(&a, &b);
    lock(&m[from]);
    nest(&m[from + 1], &m[from + 2]);
    lock(&m[from + 3]);
    unlock(&m[from]);
    pthread_cond_timedwait(&cond, &m[from + 3], &past);
    unlock(&m[from + 3]);
    pthread_mutex_init(&fresh, NULL);
    nest(&a, &fresh);
    pthread_mutex_destroy(&fresh);
}

static void ticking(void)
{
    struct nesting helper = { &a, &b, NULL, 0 };

    handle(SIGALRM, tick);
    timer_us(100);
    while (nticks < 6000)
        work();
    only_here(SIG_BLOCK, SIGALRM); /* new threads do without */
    join(go(nest_thread, &helper));
    timer_us(0);
    invert(&a, &b); /* is still seen */
}

/*
 * Two threads, each with a timer, whose handler takes `own`. With the signal
 * blocked, x is taken under it, and alone; with the signal open, only y. So x
 * is never held where the handler can come.
 */
static mutex_t x = MUTEX, y = MUTEX, own = MUTEX;
static _Thread_local volatile int ticks;

static void tick_own(int signal)
{
    (void)signal;
    ticks++;
    lock(&own);
    unlock(&own);
}

static void *blocked_and_open(void *unused)
{
    timer_t timer;
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID,
                              .sigev_signo = SIGUSR1 };
    struct itimerspec every = { { 0, 50000 }, { 0, 50000 } };

    event._sigev_un._tid = (int)syscall(SYS_gettid);
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    CHECK(timer_settime(timer, 0, &every, NULL) == 0);
    while (ticks < 8000) {
        only_here(SIG_BLOCK, SIGUSR1);
        nest(&own, &x);
        if (pthread_mutex_trylock(&x) == 0)
            unlock(&x);
        only_here(SIG_UNBLOCK, SIGUSR1);
        if (pthread_mutex_trylock(&y) == 0)
            unlock(&y);
    }
    timer_delete(timer);
    return unused;
}

static void stale(void)
{
    pthread_t t, u;

    handle(SIGUSR1, tick_own);
    t = go(blocked_and_open, NULL);
    u = go(blocked_and_open, NULL);
    join(t);
    join(u);
}

/* ---- siglongjmp out of a lock call ---- */

static mutex_t busy = MUTEX;
static sigjmp_buf back;
static volatile int inside, stop;
static int holding;

static void leave(int signal)
{
    (void)signal;
    if (inside) {
        inside = 0;
        siglongjmp(back, 1);
    }
}

static void *holder(void *main_thread)
{
    lock(&busy);
    set_flag(&holding);
    while (!stop) {
        if (inside)
            pthread_kill(*(pthread_t *)main_thread, SIGUSR1);
        sched_yield();
    }
    unlock(&busy);
    return NULL;
}

static long resident_kib(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    CHECK(f && fscanf(f, "%*d %ld", &pages) == 1);
    fclose(f);
    return pages * 4;
}

static __attribute__((noinline)) void try_to_lock(void)
{
    if (!sigsetjmp(back, 1)) {
        inside = 1;
        pthread_mutex_lock(&busy);
        CHECK(!"got it");
    }
}

static void jumping(void)
{
    pthread_t self = pthread_self(), t;
    struct nesting other = { &a, &busy, NULL, 0 };
    long before = 0;

    handle(SIGUSR1, leave);
    t = go(holder, &self);
    wait_flag(&holding);
    for (int i = 0; i < 10000; i++) {
        if (i == 1000)
            before = resident_kib();
        try_to_lock();
        nest(&a, &b); /* not under busy */
    }
    if (resident_kib() - before > 400) {
        dprintf(2, "grew by %ld KiB\n", resident_kib() - before);
        _exit(1);
    }
    stop = 1;
    join(t);
    join(go(nest_thread, &other)); /* no ring with busy */
    invert(&a, &b);
}

int main(int argc, char **argv)
{
    if (is_mode(argv, "ticking"))
        ticking();
    if (is_mode(argv, "stale"))
        stale();
    if (is_mode(argv, "jumping"))
        jumping();
    (void)argc;
    return 0;
}
