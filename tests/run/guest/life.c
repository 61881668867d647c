/* SPDX-License-Identifier: MIT
 *
 * life.c - threads and locks at the edges of their lives: joined long after
 * they ended, held over a chunk's border, gone while held, waited on without
 * being held.
 */
#include <sys/mman.h>

#include "guest.h"

static mutex_t a = MUTEX, b = MUTEX;

/* ---- joined late ---- */

enum { NEARLY = 100, NLATE = 60 };

static int tids[NEARLY], stop;

static void *nests_and_exits(void *argument)
{
    int *tid = argument;

    nest(&a, &b);
    *tid = (int)syscall(SYS_gettid);
    pthread_exit(argument);
}

static void *stays(void *unused)
{
    wait_flag(&stop);
    return unused;
}

/* Many threads have ended by pthread_exit, many more are made, and only then
 * the first are joined: what follows still comes after them. */
static void late_join(void)
{
    struct nesting reverse = { &b, &a, NULL, 0 };
    pthread_t early[NEARLY], late[NLATE];

    for (int i = 0; i < NEARLY; i++)
        early[i] = go(nests_and_exits, &tids[i]);
    for (int i = 0; i < NEARLY; i++)
        while (!__atomic_load_n(&tids[i], __ATOMIC_RELAXED) ||
               syscall(SYS_tgkill, getpid(), tids[i], 0) == 0)
            sched_yield();
    for (int i = 0; i < NLATE; i++)
        late[i] = go(stays, NULL);
    for (int i = 0; i < NEARLY; i++)
        join(early[i]);
    join(go(nest_thread, &reverse));
    set_flag(&stop);
    for (int i = 0; i < NLATE; i++)
        join(late[i]);
}

/* ---- a chunk's border ---- */

static int released;

static void *reverse_of_border(void *mutex)
{
    wait_flag(&released);
    nest(&b, mutex);
    return NULL;
}

/* With 62 locks held, the next one starts a chunk. A request that is known
 * there is judged again once another thread could meet it. */
static void border(void)
{
    static mutex_t m[62];
    pthread_t t = 0;

    for (int i = 0; i < 62; i++)
        lock(&m[i]);
    for (int round = 0; round < 50; round++) {
        if (round == 25)
            t = go(reverse_of_border, &m[61]);
        lock(&b);
        unlock(&b);
    }
    for (int i = 0; i < 62; i++)
        unlock(&m[i]);
    set_flag(&released);
    join(t);
}

/* ---- gone while held ---- */

static void unmapped(void)
{
    for (int round = 0; round < 40; round++) {
        mutex_t *gone =
            mmap((void *)0x600000000000, 4096, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        pthread_mutex_init(gone, NULL);
        if (round % 2)
            unlock((lock(gone), gone));
        lock(gone);
        munmap(gone, 4096);
        nest(&a, &b);
    }
}

/* ---- waited on without being held ---- */

static void not_held(void)
{
    static const struct timespec past = { 1, 0 };
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    struct nesting reverse = { &b, &a, NULL, 0 };
    pthread_mutexattr_t attr;
    pthread_t t;

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&a, &attr);
    t = go(nest_thread, &reverse);
    wait_flag(&reverse.done);
    CHECK(pthread_cond_wait(&cond, &a) == EPERM);
    CHECK(pthread_cond_timedwait(&cond, &a, &past) == EPERM);
    CHECK(pthread_cond_clockwait(&cond, &a, CLOCK_MONOTONIC, &past) == EPERM);
    lock(&b); /* a is not held */
    unlock(&b);
    join(t);
}

/* A wait that fails before it began leaves the mutex held. */
static void still_held(void)
{
    static const struct timespec broken = { 1, -1 };
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    struct nesting reverse = { &b, &a, NULL, 0 };
    pthread_t t = go(nest_thread, &reverse);

    wait_flag(&reverse.done);
    lock(&a);
    CHECK(pthread_cond_timedwait(&cond, &a, &broken) == EINVAL);
    lock(&b);
    unlock(&b);
    unlock(&a);
    join(t);
}

int main(int argc, char **argv)
{
    if (is_mode(argv, "late-join"))
        late_join();
    if (is_mode(argv, "border"))
        border();
    if (is_mode(argv, "unmapped"))
        unmapped();
    if (is_mode(argv, "not-held"))
        not_held();
    if (is_mode(argv, "still-held"))
        still_held();
    (void)argc;
    return 0;
}
