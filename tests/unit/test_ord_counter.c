/* SPDX-License-Identifier: MIT
 * test_ord_counter.c - a locked, a sharded and an unsafe counter. */
#include "ord/counter.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ord_race.h"

enum { NTHREADS = 8, NTIMES = 5000 };

static struct ord_counter_locked locked = ORD_COUNTER_LOCKED_INIT;
static struct ord_counter_sharded sharded = ORD_COUNTER_SHARDED_INIT;
static struct ord_counter_unsafe unsafe = ORD_COUNTER_UNSAFE_INIT;

static int setup(void **state)
{
    (void)state;
    ord_counter_locked_init(&locked);
    ord_counter_sharded_init(&sharded);
    ord_counter_unsafe_init(&unsafe);
    return 0;
}

static void *add_to_all(void *arg)
{
    (void)arg;
    for (int i = 0; i < NTIMES; i++) {
        ord_counter_locked_add(&locked, 1);
        ord_counter_sharded_add(&sharded, 1);
        ord_counter_unsafe_add(&unsafe, 1);
    }
    return NULL;
}

static void safe_counters_count_every_increment(void **state)
{
    (void)state;
    race_run(NTHREADS, add_to_all, NULL);
    assert_int_equal(ord_counter_locked_read(&locked), NTHREADS * NTIMES);
    assert_int_equal(ord_counter_sharded_read(&sharded), NTHREADS * NTIMES);
    assert_in_range(ord_counter_unsafe_read(&unsafe), 1, NTHREADS * NTIMES);
}

static void counters_go_down_too(void **state)
{
    (void)state;
    ord_counter_locked_add(&locked, -3);
    ord_counter_sharded_add(&sharded, -3);
    ord_counter_unsafe_add(&unsafe, -3);
    assert_int_equal(ord_counter_locked_read(&locked), -3);
    assert_int_equal(ord_counter_sharded_read(&sharded), -3);
    assert_int_equal(ord_counter_unsafe_read(&unsafe), -3);
}

static void more_threads_than_shards_lose_nothing(void **state)
{
    (void)state;
    race_run(RACE_MAX, add_to_all, NULL);
    race_run(RACE_MAX, add_to_all, NULL);
    assert_int_equal(ord_counter_sharded_read(&sharded), 2 * RACE_MAX * NTIMES);
}

static void two_increments_that_meet_count_as_one(void **state)
{
    (void)state;
    for (int i = 1; i <= 50; i++) {
        assert_int_equal(ord_counter_lose_update(&unsafe), 0);
        assert_int_equal(ord_counter_unsafe_read(&unsafe), i);
    }
}

static void a_locked_counter_can_be_destroyed_and_made_anew(void **state)
{
    struct ord_counter_locked own = ORD_COUNTER_LOCKED_INIT;

    (void)state;
    ord_counter_locked_add(&own, 2);
    assert_int_equal(ord_counter_locked_destroy(&own), 0);
    ord_counter_locked_init(&own);
    assert_int_equal(ord_counter_locked_read(&own), 0);
    assert_int_equal(ord_counter_locked_destroy(&own), 0);
}

static void *take_and_give_until(void *arg)
{
    const ord_ns *end = arg;

    while (ord_now() < *end) {
        ord_counter_locked_add(&locked, 5);
        ord_counter_sharded_add(&sharded, 5);
        assert_true(ord_counter_locked_read(&locked) >= 5);
        assert_true(ord_counter_sharded_read(&sharded) >= 5);
        ord_counter_locked_add(&locked, -5);
        ord_counter_sharded_add(&sharded, -5);
    }
    return NULL;
}

static void what_is_taken_is_given_back_under_stress(void **state)
{
    ord_ns end = race_end();

    (void)state;
    race_run(4, take_and_give_until, &end);
    assert_int_equal(ord_counter_locked_read(&locked), 0);
    assert_int_equal(ord_counter_sharded_read(&sharded), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(safe_counters_count_every_increment, setup),
        cmocka_unit_test_setup(counters_go_down_too, setup),
        cmocka_unit_test_setup(more_threads_than_shards_lose_nothing, setup),
        cmocka_unit_test_setup(two_increments_that_meet_count_as_one, setup),
        cmocka_unit_test(a_locked_counter_can_be_destroyed_and_made_anew),
        cmocka_unit_test_setup(what_is_taken_is_given_back_under_stress, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
