/* SPDX-License-Identifier: MIT
 *
 * test_ord_latch.c - the countdown.
 */
#include "ord_thread.h"

#include <errno.h>
#include <limits.h>

#include "ord/latch.h"

enum { THREADS = 4 };

static struct ord_latch latch;

static int set_up(void **state)
{
    (void)state;
    ord_latch_init(&latch, 3);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return ord_latch_destroy(&latch);
}

static void it_opens_at_0_and_stays_open(void **state)
{
    (void)state;
    assert_int_equal(ord_latch_count_down(&latch, 1), 0);
    assert_int_equal(ord_latch_trywait(&latch), EAGAIN);
    assert_int_equal(ord_latch_count_down(&latch, 2), 0);
    assert_int_equal(ord_latch_count(&latch), 0);
    assert_int_equal(ord_latch_trywait(&latch), 0);
    assert_int_equal(ord_latch_timedwait(&latch, 0), 0);
    ord_latch_wait(&latch);
    ord_latch_wait(&latch);
}

static void more_than_is_left_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    assert_int_equal(ord_latch_count_down(&latch, 4), EINVAL);
    assert_int_equal(ord_latch_count_down(&latch, UINT_MAX), EINVAL);
    assert_int_equal(ord_latch_count(&latch), 3);
    assert_int_equal(ord_latch_count_down(&latch, 3), 0);
    assert_int_equal(ord_latch_count_down(&latch, 1), EINVAL);
    assert_int_equal(ord_latch_count_down(&latch, 0), 0);
}

static void a_latch_of_0_is_open(void **state)
{
    static struct ord_latch open = ORD_LATCH_INIT(0);

    (void)state;
    ord_latch_wait(&open);
    assert_int_equal(ord_latch_destroy(&open), 0);
}

static void a_deadline_passes(void **state)
{
    (void)state;
    for (ord_ns timeout = -1; timeout <= ORD_MS; timeout += ORD_MS / 2) {
        ord_ns deadline = ord_deadline_after(timeout);

        assert_int_equal(ord_latch_timedwait(&latch, deadline), ETIMEDOUT);
        assert_true(ord_now() >= deadline);
    }
    assert_int_equal(ord_latch_count(&latch), 3);
}

static void *wait_for_it(void *unused)
{
    ord_latch_wait(&latch);
    return unused;
}

static void the_last_count_releases_all_who_wait(void **state)
{
    pthread_t waiters[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        start(&waiters[i], wait_for_it, NULL);
    race_await_waiters(&latch.mutex, &latch.opened, THREADS);
    assert_int_equal(ord_latch_destroy(&latch), EBUSY);
    assert_int_equal(ord_latch_count_down(&latch, 2), 0);
    assert_int_equal(ord_latch_destroy(&latch), EBUSY);
    assert_int_equal(ord_latch_count_down(&latch, 1), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(join(waiters[i]), 0);
}

static int done[3]; /* each written by one thread before it counts down */

static void *do_part(void *part)
{
    *(int *)part = 1;
    return result(ord_latch_count_down(&latch, 1));
}

static void what_was_done_before_is_seen_by_who_passes(void **state)
{
    ord_ns end = race_end();

    (void)state;
    do {
        pthread_t threads[3];

        ord_latch_init(&latch, 3);
        for (int i = 0; i < 3; i++) {
            done[i] = 0;
            start(&threads[i], do_part, &done[i]);
        }
        ord_latch_wait(&latch);
        assert_true(done[0] && done[1] && done[2]);
        for (int i = 0; i < 3; i++)
            assert_int_equal(join(threads[i]), 0);
        assert_int_equal(ord_latch_destroy(&latch), 0);
    } while (ord_now() < end);
    ord_latch_init(&latch, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(it_opens_at_0_and_stays_open),
        TEST(more_than_is_left_is_refused_and_changes_nothing),
        TEST(a_latch_of_0_is_open),
        TEST(a_deadline_passes),
        TEST(the_last_count_releases_all_who_wait),
        TEST(what_was_done_before_is_seen_by_who_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
