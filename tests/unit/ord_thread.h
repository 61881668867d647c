/* SPDX-License-Identifier: MIT
 *
 * ord_thread.h - single threads for the tests of libord, beside ord_race.h.
 *
 * A thread returns a number, made by result(). Orders are made by joins and by
 * eventually(), which looks again and again at a predicate.
 */
#ifndef ORD_THREAD_H
#define ORD_THREAD_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ord/base.h"
#include "ord_race.h"

static inline void *result(int number)
{
    return (void *)(intptr_t)number;
}

static inline void start(pthread_t *thread, void *(*run)(void *), void *arg)
{
    assert_int_equal(pthread_create(thread, NULL, run, arg), 0);
}

static inline int join(pthread_t thread)
{
    void *number;

    assert_int_equal(pthread_join(thread, &number), 0);
    return (int)(intptr_t)number;
}

/* What run returns in a thread of its own. */
static inline int in_a_thread(void *(*run)(void *), void *arg)
{
    pthread_t thread;

    start(&thread, run, arg);
    return join(thread);
}

static inline void eventually(int (*predicate)(void *), void *arg)
{
    ord_ns end = ord_deadline_after(10 * ORD_SECOND);

    while (!predicate(arg)) {
        assert_true(ord_now() < end);
        sched_yield();
    }
}

/* ThreadSanitizer reports who releases what is not held or destroys what is; a
 * test that does it on purpose is skipped there. */
static inline void skip_if_tsan_would_report(void)
{
#ifdef __SANITIZE_THREAD__
    skip();
#endif
}

#endif
