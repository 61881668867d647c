/* SPDX-License-Identifier: MIT
 * test_ord_registry.c - one instance, made when first asked for. */
#include "ord/registry.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ord_race.h"

struct instance {
    int64_t content; /* not atomic: its publication must order it */
};

static unsigned nmade; /* atomic */

static int make_instance(void *arg, void **instance)
{
    struct instance *made = malloc(sizeof *made);

    (void)arg;
    assert_non_null(made);
    made->content = 42;
    __atomic_fetch_add(&nmade, 1, __ATOMIC_RELAXED);
    *instance = made;
    return 0;
}

static struct ord_registry registry = ORD_REGISTRY_INIT(make_instance, NULL);

static void begin(ord_registry_make make, void *arg)
{
    nmade = 0;
    ord_registry_init(&registry, make, arg);
}

static void finish(void)
{
    void *instance;

    assert_int_equal(ord_registry_destroy(&registry), EBUSY);
    assert_int_equal(ord_registry_take(&registry, &instance), 0);
    free(instance);
    assert_int_equal(ord_registry_destroy(&registry), 0);
}

static void a_static_registry_makes_one_instance(void **state)
{
    void *first, *second;

    (void)state;
    assert_int_equal(ord_registry_get(&registry, &first), 0);
    assert_int_equal(ord_registry_get(&registry, &second), 0);
    assert_ptr_equal(first, second);
    assert_int_equal(ord_registry_nrequests(&registry), 2);
    finish();
}

static void *get_and_read(void *arg)
{
    void *instance;

    assert_int_equal(ord_registry_get(&registry, &instance), 0);
    assert_int_equal(((struct instance *)instance)->content, 42);
    return arg;
}

static void sixteen_threads_race_for_one_instance(void **state)
{
    (void)state;
    begin(make_instance, NULL);
    race_run(16, get_and_read, NULL);
    assert_int_equal(nmade, 1);
    assert_int_equal(ord_registry_nrequests(&registry), 16);
    finish();
}

static int fail_some_times(void *arg, void **instance)
{
    unsigned *nfailures = arg;

    if ((*nfailures)-- > 0)
        return ENODEV;
    return make_instance(NULL, instance);
}

static void a_failure_is_the_askers_and_the_next_one_tries_again(void **state)
{
    unsigned nfailures = 1;
    void *instance = &nfailures;

    (void)state;
    begin(fail_some_times, &nfailures);
    assert_int_equal(ord_registry_get(&registry, &instance), ENODEV);
    assert_ptr_equal(instance, &nfailures);
    assert_int_equal(ord_registry_take(&registry, &instance), ENOENT);
    assert_int_equal(ord_registry_get(&registry, &instance), 0);
    assert_int_equal(ord_registry_nrequests(&registry), 2);
    finish();
}

static void *time_out(void *arg)
{
    void *instance;

    assert_int_equal(
        ord_registry_timedget(&registry, &instance, ord_deadline_after(ORD_MS)),
        ETIMEDOUT);
    return arg;
}

static int make_under_test(void *arg, void **instance)
{
    void *other;

    assert_int_equal(ord_registry_get(&registry, &other), EDEADLK);
    assert_int_equal(ord_registry_take(&registry, &other), EBUSY);
    assert_int_equal(ord_registry_destroy(&registry), EBUSY);
    race_run(1, time_out, NULL);
    return make_instance(arg, instance);
}

static void while_it_is_made_others_wait_or_are_refused(void **state)
{
    void *instance;

    (void)state;
    begin(make_under_test, NULL);
    assert_int_equal(ord_registry_get(&registry, &instance), 0);
    finish();
}

static void *get_it(void *arg)
{
    assert_int_equal(ord_registry_get(&registry, arg), 0);
    return NULL;
}

struct second {
    pthread_t thread;
    void *instance;
    int rc; /* what make() returns the first time */
};

static int make_while_another_waits(void *arg, void **instance)
{
    struct second *second = arg;
    int rc = second->rc;

    if (nmade == 0 && second->rc >= 0) {
        second->rc = -1;
        pthread_create(&second->thread, NULL, get_it, &second->instance);
        race_await_waiters(&registry.lock, &registry.settled, 1);
        if (rc != 0)
            return rc;
    }
    return make_instance(NULL, instance);
}

static void one_who_waits_gets_what_was_made(void **state)
{
    struct second second = { .rc = 0 };
    void *instance;

    (void)state;
    begin(make_while_another_waits, &second);
    assert_int_equal(ord_registry_get(&registry, &instance), 0);
    pthread_join(second.thread, NULL);
    assert_ptr_equal(second.instance, instance);
    assert_int_equal(nmade, 1);
    finish();
}

static void one_who_waits_makes_it_if_the_first_fails(void **state)
{
    struct second second = { .rc = ENODEV };
    void *instance;

    (void)state;
    begin(make_while_another_waits, &second);
    assert_int_equal(ord_registry_get(&registry, &instance), ENODEV);
    pthread_join(second.thread, NULL);
    assert_int_equal(nmade, 1);
    assert_int_equal(((struct instance *)second.instance)->content, 42);
    finish();
}

static void each_race_of_many_makes_one_instance(void **state)
{
    ord_ns end = race_end();

    (void)state;
    while (ord_now() < end) {
        begin(make_instance, NULL);
        race_run(8, get_and_read, NULL);
        assert_int_equal(nmade, 1);
        finish();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_static_registry_makes_one_instance),
        cmocka_unit_test(sixteen_threads_race_for_one_instance),
        cmocka_unit_test(a_failure_is_the_askers_and_the_next_one_tries_again),
        cmocka_unit_test(while_it_is_made_others_wait_or_are_refused),
        cmocka_unit_test(one_who_waits_gets_what_was_made),
        cmocka_unit_test(one_who_waits_makes_it_if_the_first_fails),
        cmocka_unit_test(each_race_of_many_makes_one_instance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
