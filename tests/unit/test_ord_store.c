/* SPDX-License-Identifier: MIT
 * test_ord_store.c - values by name, with versions. */
#include "ord/store.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ord_race.h"

static struct ord_store store;

static int setup(void **state)
{
    (void)state;
    return ord_store_init(&store, 2);
}

static int teardown(void **state)
{
    (void)state;
    return ord_store_destroy(&store);
}

static void expect(const char *name, int64_t value, uint64_t version)
{
    struct ord_versioned now = { 0, 0 };

    assert_int_equal(ord_store_read(&store, name, &now), 0);
    assert_int_equal(now.value, value);
    assert_int_equal(now.version, version);
}

static int add_one(int64_t value, int64_t *next, void *arg)
{
    (void)arg;
    *next = value + 1;
    return 0;
}

static int refuse(int64_t value, int64_t *next, void *arg)
{
    (void)value;
    (void)next;
    (void)arg;
    return ERANGE;
}

static void each_put_makes_a_version(void **state)
{
    uint64_t version = 0;

    (void)state;
    assert_int_equal(ord_store_put(&store, "price", 50, &version), 0);
    assert_int_equal(version, 1);
    assert_int_equal(ord_store_put(&store, "price", 55, NULL), 0);
    expect("price", 55, 2);
}

static void a_store_without_room_is_refused(void **state)
{
    struct ord_store none;

    (void)state;
    assert_int_equal(ord_store_init(&none, 0), EINVAL);
    assert_int_equal(ord_store_init(&none, SIZE_MAX), ENOMEM);
}

static void a_name_must_fit(void **state)
{
    (void)state;
    assert_int_equal(
        ord_store_put(&store, "0123456789012345678901234567890", 1, NULL), 0);
    assert_int_equal(
        ord_store_put(&store, "01234567890123456789012345678901", 1, NULL),
        ENAMETOOLONG);
    assert_int_equal(ord_store_put(&store, "b", 1, NULL), 0);
    assert_int_equal(ord_store_put(&store, "c", 1, NULL), ENOSPC);
    assert_int_equal(ord_store_put(&store, "b", 2, NULL), 0);
}

static void an_unknown_name_is_not_found(void **state)
{
    struct ord_versioned out = { 7, 7 };

    (void)state;
    assert_int_equal(ord_store_read(&store, "x", &out), ENOENT);
    assert_int_equal(ord_store_compare_and_set(&store, "x", 0, 1), ENOENT);
    assert_int_equal(ord_store_update(&store, "x", add_one, NULL, 3, &out),
                     ENOENT);
    assert_int_equal(
        ord_store_update_claimed(&store, "x", add_one, NULL, ORD_NEVER, &out),
        ENOENT);
    assert_int_equal(out.value, 7);
}

static void a_stale_version_is_a_conflict(void **state)
{
    (void)state;
    ord_store_put(&store, "price", 50, NULL);
    assert_int_equal(ord_store_compare_and_set(&store, "price", 1, 55), 0);
    assert_int_equal(ord_store_compare_and_set(&store, "price", 1, 60), EAGAIN);
    expect("price", 55, 2);
    assert_int_equal(ord_store_compare_and_set(&store, "price", 2, 60), 0);
    expect("price", 60, 3);
}

static void both_updates_report_what_they_wrote(void **state)
{
    struct ord_versioned out;

    (void)state;
    ord_store_put(&store, "n", 0, NULL);
    assert_int_equal(ord_store_update(&store, "n", add_one, NULL, 1, &out), 0);
    assert_int_equal(out.value, 1);
    assert_int_equal(out.version, 2);
    assert_int_equal(
        ord_store_update_claimed(&store, "n", add_one, NULL, ORD_NEVER, &out),
        0);
    assert_int_equal(out.value, 2);
    assert_int_equal(out.version, 3);
}

static void a_function_that_gives_up_leaves_the_value(void **state)
{
    (void)state;
    ord_store_put(&store, "n", 4, NULL);
    assert_int_equal(ord_store_update(&store, "n", refuse, NULL, 9, NULL),
                     ERANGE);
    assert_int_equal(
        ord_store_update_claimed(&store, "n", refuse, NULL, ORD_NEVER, NULL),
        ERANGE);
    expect("n", 4, 1);
    assert_int_equal(ord_store_put(&store, "n", 5, NULL), 0);
}

/* A rival writes between the read and the write, *arg times. */
static int add_ten_too_late(int64_t value, int64_t *next, void *arg)
{
    int *nmoves = arg;

    if ((*nmoves)-- > 0)
        ord_store_put(&store, "n", value + 1, NULL);
    *next = value + 10;
    return 0;
}

static void an_update_has_a_bounded_number_of_attempts(void **state)
{
    int nmoves = 2;

    (void)state;
    ord_store_put(&store, "n", 0, NULL);
    assert_int_equal(
        ord_store_update(&store, "n", add_ten_too_late, &nmoves, 0, NULL),
        EINVAL);
    assert_int_equal(
        ord_store_update(&store, "n", add_ten_too_late, &nmoves, 3, NULL), 0);
    expect("n", 12, 4);
    nmoves = 100;
    assert_int_equal(
        ord_store_update(&store, "n", add_ten_too_late, &nmoves, 3, NULL),
        EAGAIN);
    assert_int_equal(nmoves, 97);
}

/* Everything a claimant must not do, and what it may. */
static int use_the_store(int64_t value, int64_t *next, void *arg)
{
    struct ord_versioned seen;

    (void)arg;
    assert_int_equal(ord_store_put(&store, "n", 1, NULL), EDEADLK);
    assert_int_equal(ord_store_compare_and_set(&store, "n", 1, 1), EDEADLK);
    assert_int_equal(
        ord_store_update_claimed(&store, "n", add_one, NULL, 0, NULL), EDEADLK);
    assert_int_equal(ord_store_destroy(&store), EBUSY);
    assert_int_equal(ord_store_read(&store, "n", &seen), 0);
    assert_int_equal(ord_store_put(&store, "other", seen.value, NULL), 0);
    *next = value + 1;
    return 0;
}

static void a_claimant_waiting_for_itself_is_refused(void **state)
{
    (void)state;
    ord_store_put(&store, "n", 3, NULL);
    assert_int_equal(ord_store_update_claimed(&store, "n", use_the_store, NULL,
                                              ORD_NEVER, NULL),
                     0);
    expect("n", 4, 2);
    expect("other", 3, 1);
}

static void *claim_in_vain(void *arg)
{
    (void)arg;
    assert_int_equal(ord_store_update_claimed(&store, "n", add_one, NULL,
                                              ord_deadline_after(ORD_MS), NULL),
                     ETIMEDOUT);
    return NULL;
}

static int let_another_time_out(int64_t value, int64_t *next, void *arg)
{
    (void)arg;
    race_run(1, claim_in_vain, NULL);
    *next = value;
    return 0;
}

static void a_claim_waits_no_longer_than_its_deadline(void **state)
{
    (void)state;
    ord_store_put(&store, "n", 0, NULL);
    assert_int_equal(ord_store_update_claimed(&store, "n", let_another_time_out,
                                              NULL, ORD_NEVER, NULL),
                     0);
    expect("n", 0, 2);
}

static void *put_nine(void *arg)
{
    (void)arg;
    assert_int_equal(ord_store_put(&store, "n", 9, NULL), 0);
    return NULL;
}

static int start_a_writer(int64_t value, int64_t *next, void *arg)
{
    assert_int_equal(pthread_create(arg, NULL, put_nine, NULL), 0);
    race_await_waiters(&store.lock, &store.unclaimed, 1);
    *next = value + 1;
    return 0;
}

static void a_put_waits_for_the_claimant(void **state)
{
    struct ord_versioned out;
    pthread_t writer;

    (void)state;
    ord_store_put(&store, "n", 0, NULL);
    assert_int_equal(ord_store_update_claimed(&store, "n", start_a_writer,
                                              &writer, ORD_NEVER, &out),
                     0);
    assert_int_equal(out.version, 2);
    assert_int_equal(pthread_join(writer, NULL), 0);
    expect("n", 9, 3);
}

struct stress {
    ord_ns end;
    int64_t ndone; /* atomic */
};

static void *update_until_the_end(void *arg)
{
    struct stress *stress = arg;
    int64_t ndone = 0;

    while (ord_now() < stress->end) {
        if (ord_store_update(&store, "n", add_one, NULL, 9, NULL) == 0)
            ndone++;
        if (ord_store_update_claimed(&store, "n", add_one, NULL,
                                     ord_deadline_after(ORD_SECOND), NULL) == 0)
            ndone++;
    }
    __atomic_fetch_add(&stress->ndone, ndone, __ATOMIC_RELAXED);
    return NULL;
}

static void value_and_version_agree_under_stress(void **state)
{
    struct stress stress = { race_end(), 0 };

    (void)state;
    ord_store_put(&store, "n", 0, NULL);
    race_run(4, update_until_the_end, &stress);
    expect("n", stress.ndone, (uint64_t)stress.ndone + 1);
}

#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STORE(each_put_makes_a_version),
        cmocka_unit_test(a_store_without_room_is_refused),
        WITH_STORE(a_name_must_fit),
        WITH_STORE(an_unknown_name_is_not_found),
        WITH_STORE(a_stale_version_is_a_conflict),
        WITH_STORE(both_updates_report_what_they_wrote),
        WITH_STORE(a_function_that_gives_up_leaves_the_value),
        WITH_STORE(an_update_has_a_bounded_number_of_attempts),
        WITH_STORE(a_claimant_waiting_for_itself_is_refused),
        WITH_STORE(a_claim_waits_no_longer_than_its_deadline),
        WITH_STORE(a_put_waits_for_the_claimant),
        WITH_STORE(value_and_version_agree_under_stress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
