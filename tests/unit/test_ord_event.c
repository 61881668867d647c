/* SPDX-License-Identifier: MIT
 *
 * test_ord_event.c - the flag that threads wait for.
 */
#include "ord_thread.h"

#include <errno.h>
#include <stdatomic.h>

#include "ord/event.h"

enum { THREADS = 4 };

static struct ord_event event = ORD_EVENT_INIT;

static int set_up(void **state)
{
    (void)state;
    ord_event_init(&event);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return ord_event_destroy(&event);
}

static void *wait_for_it(void *unused)
{
    ord_event_wait(&event);
    return unused;
}

static void start_waiters(pthread_t waiters[THREADS])
{
    for (int i = 0; i < THREADS; i++)
        start(&waiters[i], wait_for_it, NULL);
    race_await_waiters(&event.mutex, &event.changed, THREADS);
}

static void join_waiters(const pthread_t waiters[THREADS])
{
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(join(waiters[i]), 0);
}

static void it_stays_set_until_it_is_cleared(void **state)
{
    (void)state;
    assert_false(ord_event_is_set(&event));
    ord_event_set(&event);
    ord_event_set(&event);
    assert_true(ord_event_is_set(&event));
    ord_event_wait(&event);
    assert_int_equal(ord_event_timedwait(&event, 0), 0);
    ord_event_clear(&event);
    assert_false(ord_event_is_set(&event));
    assert_int_equal(ord_event_timedwait(&event, 0), ETIMEDOUT);
}

static void it_works_as_initialized_statically(void **state)
{
    static struct ord_event other = ORD_EVENT_INIT;

    (void)state;
    assert_false(ord_event_is_set(&other));
    ord_event_set(&other);
    ord_event_wait(&other);
    assert_int_equal(ord_event_destroy(&other), 0);
}

static void setting_it_releases_all_who_wait(void **state)
{
    pthread_t waiters[THREADS];

    (void)state;
    start_waiters(waiters);
    assert_int_equal(ord_event_destroy(&event), EBUSY);
    ord_event_set(&event);
    join_waiters(waiters);
}

static void a_pulse_releases_all_who_wait_and_nobody_later(void **state)
{
    pthread_t waiters[THREADS];

    (void)state;
    start_waiters(waiters);
    ord_event_set(&event);
    ord_event_clear(&event);
    join_waiters(waiters);
    assert_int_equal(ord_event_timedwait(&event, 0), ETIMEDOUT);
}

static void a_deadline_passes(void **state)
{
    (void)state;
    for (ord_ns timeout = -1; timeout <= ORD_MS; timeout += ORD_MS / 2) {
        ord_ns deadline = ord_deadline_after(timeout);

        assert_int_equal(ord_event_timedwait(&event, deadline), ETIMEDOUT);
        assert_true(ord_now() >= deadline);
    }
}

static struct {
    ord_ns end;
    long published; /* before the event, without a lock */
    struct ord_event told, heard;
    atomic_int stop;
} stress;

static void *listen(void *unused)
{
    for (long i = 1;; i++) {
        ord_event_wait(&stress.told);
        ord_event_clear(&stress.told);
        if (atomic_load(&stress.stop))
            return unused;
        assert_int_equal(stress.published, i);
        ord_event_set(&stress.heard);
    }
}

static void what_was_done_before_is_seen_after(void **state)
{
    pthread_t listener;

    (void)state;
    stress.end = race_end();
    ord_event_init(&stress.told);
    ord_event_init(&stress.heard);
    start(&listener, listen, NULL);
    while (ord_now() < stress.end) {
        stress.published++;
        ord_event_set(&stress.told);
        ord_event_wait(&stress.heard);
        ord_event_clear(&stress.heard);
    }
    atomic_store(&stress.stop, 1);
    ord_event_set(&stress.told);
    assert_int_equal(join(listener), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(it_stays_set_until_it_is_cleared),
        TEST(it_works_as_initialized_statically),
        TEST(setting_it_releases_all_who_wait),
        TEST(a_pulse_releases_all_who_wait_and_nobody_later),
        TEST(a_deadline_passes),
        TEST(what_was_done_before_is_seen_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
