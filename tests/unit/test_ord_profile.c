/* SPDX-License-Identifier: MIT
 * test_ord_profile.c - a mutex that knows how long it is waited for. */
#include "ord/profile.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Misuse is tested: TSan is not to report it. */
#define RACE_TSAN_OPTIONS ":report_mutex_bugs=0:report_destroy_locked=0"
#include "ord_race.h"

static ord_ns now;      /* atomic; turned by hand */
static unsigned nlooks; /* atomic; how often the clock was read */

static ord_ns look(void *ctx)
{
    ord_ns instant = __atomic_load_n(&now, __ATOMIC_RELAXED);

    (void)ctx;
    __atomic_fetch_add(&nlooks, 1, __ATOMIC_RELEASE);
    return instant;
}

static void pass(ord_ns time)
{
    __atomic_fetch_add(&now, time, __ATOMIC_RELAXED);
}

static const struct ord_clock by_hand = { look, NULL };
static struct ord_profile profile;

static int setup(void **state)
{
    (void)state;
    ord_profile_init(&profile, &by_hand);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return ord_profile_destroy(&profile);
}

static struct ord_profile_figures figures(void)
{
    struct ord_profile_figures f;

    ord_profile_read(&profile, &f);
    return f;
}

static void holds_are_counted_and_measured(void **state)
{
    (void)state;
    assert_int_equal(ord_profile_lock(&profile), 0);
    pass(30);
    assert_int_equal(ord_profile_unlock(&profile), 0);
    assert_int_equal(ord_profile_trylock(&profile), 0);
    pass(10);
    assert_int_equal(figures().total_hold, 30);
    assert_int_equal(ord_profile_unlock(&profile), 0);
    assert_int_equal(figures().count, 2);
    assert_int_equal(figures().contended, 0);
    assert_int_equal(figures().total_wait, 0);
    assert_int_equal(figures().total_hold, 40);
    assert_int_equal(figures().longest_hold, 30);
}

static void *lock_once(void *arg)
{
    (void)arg;
    assert_int_equal(ord_profile_lock(&profile), 0);
    assert_int_equal(ord_profile_unlock(&profile), 0);
    return NULL;
}

/* Lets another thread wait for the given time while the caller holds it. */
static void make_one_wait(ord_ns time)
{
    ord_ns end = ord_deadline_after(10 * ORD_SECOND);
    pthread_t waiter;
    unsigned seen;

    assert_int_equal(ord_profile_lock(&profile), 0);
    seen = __atomic_load_n(&nlooks, __ATOMIC_ACQUIRE);
    assert_int_equal(pthread_create(&waiter, NULL, lock_once, NULL), 0);
    while (__atomic_load_n(&nlooks, __ATOMIC_ACQUIRE) == seen &&
           ord_now() < end)
        sched_yield();
    /* The waiter has found the mutex taken, then read the clock. */
    pass(time);
    assert_int_equal(ord_profile_unlock(&profile), 0);
    assert_int_equal(pthread_join(waiter, NULL), 0);
}

static void waits_are_counted_and_measured(void **state)
{
    (void)state;
    make_one_wait(50);
    assert_int_equal(figures().count, 2);
    assert_int_equal(figures().contended, 1);
    assert_int_equal(figures().total_wait, 50);
    make_one_wait(20);
    assert_int_equal(figures().contended, 2);
    assert_int_equal(figures().total_wait, 70);
    assert_int_equal(figures().longest_wait, 50);
    assert_int_equal(figures().timeouts, 0);
}

static void *find_it_taken(void *arg)
{
    (void)arg;
    assert_int_equal(ord_profile_trylock(&profile), EBUSY);
    assert_int_equal(
        ord_profile_timedlock(&profile, ord_deadline_after(ORD_MS)), ETIMEDOUT);
    assert_int_equal(ord_profile_unlock(&profile), EPERM);
    return NULL;
}

static void a_wait_in_vain_is_no_acquisition(void **state)
{
    (void)state;
    ord_profile_init(&profile, NULL);
    ord_profile_lock(&profile);
    race_run(1, find_it_taken, NULL);
    assert_int_equal(figures().count, 1);
    assert_int_equal(figures().contended, 0);
    assert_int_equal(figures().timeouts, 1);
    assert_true(figures().total_wait > 0);
    assert_int_equal(figures().total_hold, 0);
    ord_profile_unlock(&profile);
}

static void misuse_is_refused_and_not_counted(void **state)
{
    (void)state;
    ord_profile_lock(&profile);
    assert_int_equal(ord_profile_lock(&profile), EDEADLK);
    assert_int_equal(ord_profile_timedlock(&profile, ord_now() + ORD_SECOND),
                     EDEADLK);
    assert_int_equal(ord_profile_trylock(&profile), EBUSY);
    ord_profile_unlock(&profile);
    assert_int_equal(ord_profile_unlock(&profile), EPERM);
    assert_int_equal(figures().count, 1);
    assert_int_equal(figures().total_wait, 0);
}

static void a_held_one_is_not_destroyed(void **state)
{
    (void)state;
    ord_profile_lock(&profile);
    assert_int_equal(ord_profile_destroy(&profile), EBUSY);
    ord_profile_unlock(&profile);
}

static struct ord_profile busy = ORD_PROFILE_INIT;
static uint64_t ntimes; /* under busy */

static void *lock_until(void *arg)
{
    const ord_ns *end = arg;

    while (ord_now() < *end) {
        int rc = ord_profile_timedlock(&busy, ord_deadline_after(ORD_MS));
        if (rc == ETIMEDOUT)
            continue;
        assert_int_equal(rc, 0);
        ntimes++;
        ord_profile_unlock(&busy);
    }
    return NULL;
}

static void figures_are_exact_under_stress(void **state)
{
    struct ord_profile_figures f;
    ord_ns end = race_end();

    (void)state;
    race_run(4, lock_until, &end);
    ord_profile_read(&busy, &f);
    assert_int_equal(f.count, ntimes);
    assert_true(f.contended <= f.count);
    assert_true(f.longest_hold <= f.total_hold);
    assert_true(f.longest_wait <= f.total_wait);
    assert_int_equal(ord_profile_destroy(&busy), 0);
}

#define WITH_PROFILE(test)                                                     \
    cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PROFILE(holds_are_counted_and_measured),
        WITH_PROFILE(waits_are_counted_and_measured),
        WITH_PROFILE(a_wait_in_vain_is_no_acquisition),
        WITH_PROFILE(misuse_is_refused_and_not_counted),
        WITH_PROFILE(a_held_one_is_not_destroyed),
        cmocka_unit_test(figures_are_exact_under_stress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
