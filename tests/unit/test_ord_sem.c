/* SPDX-License-Identifier: MIT
 *
 * test_ord_sem.c - the semaphore, with and without a bound.
 */
#include "ord_thread.h"

#include <errno.h>
#include <stdatomic.h>

#include "ord/sem.h"

enum { UNITS = 2, THREADS = 4 };

static struct ord_sem sem;

static int set_up(void **state)
{
    (void)state;
    return ord_sem_init_bounded(&sem, UNITS, UNITS);
}

static int tear_down(void **state)
{
    (void)state;
    return ord_sem_destroy(&sem);
}

static void take_all(void)
{
    for (int i = 0; i < UNITS; i++)
        assert_int_equal(ord_sem_trywait(&sem), 0);
}

static void give_all_back(void)
{
    for (int i = 0; i < UNITS; i++)
        assert_int_equal(ord_sem_post(&sem), 0);
}

static void as_many_are_taken_as_there_are(void **state)
{
    (void)state;
    assert_int_equal(ord_sem_count(&sem), UNITS);
    ord_sem_wait(&sem);
    assert_int_equal(ord_sem_timedwait(&sem, ORD_NEVER), 0);
    assert_int_equal(ord_sem_trywait(&sem), EAGAIN);
    assert_int_equal(ord_sem_count(&sem), 0);
    give_all_back();
}

static void a_post_without_a_wait_is_refused_by_a_bound(void **state)
{
    (void)state;
    assert_int_equal(ord_sem_post(&sem), EOVERFLOW);
    assert_int_equal(ord_sem_count(&sem), UNITS);
    assert_int_equal(ord_sem_trywait(&sem), 0);
    assert_int_equal(ord_sem_post(&sem), 0);
    assert_int_equal(ord_sem_post(&sem), EOVERFLOW);
}

static void without_a_bound_it_counts_as_far_as_it_can(void **state)
{
    struct ord_sem most;

    (void)state;
    ord_sem_init(&most, UINT_MAX - 1);
    assert_int_equal(ord_sem_post(&most), 0);
    assert_int_equal(ord_sem_post(&most), EOVERFLOW);
    assert_int_equal(ord_sem_count(&most), UINT_MAX);
    assert_int_equal(ord_sem_destroy(&most), 0);
}

static void it_may_start_with_fewer_units_than_its_bound(void **state)
{
    struct ord_sem some;

    (void)state;
    assert_int_equal(ord_sem_init_bounded(&some, 2, 1), EINVAL);
    assert_int_equal(ord_sem_init_bounded(&some, 0, 1), 0);
    assert_int_equal(ord_sem_trywait(&some), EAGAIN);
    assert_int_equal(ord_sem_post(&some), 0);
    assert_int_equal(ord_sem_post(&some), EOVERFLOW);
    assert_int_equal(ord_sem_destroy(&some), 0);
}

static void it_works_as_initialized_statically(void **state)
{
    static struct ord_sem open = ORD_SEM_INIT(0);
    static struct ord_sem bounded = ORD_SEM_BOUNDED_INIT(1);

    (void)state;
    assert_int_equal(ord_sem_trywait(&open), EAGAIN);
    assert_int_equal(ord_sem_post(&open), 0);
    assert_int_equal(ord_sem_post(&open), 0);
    assert_int_equal(ord_sem_post(&bounded), EOVERFLOW);
    assert_int_equal(ord_sem_trywait(&bounded), 0);
    assert_int_equal(ord_sem_destroy(&open), 0);
    assert_int_equal(ord_sem_destroy(&bounded), 0);
}

static void a_deadline_passes_and_takes_nothing(void **state)
{
    (void)state;
    take_all();
    for (ord_ns timeout = -1; timeout <= ORD_MS; timeout += ORD_MS / 2) {
        ord_ns deadline = ord_deadline_after(timeout);

        assert_int_equal(ord_sem_timedwait(&sem, deadline), ETIMEDOUT);
        assert_true(ord_now() >= deadline);
    }
    give_all_back();
    assert_int_equal(ord_sem_timedwait(&sem, 0), 0); /* passed, but free */
    assert_int_equal(ord_sem_post(&sem), 0);
}

static void *wait_for_it(void *unused)
{
    ord_sem_wait(&sem);
    return unused;
}

static void each_post_releases_a_waiter(void **state)
{
    pthread_t waiters[2];

    (void)state;
    take_all();
    for (int i = 0; i < 2; i++)
        start(&waiters[i], wait_for_it, NULL);
    race_await_waiters(&sem.mutex, &sem.posted, 2);
    assert_int_equal(ord_sem_destroy(&sem), EBUSY);
    give_all_back();
    for (int i = 0; i < 2; i++)
        assert_int_equal(join(waiters[i]), 0);
    assert_int_equal(ord_sem_count(&sem), 0);
    give_all_back();
}

static struct {
    ord_ns end;
    atomic_int ninside;
} stress;

static void *go_in_and_out(void *unused)
{
    for (unsigned i = 0; ord_now() < stress.end; i++) {
        int rc = i % 3 == 0   ? ord_sem_trywait(&sem)
                 : i % 3 == 1 ? ord_sem_timedwait(&sem, stress.end)
                              : (ord_sem_wait(&sem), 0);

        if (rc != 0)
            continue;
        assert_true(atomic_fetch_add(&stress.ninside, 1) < UNITS);
        atomic_fetch_sub(&stress.ninside, 1);
        assert_int_equal(ord_sem_post(&sem), 0);
    }
    return unused;
}

static void no_more_than_its_units_are_inside_and_none_is_lost(void **state)
{
    (void)state;
    stress.end = race_end();
    race_run(THREADS, go_in_and_out, NULL);
    assert_int_equal(ord_sem_count(&sem), UNITS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(as_many_are_taken_as_there_are),
        TEST(a_post_without_a_wait_is_refused_by_a_bound),
        TEST(without_a_bound_it_counts_as_far_as_it_can),
        TEST(it_may_start_with_fewer_units_than_its_bound),
        TEST(it_works_as_initialized_statically),
        TEST(a_deadline_passes_and_takes_nothing),
        TEST(each_post_releases_a_waiter),
        TEST(no_more_than_its_units_are_inside_and_none_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
