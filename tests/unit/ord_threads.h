/* SPDX-License-Identifier: MIT
 *
 * ord_threads.h - what the tests of libord's queues and threads share.
 *
 * A crew runs one function in several threads and is joined as one. Nothing
 * sleeps: a test that needs another thread to have begun to wait looks at the
 * count of waiters until it is there, and fails if that takes ten seconds.
 */
#ifndef ORD_THREADS_H
#define ORD_THREADS_H

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ord_race.h"

#define CREW_MAX 16
#define PATIENCE (10 * ORD_SECOND)

/* A small item: its number as a pointer. */
static inline void *item_of(uintptr_t n)
{
    return (void *)n;
}

struct crew {
    pthread_t threads[CREW_MAX];
    int n;
};

static inline void crew_add(struct crew *crew, void *(*run)(void *), void *arg)
{
    assert_true(crew->n < CREW_MAX);
    assert_int_equal(pthread_create(&crew->threads[crew->n++], NULL, run, arg),
                     0);
}

static inline void crew_join(struct crew *crew)
{
    while (crew->n > 0)
        assert_int_equal(pthread_join(crew->threads[--crew->n], NULL), 0);
}

static inline void spin_until(bool (*holds)(void *arg), void *arg)
{
    ord_ns deadline = ord_deadline_after(PATIENCE);

    while (!holds(arg)) {
        assert_true(ord_now() < deadline);
        sched_yield();
    }
}

#endif
