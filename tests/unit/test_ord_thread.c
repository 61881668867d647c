/* SPDX-License-Identifier: MIT
 * test_ord_thread.c - a thread with a result, and a periodic one. */
#include <errno.h>
#include <semaphore.h>

#include "ord_threads.h"

#include "ord/thread.h"

static int add_one(void *arg, void **result)
{
    *result = item_of((uintptr_t)arg + 1);
    return arg ? 0 : ENOENT;
}

static int wait_for_post(void *arg, void **result)
{
    (void)result;
    sem_wait(arg);
    return 0;
}

static int join_itself(void *arg, void **result)
{
    int error;

    return ord_thread_join(arg, &error, result, ORD_NEVER);
}

static void a_thread_hands_over_its_result_or_its_error(void **state)
{
    struct ord_thread t;
    int error = -1;
    void *result = NULL;

    (void)state;
    assert_int_equal(ord_thread_start(&t, add_one, item_of(4)), 0);
    assert_int_equal(ord_thread_join(&t, &error, &result, ORD_NEVER), 0);
    assert_int_equal(error, 0);
    assert_ptr_equal(result, item_of(5));
    assert_int_equal(ord_thread_start(&t, add_one, NULL), 0);
    assert_int_equal(ord_thread_join(&t, &error, &result, ORD_NEVER), 0);
    assert_int_equal(error, ENOENT);
}

static void a_join_ends_at_its_deadline_and_may_be_tried_again(void **state)
{
    struct ord_thread t;
    ord_ns deadline = ord_deadline_after(3 * ORD_MS);
    sem_t post;
    int error = -1;
    void *result = NULL;

    (void)state;
    sem_init(&post, 0, 0);
    assert_int_equal(ord_thread_start(&t, wait_for_post, &post), 0);
    assert_int_equal(ord_thread_join(&t, &error, &result, deadline), ETIMEDOUT);
    assert_true(ord_now() >= deadline);
    assert_int_equal(error, -1);
    sem_post(&post);
    assert_int_equal(ord_thread_join(&t, &error, &result, ORD_NEVER), 0);
    assert_int_equal(error, 0);
    sem_destroy(&post);
}

static void a_thread_that_joins_itself_is_refused(void **state)
{
    struct ord_thread t;
    int error = -1;
    void *result = NULL;

    (void)state;
    assert_int_equal(ord_thread_start(&t, join_itself, &t), 0);
    assert_int_equal(ord_thread_join(&t, &error, &result, ORD_NEVER), 0);
    assert_int_equal(error, EDEADLK);
}

static void post(void *arg)
{
    sem_post(arg);
}

static void a_periodic_thread_runs_again_and_again_until_stopped(void **state)
{
    struct ord_periodic p;
    ord_ns began = ord_now();
    sem_t runs;

    (void)state;
    sem_init(&runs, 0, 0);
    assert_int_equal(ord_periodic_start(&p, 0, post, &runs), EINVAL);
    assert_int_equal(ord_periodic_start(&p, ORD_MS, post, &runs), 0);
    for (int i = 0; i < 5; i++)
        sem_wait(&runs);
    assert_true(ord_now() - began >= 5 * ORD_MS);
    assert_true(ord_periodic_nruns(&p) >= 5);
    assert_int_equal(ord_periodic_stop(&p, ORD_NEVER), 0);
    sem_destroy(&runs);
}

static void stop_does_not_wait_for_the_period(void **state)
{
    struct ord_periodic p;
    sem_t runs;

    (void)state;
    sem_init(&runs, 0, 0);
    assert_int_equal(ord_periodic_start(&p, 3600 * ORD_SECOND, post, &runs), 0);
    assert_int_equal(ord_periodic_nruns(&p), 0);
    assert_int_equal(ord_periodic_stop(&p, ord_deadline_after(PATIENCE)), 0);
    assert_int_equal(sem_trywait(&runs), -1);
    sem_destroy(&runs);
}

/* A call that lasts until the test lets it go. */
struct slow {
    struct ord_periodic periodic;
    sem_t entered;
    sem_t open;
    int stop_inside;
    int rc;
};

static void be_slow(void *arg)
{
    struct slow *s = arg;

    sem_post(&s->entered);
    sem_wait(&s->open);
    if (s->stop_inside)
        s->rc = ord_periodic_stop(&s->periodic, ORD_NEVER);
}

static void start_slow(struct slow *s)
{
    sem_init(&s->entered, 0, 0);
    sem_init(&s->open, 0, 0);
    assert_int_equal(ord_periodic_start(&s->periodic, ORD_MS, be_slow, s), 0);
    sem_wait(&s->entered);
}

static void end_slow(struct slow *s)
{
    assert_int_equal(ord_periodic_stop(&s->periodic, ORD_NEVER), 0);
    sem_destroy(&s->entered);
    sem_destroy(&s->open);
}

static void stop_times_out_while_a_call_runs(void **state)
{
    struct slow s = { .rc = -1 };

    (void)state;
    start_slow(&s);
    assert_int_equal(ord_periodic_stop(&s.periodic, ord_deadline_after(ORD_MS)),
                     ETIMEDOUT);
    sem_post(&s.open);
    end_slow(&s);
}

static void stop_in_its_own_call_asks_and_is_refused(void **state)
{
    struct slow s = { .stop_inside = 1, .rc = -1 };

    (void)state;
    start_slow(&s);
    sem_post(&s.open);
    end_slow(&s);
    assert_int_equal(s.rc, EDEADLK);
}

static void instants_that_pass_in_a_call_are_skipped_and_counted(void **state)
{
    struct slow s = { .rc = -1 };
    ord_ns until;

    (void)state;
    start_slow(&s);
    until = ord_deadline_after(5 * ORD_MS);
    while (ord_now() < until)
        sched_yield();
    sem_post(&s.open);
    sem_wait(&s.entered);
    assert_true(ord_periodic_nskipped(&s.periodic) >= 2);
    assert_int_equal(ord_periodic_nruns(&s.periodic), 2);
    ord_periodic_ask_stop(&s.periodic);
    sem_post(&s.open);
    end_slow(&s);
}

static void count(void *arg)
{
    __atomic_fetch_add((uint64_t *)arg, 1, __ATOMIC_RELAXED);
}

static void stress_starts_and_stops(void **state)
{
    ord_ns end = race_end();

    (void)state;
    while (ord_now() < end) {
        struct ord_periodic p[4];
        uint64_t n = 0;
        uint64_t runs = 0;

        for (int i = 0; i < 4; i++)
            assert_int_equal(ord_periodic_start(&p[i], ORD_US, count, &n), 0);
        for (int i = 0; i < 4; i++) {
            assert_int_equal(ord_periodic_stop(&p[i], ORD_NEVER), 0);
            runs += p[i].nruns;
        }
        assert_int_equal(runs, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_hands_over_its_result_or_its_error),
        cmocka_unit_test(a_join_ends_at_its_deadline_and_may_be_tried_again),
        cmocka_unit_test(a_thread_that_joins_itself_is_refused),
        cmocka_unit_test(a_periodic_thread_runs_again_and_again_until_stopped),
        cmocka_unit_test(stop_does_not_wait_for_the_period),
        cmocka_unit_test(stop_times_out_while_a_call_runs),
        cmocka_unit_test(stop_in_its_own_call_asks_and_is_refused),
        cmocka_unit_test(instants_that_pass_in_a_call_are_skipped_and_counted),
        cmocka_unit_test(stress_starts_and_stops),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
