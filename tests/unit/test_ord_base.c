/* SPDX-License-Identifier: MIT
 * test_ord_base.c - time, the mutex and the condition. */
#include <ord/base.h>

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* Misuse is what is tested here: TSan is not to report it. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "report_mutex_bugs=0:report_destroy_locked=0";
}

static void a_deadline_saturates(void **state)
{
    (void)state;
    assert_true(ord_deadline_after(ORD_NEVER) == ORD_NEVER);
    assert_true(ord_deadline_after(INT64_MIN) <= ord_now());
    assert_true(ord_deadline_after(0) <= ord_now());
    assert_true(ord_deadline_after(ORD_SECOND) > ord_now());
}

static ord_ns by_hand(void *ctx)
{
    return *(ord_ns *)ctx;
}

static void a_clock_can_be_turned_by_hand(void **state)
{
    ord_ns now = 42;
    struct ord_clock clock = { by_hand, &now };

    (void)state;
    assert_true(ord_clock_now(&clock) == 42);
    now++;
    assert_true(ord_clock_now(&clock) == 43);
    assert_true(ord_clock_now(NULL) > 0);
}

static struct ord_mutex mutex = ORD_MUTEX_INIT;
static int result;

static void *unlock_it(void *unused)
{
    result = ord_mutex_unlock(&mutex);
    return unused;
}

static void *try_it(void *unused)
{
    result = ord_mutex_trylock(&mutex);
    if (result == 0)
        ord_mutex_unlock(&mutex);
    return unused;
}

static void *wait_for_it(void *deadline)
{
    result = ord_mutex_timedlock(&mutex, *(ord_ns *)deadline);
    return NULL;
}

static int in_thread(void *(*routine)(void *), void *arg)
{
    pthread_t t;

    assert_int_equal(pthread_create(&t, NULL, routine, arg), 0);
    assert_int_equal(pthread_join(t, NULL), 0);
    return result;
}

static void a_mutex_knows_its_holder(void **state)
{
    ord_ns past = 0;

    (void)state;
    assert_int_equal(ord_mutex_unlock(&mutex), EPERM);
    assert_int_equal(ord_mutex_lock(&mutex), 0);
    assert_int_equal(ord_mutex_lock(&mutex), EDEADLK);
    assert_int_equal(ord_mutex_timedlock(&mutex, ORD_NEVER), EDEADLK);
    assert_int_equal(in_thread(unlock_it, NULL), EPERM);
    assert_int_equal(in_thread(try_it, NULL), EBUSY);
    assert_int_equal(in_thread(wait_for_it, &past), ETIMEDOUT);
    assert_int_equal(ord_mutex_unlock(&mutex), 0);
    assert_int_equal(in_thread(try_it, NULL), 0);
}

static void a_held_mutex_is_not_destroyed(void **state)
{
    struct ord_mutex m;

    (void)state;
    ord_mutex_init(&m);
    assert_int_equal(ord_mutex_lock(&m), 0);
    assert_int_equal(ord_mutex_destroy(&m), EBUSY);
    assert_int_equal(ord_mutex_unlock(&m), 0);
    assert_int_equal(ord_mutex_destroy(&m), 0);
}

static struct ord_cond cond = ORD_COND_INIT;
static int value; /* under mutex */

static int is_at_least(void *wanted)
{
    return value >= *(int *)wanted;
}

static void *wait_for_three(void *unused)
{
    int three = 3;

    ord_mutex_lock(&mutex);
    result = ord_cond_wait(&cond, &mutex, is_at_least, &three);
    ord_mutex_unlock(&mutex);
    return unused;
}

static void a_wait_ends_when_its_predicate_is_true_and_not_before(void **state)
{
    pthread_t t;
    unsigned nwaiting = 0;

    (void)state;
    value = 0;
    result = -1;
    assert_int_equal(pthread_create(&t, NULL, wait_for_three, NULL), 0);
    while (nwaiting == 0) {
        ord_mutex_lock(&mutex);
        nwaiting = cond.nwaiting;
        assert_int_equal(result, -1);
        ord_mutex_unlock(&mutex);
        sched_yield();
    }
    ord_mutex_lock(&mutex);
    assert_int_equal(ord_cond_destroy(&cond), EBUSY);
    for (int i = 0; i < 3; i++) {
        value++;
        ord_cond_broadcast(&cond); /* two of them for nothing */
    }
    ord_mutex_unlock(&mutex);
    assert_int_equal(pthread_join(t, NULL), 0);
    assert_int_equal(result, 0);
    ord_cond_signal(&cond); /* nobody waits */
    assert_int_equal(ord_cond_destroy(&cond), 0);
    ord_cond_init(&cond);
}

static void a_wait_gives_up_at_its_deadline(void **state)
{
    int never = 1000, now = 0;

    (void)state;
    value = 0;
    ord_mutex_lock(&mutex);
    assert_int_equal(ord_cond_timedwait(&cond, &mutex, is_at_least, &never,
                                        ord_deadline_after(ORD_MS)),
                     ETIMEDOUT);
    /* What is true already is not waited for, however late it is. */
    assert_int_equal(ord_cond_timedwait(&cond, &mutex, is_at_least, &now, 0),
                     0);
    ord_mutex_unlock(&mutex);
    assert_int_equal(
        ord_cond_timedwait(&cond, &mutex, is_at_least, &never, ORD_NEVER),
        EPERM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deadline_saturates),
        cmocka_unit_test(a_clock_can_be_turned_by_hand),
        cmocka_unit_test(a_mutex_knows_its_holder),
        cmocka_unit_test(a_held_mutex_is_not_destroyed),
        cmocka_unit_test(a_wait_ends_when_its_predicate_is_true_and_not_before),
        cmocka_unit_test(a_wait_gives_up_at_its_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
