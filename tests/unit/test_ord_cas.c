/* SPDX-License-Identifier: MIT
 * test_ord_cas.c - one value that is replaced by who knows what it was. */
#include "ord/cas.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ord_race.h"

static void a_set_with_the_right_value_succeeds(void **state)
{
    struct ord_cas price = ORD_CAS_INIT(50);
    int64_t seen = 0;

    (void)state;
    assert_int_equal(ord_cas_compare_and_set(&price, 50, 55, &seen), 0);
    assert_int_equal(seen, 50);
    assert_int_equal(ord_cas_read(&price), 55);
}

static void a_set_with_a_stale_value_changes_nothing(void **state)
{
    struct ord_cas price;
    int64_t seen = 0;

    (void)state;
    ord_cas_init(&price, 55);
    assert_int_equal(ord_cas_compare_and_set(&price, 50, 60, &seen), EAGAIN);
    assert_int_equal(seen, 55);
    assert_int_equal(ord_cas_compare_and_set(&price, 50, 60, NULL), EAGAIN);
    assert_int_equal(ord_cas_read(&price), 55);
}

static int64_t add_one(int64_t value, void *arg)
{
    (void)arg;
    return value + 1;
}

static void an_update_returns_what_it_wrote(void **state)
{
    struct ord_cas value = ORD_CAS_INIT(-1);
    int64_t result = 99;

    (void)state;
    assert_int_equal(ord_cas_update(&value, add_one, NULL, 1, &result), 0);
    assert_int_equal(result, 0);
    assert_int_equal(ord_cas_update(&value, add_one, NULL, 1, NULL), 0);
    assert_int_equal(ord_cas_read(&value), 1);
}

static void an_update_needs_an_attempt(void **state)
{
    struct ord_cas value = ORD_CAS_INIT(7);
    int64_t result = 99;

    (void)state;
    assert_int_equal(ord_cas_update(&value, add_one, NULL, 0, &result), EINVAL);
    assert_int_equal(result, 99);
}

struct rival {
    struct ord_cas value;
    unsigned nmoves; /* how often the rival is faster */
    unsigned ncalls;
};

/* Another writer gets in between, as often as the test wants. */
static int64_t add_ten_too_late(int64_t value, void *arg)
{
    struct rival *rival = arg;

    if (rival->ncalls++ < rival->nmoves)
        ord_cas_init(&rival->value, value + 1);
    return value + 10;
}

static void an_update_tries_again_from_the_new_value(void **state)
{
    struct rival rival = { ORD_CAS_INIT(0), 2, 0 };
    int64_t result;

    (void)state;
    assert_int_equal(
        ord_cas_update(&rival.value, add_ten_too_late, &rival, 3, &result), 0);
    assert_int_equal(result, 12);
    assert_int_equal(rival.ncalls, 3);
}

static void an_update_gives_up_after_its_attempts(void **state)
{
    struct rival rival = { ORD_CAS_INIT(0), 100, 0 };

    (void)state;
    assert_int_equal(
        ord_cas_update(&rival.value, add_ten_too_late, &rival, 3, NULL),
        EAGAIN);
    assert_int_equal(rival.ncalls, 3);
    assert_int_equal(ord_cas_read(&rival.value), 3);
}

struct stress {
    struct ord_cas value;
    ord_ns end;
    int64_t ndone; /* atomic */
};

static void *update_until_the_end(void *arg)
{
    struct stress *stress = arg;
    int64_t ndone = 0;

    while (ord_now() < stress->end)
        if (ord_cas_update(&stress->value, add_one, NULL, 5, NULL) == 0)
            ndone++;
    __atomic_fetch_add(&stress->ndone, ndone, __ATOMIC_RELAXED);
    return NULL;
}

static void no_update_of_many_threads_is_lost(void **state)
{
    struct stress stress = { ORD_CAS_INIT(0), race_end(), 0 };

    (void)state;
    race_run(4, update_until_the_end, &stress);
    assert_true(stress.ndone > 0);
    assert_int_equal(ord_cas_read(&stress.value), stress.ndone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_with_the_right_value_succeeds),
        cmocka_unit_test(a_set_with_a_stale_value_changes_nothing),
        cmocka_unit_test(an_update_returns_what_it_wrote),
        cmocka_unit_test(an_update_needs_an_attempt),
        cmocka_unit_test(an_update_tries_again_from_the_new_value),
        cmocka_unit_test(an_update_gives_up_after_its_attempts),
        cmocka_unit_test(no_update_of_many_threads_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
