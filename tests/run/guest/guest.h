/* SPDX-License-Identifier: MIT
 *
 * guest.h - what the small programs under the preload share.
 *
 * Threads are put in order by relaxed flags, which the detector does not see
 * and which order nothing: what is found is a fact about the program. A check
 * that fails says where and ends the program with status 1.
 */
#ifndef GUEST_H
#define GUEST_H

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HELPER static inline __attribute__((unused))

#define CHECK(condition)                                                       \
    do {                                                                       \
        if (!(condition)) {                                                    \
            dprintf(2, "%s:%d: %s is false (errno %d)\n", __FILE__, __LINE__,  \
                    #condition, errno);                                        \
            _exit(1);                                                          \
        }                                                                      \
    } while (0)

typedef pthread_mutex_t mutex_t;
#define MUTEX PTHREAD_MUTEX_INITIALIZER

HELPER void set_flag(int *flag)
{
    __atomic_store_n(flag, 1, __ATOMIC_RELAXED);
}

HELPER void wait_flag(int *flag)
{
    while (!__atomic_load_n(flag, __ATOMIC_RELAXED))
        sched_yield();
}

HELPER void lock(mutex_t *m)
{
    CHECK(pthread_mutex_lock(m) == 0);
}

HELPER void unlock(mutex_t *m)
{
    CHECK(pthread_mutex_unlock(m) == 0);
}

/* outer, then inner, and back. */
static __attribute__((noinline, unused)) void nest(mutex_t *outer,
                                                   mutex_t *inner)
{
    lock(outer);
    lock(inner);
    unlock(inner);
    unlock(outer);
}

HELPER pthread_t go(void *(*routine)(void *), void *argument)
{
    pthread_t t;
    int rc = pthread_create(&t, NULL, routine, argument);

    CHECK(rc == 0);
    return t;
}

HELPER void join(pthread_t t)
{
    CHECK(pthread_join(t, NULL) == 0);
}

/* A thread that nests two locks when its flag is set, and sets the other. */
struct nesting {
    mutex_t *outer, *inner;
    int *after, done;
};

static __attribute__((unused)) void *nest_thread(void *argument)
{
    struct nesting *n = argument;

    if (n->after)
        wait_flag(n->after);
    nest(n->outer, n->inner);
    set_flag(&n->done);
    return NULL;
}

/* Two threads, parallel, take the locks in both orders, one after the other:
 * a potential deadlock that never happens. */
HELPER void invert(mutex_t *a, mutex_t *b)
{
    struct nesting first = { a, b, NULL, 0 };
    struct nesting second = { b, a, &first.done, 0 };
    pthread_t t = go(nest_thread, &first), u = go(nest_thread, &second);

    join(t);
    join(u);
}

/* For a program's modes: is this the one? */
HELPER int is_mode(char **argv, const char *mode)
{
    return argv[1] && strcmp(argv[1], mode) == 0;
}

#endif
