/* SPDX-License-Identifier: MIT
 *
 * test_ord_timer.c - once, in time, or never.
 */
#include "ord_thread.h"

#include <errno.h>
#include <stdatomic.h>

#include "ord/timer.h"

static struct ord_timer timer;

/* What the function saw; it may be kept inside. */
static struct {
    int nruns; /* read after a wait */
    ord_ns at;
    int cancel_result, wait_result, destroy_result;
    atomic_int keep_inside, is_inside;
} fired;

static void fire(void *arg)
{
    assert_ptr_equal(arg, &fired);
    fired.nruns++;
    fired.at = ord_now();
    /* These would deadlock if a lock were held: */
    fired.cancel_result = ord_timer_cancel(&timer);
    fired.wait_result = ord_timer_wait(&timer);
    fired.destroy_result = ord_timer_destroy(&timer);
    atomic_store(&fired.is_inside, 1);
    while (atomic_load(&fired.keep_inside))
        sched_yield();
}

static int set_up(void **state)
{
    (void)state;
    fired.nruns = 0;
    atomic_store(&fired.is_inside, 0);
    atomic_store(&fired.keep_inside, 0);
    return 0;
}

static int is_inside(void *unused)
{
    (void)unused;
    return atomic_load(&fired.is_inside);
}

static void set_off_at(ord_ns deadline)
{
    assert_int_equal(ord_timer_start(&timer, deadline, fire, &fired), 0);
}

static void it_fires_once_and_not_before_its_deadline(void **state)
{
    ord_ns deadline = ord_deadline_after(5 * ORD_MS);

    (void)state;
    set_off_at(deadline);
    assert_int_equal(ord_timer_wait(&timer), 0);
    assert_int_equal(fired.nruns, 1);
    assert_true(fired.at >= deadline);
    assert_int_equal(ord_timer_wait(&timer), 0);
    assert_int_equal(ord_timer_cancel(&timer), EALREADY);
    assert_int_equal(ord_timer_destroy(&timer), 0);
}

static void
a_deadline_in_the_past_fires_at_once_and_it_can_start_again(void **state)
{
    (void)state;
    for (int i = 1; i <= 3; i++) {
        set_off_at(0);
        assert_int_equal(ord_timer_wait(&timer), 0);
        assert_int_equal(fired.nruns, i);
        assert_int_equal(ord_timer_destroy(&timer), 0);
    }
}

static void what_is_cancelled_never_fires(void **state)
{
    (void)state;
    set_off_at(ORD_NEVER);
    assert_int_equal(ord_timer_cancel(&timer), 0);
    assert_int_equal(ord_timer_cancel(&timer), EALREADY);
    assert_int_equal(ord_timer_wait(&timer), ECANCELED);
    assert_int_equal(ord_timer_destroy(&timer), 0);
    assert_int_equal(fired.nruns, 0);
}

static void its_function_holds_no_lock_and_is_too_late_to_cancel(void **state)
{
    (void)state;
    set_off_at(0);
    assert_int_equal(ord_timer_wait(&timer), 0);
    assert_int_equal(fired.cancel_result, EALREADY);
    assert_int_equal(fired.wait_result, EDEADLK);
    assert_int_equal(fired.destroy_result, EBUSY);
    assert_int_equal(ord_timer_destroy(&timer), 0);
}

static void it_is_too_late_to_cancel_a_function_that_runs(void **state)
{
    (void)state;
    atomic_store(&fired.keep_inside, 1);
    set_off_at(0);
    eventually(is_inside, NULL);
    assert_int_equal(ord_timer_cancel(&timer), EALREADY);
    assert_int_equal(ord_timer_destroy(&timer), EBUSY);
    assert_int_equal(ord_timer_timedwait(&timer, 0), ETIMEDOUT);
    atomic_store(&fired.keep_inside, 0);
    assert_int_equal(ord_timer_wait(&timer), 0);
    assert_int_equal(ord_timer_destroy(&timer), 0);
}

static void a_pending_timer_is_not_destroyed_and_a_wait_times_out(void **state)
{
    ord_ns deadline = ord_deadline_after(ORD_MS);

    (void)state;
    set_off_at(ORD_NEVER);
    assert_int_equal(ord_timer_destroy(&timer), EBUSY);
    assert_int_equal(ord_timer_timedwait(&timer, deadline), ETIMEDOUT);
    assert_true(ord_now() >= deadline);
    assert_int_equal(ord_timer_cancel(&timer), 0);
    assert_int_equal(ord_timer_destroy(&timer), 0);
}

static void a_timer_without_a_function_is_refused(void **state)
{
    (void)state;
    assert_int_equal(ord_timer_start(&timer, 0, NULL, NULL), EINVAL);
}

static void count(void *counter)
{
    ++*(int *)counter;
}

static void it_either_fires_or_is_cancelled(void **state)
{
    ord_ns end = race_end();

    (void)state;
    for (int i = 0; i < 1 || ord_now() < end; i++) {
        int counter = 0, cancelled;

        assert_int_equal(ord_timer_start(&timer,
                                         ord_deadline_after(i % 40 * ORD_US),
                                         count, &counter),
                         0);
        for (int j = 0; j < i % 7; j++)
            sched_yield();
        cancelled = ord_timer_cancel(&timer) == 0;
        assert_int_equal(ord_timer_wait(&timer), cancelled ? ECANCELED : 0);
        assert_int_equal(counter, !cancelled);
        assert_int_equal(ord_timer_destroy(&timer), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, set_up)
        TEST(it_fires_once_and_not_before_its_deadline),
        TEST(a_deadline_in_the_past_fires_at_once_and_it_can_start_again),
        TEST(what_is_cancelled_never_fires),
        TEST(its_function_holds_no_lock_and_is_too_late_to_cancel),
        TEST(it_is_too_late_to_cancel_a_function_that_runs),
        TEST(a_pending_timer_is_not_destroyed_and_a_wait_times_out),
        TEST(a_timer_without_a_function_is_refused),
        TEST(it_either_fires_or_is_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
