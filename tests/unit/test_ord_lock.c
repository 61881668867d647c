/* SPDX-License-Identifier: MIT
 *
 * test_ord_lock.c - the recursive lock.
 */
#include "ord_thread.h"

#include <errno.h>
#include <limits.h>

#include "ord/lock.h"

enum { THREADS = 4 };

static struct ord_rlock lock = ORD_RLOCK_INIT;

static int set_up(void **state)
{
    (void)state;
    ord_rlock_init(&lock);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return ord_rlock_destroy(&lock);
}

static void *try_it(void *unused)
{
    int rc = ord_rlock_trylock(&lock);

    (void)unused;
    if (rc == 0)
        ord_rlock_unlock(&lock);
    return result(rc);
}

static void *wait_until(void *deadline)
{
    int rc = ord_rlock_timedlock(&lock, *(ord_ns *)deadline);

    if (rc == 0)
        ord_rlock_unlock(&lock);
    return result(rc);
}

static void *unlock_it(void *unused)
{
    (void)unused;
    return result(ord_rlock_unlock(&lock));
}

static void *depth_of_it(void *unused)
{
    (void)unused;
    return result((int)ord_rlock_depth(&lock));
}

static void its_holder_takes_it_again_in_every_way(void **state)
{
    (void)state;
    assert_int_equal(ord_rlock_depth(&lock), 0);
    assert_int_equal(ord_rlock_lock(&lock), 0);
    assert_int_equal(ord_rlock_lock(&lock), 0);
    assert_int_equal(ord_rlock_trylock(&lock), 0);
    assert_int_equal(ord_rlock_timedlock(&lock, 0), 0);
    assert_int_equal(ord_rlock_depth(&lock), 4);
    for (unsigned depth = 4; depth-- > 0;) {
        assert_int_equal(in_a_thread(try_it, NULL), EBUSY);
        assert_int_equal(ord_rlock_unlock(&lock), 0);
        assert_int_equal(ord_rlock_depth(&lock), depth);
    }
    assert_int_equal(in_a_thread(try_it, NULL), 0);
}

static void it_works_as_initialized_statically(void **state)
{
    static struct ord_rlock other = ORD_RLOCK_INIT;

    (void)state;
    assert_int_equal(ord_rlock_trylock(&other), 0);
    assert_int_equal(ord_rlock_timedlock(&other, ORD_NEVER), 0);
    assert_int_equal(ord_rlock_unlock(&other), 0);
    assert_int_equal(ord_rlock_unlock(&other), 0);
    assert_int_equal(ord_rlock_timedlock(&other, ORD_NEVER), 0);
    assert_int_equal(ord_rlock_unlock(&other), 0);
    assert_int_equal(ord_rlock_destroy(&other), 0);
}

static void its_depth_is_that_of_the_caller(void **state)
{
    (void)state;
    ord_rlock_lock(&lock);
    assert_int_equal(in_a_thread(depth_of_it, NULL), 0);
    ord_rlock_unlock(&lock);
}

static void who_does_not_hold_it_cannot_release_it(void **state)
{
    (void)state;
    assert_int_equal(ord_rlock_unlock(&lock), EPERM);
    ord_rlock_lock(&lock);
    assert_int_equal(in_a_thread(unlock_it, NULL), EPERM);
    assert_int_equal(ord_rlock_depth(&lock), 1);
    ord_rlock_unlock(&lock);
    assert_int_equal(ord_rlock_unlock(&lock), EPERM);
}

static void a_deadline_passes_while_another_has_it(void **state)
{
    ord_ns deadline = ord_deadline_after(ORD_MS);

    (void)state;
    ord_rlock_lock(&lock);
    assert_int_equal(in_a_thread(wait_until, &deadline), ETIMEDOUT);
    assert_true(ord_now() >= deadline);
    ord_rlock_unlock(&lock);
    assert_int_equal(in_a_thread(wait_until, &deadline), 0);
}

static void more_than_can_be_counted_is_refused(void **state)
{
    (void)state;
    ord_rlock_lock(&lock);
    lock.depth = UINT_MAX;
    assert_int_equal(ord_rlock_lock(&lock), EAGAIN);
    assert_int_equal(ord_rlock_trylock(&lock), EAGAIN);
    assert_int_equal(ord_rlock_timedlock(&lock, ORD_NEVER), EAGAIN);
    assert_int_equal(ord_rlock_depth(&lock), UINT_MAX);
    lock.depth = 1;
    ord_rlock_unlock(&lock);
}

static void it_is_not_destroyed_while_it_is_held(void **state)
{
    (void)state;
    ord_rlock_lock(&lock);
    assert_int_equal(ord_rlock_destroy(&lock), EBUSY);
    ord_rlock_unlock(&lock);
    assert_int_equal(in_a_thread(try_it, NULL), 0);
}

static struct {
    ord_ns end;
    long once, twice; /* under the lock */
} stress;

static void *count(void *unused)
{
    while (ord_now() < stress.end) {
        ord_rlock_lock(&lock);
        stress.once++;
        if (ord_rlock_trylock(&lock) == 0) {
            stress.twice++;
            ord_rlock_unlock(&lock);
        }
        ord_rlock_unlock(&lock);
    }
    return unused;
}

static void many_threads_exclude_each_other_at_any_depth(void **state)
{
    (void)state;
    stress.end = race_end();
    race_run(THREADS, count, NULL);
    assert_int_equal(stress.once, stress.twice);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(its_holder_takes_it_again_in_every_way),
        TEST(it_works_as_initialized_statically),
        TEST(its_depth_is_that_of_the_caller),
        TEST(who_does_not_hold_it_cannot_release_it),
        TEST(a_deadline_passes_while_another_has_it),
        TEST(more_than_can_be_counted_is_refused),
        TEST(it_is_not_destroyed_while_it_is_held),
        TEST(many_threads_exclude_each_other_at_any_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
