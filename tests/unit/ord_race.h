/* SPDX-License-Identifier: MIT
 * ord_race.h - threads for the tests of libord that race on purpose.
 * To be included after cmocka.h, by one file of a program. */
#ifndef ORD_RACE_H
#define ORD_RACE_H

#include "ord/base.h"

#include <sched.h>
#include <stddef.h>
#include <stdlib.h>

#define RACE_MAX 16

/* What a test adds to TSan's options, as ":name=value". */
#ifndef RACE_TSAN_OPTIONS
#define RACE_TSAN_OPTIONS
#endif

/* A sanitizer's malloc() shall fail as libc's does when asked for too much. */
const char *__asan_default_options(void);
const char *__tsan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}
const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1" RACE_TSAN_OPTIONS;
}

/* When a stress test shall stop: ORD_STRESS_MS from now, or 100 ms. */
static inline ord_ns race_end(void)
{
    const char *ms = getenv("ORD_STRESS_MS");

    return ord_deadline_after((ms ? atoi(ms) : 100) * ORD_MS);
}

/* Runs f(arg) in n threads at once and joins them all. */
static inline void race_run(size_t n, void *(*f)(void *), void *arg)
{
    pthread_t threads[RACE_MAX];

    assert_in_range(n, 1, RACE_MAX);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, f, arg), 0);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* Spins until at least n threads wait for the condition under the mutex. */
static inline void race_await_waiters(struct ord_mutex *mutex,
                                      const struct ord_cond *cond, unsigned n)
{
    ord_ns end = ord_deadline_after(10 * ORD_SECOND);
    unsigned seen = 0;

    while (seen < n && ord_now() < end) {
        ord_mutex_lock(mutex);
        seen = cond->nwaiting;
        ord_mutex_unlock(mutex);
        sched_yield();
    }
    assert_true(seen >= n);
}

#endif
