/* SPDX-License-Identifier: MIT
 * test_ord_context.c - what a thread's callees may know. */
#include "ord/context.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ord_race.h"

static const char user, request;

static int *number_at(const void *key)
{
    void *value = NULL;

    assert_int_equal(ord_context_get(key, &value), 0);
    return value;
}

static void what_was_not_set_is_not_found(void **state)
{
    void *value = state;

    assert_int_equal(ord_context_depth(), 0);
    assert_int_equal(ord_context_get(&user, &value), ENOENT);
    assert_ptr_equal(value, state);
}

static void the_innermost_record_of_a_key_is_found(void **state)
{
    struct ord_context outer, other, inner;
    int one = 1, two = 2, three = 3;

    (void)state;
    assert_int_equal(ord_context_push(&outer, &user, &one), 0);
    assert_int_equal(ord_context_push(&other, &request, &two), 0);
    assert_int_equal(ord_context_push(&inner, &user, &three), 0);
    assert_int_equal(ord_context_depth(), 3);
    assert_int_equal(*number_at(&user), 3);
    assert_int_equal(*number_at(&request), 2);
    assert_int_equal(ord_context_pop(&inner), 0);
    assert_int_equal(*number_at(&user), 1);
    assert_int_equal(ord_context_pop(&other), 0);
    assert_int_equal(ord_context_pop(&outer), 0);
    assert_int_equal(ord_context_depth(), 0);
}

static void records_are_popped_from_the_inside(void **state)
{
    struct ord_context outer, inner;

    (void)state;
    ord_context_push(&outer, &user, NULL);
    ord_context_push(&inner, &user, NULL);
    assert_int_equal(ord_context_pop(&outer), EPERM);
    assert_int_equal(ord_context_depth(), 2);
    assert_int_equal(ord_context_pop(&inner), 0);
    assert_int_equal(ord_context_pop(&inner), EPERM);
    assert_int_equal(ord_context_pop(&outer), 0);
    assert_int_equal(ord_context_pop(NULL), EPERM);
}

static void a_record_in_use_is_not_pushed_again(void **state)
{
    struct ord_context outer, inner;
    int one = 1;

    (void)state;
    ord_context_push(&outer, &user, &one);
    ord_context_push(&inner, &request, NULL);
    assert_int_equal(ord_context_push(&outer, &user, NULL), EBUSY);
    assert_int_equal(*number_at(&user), 1);
    ord_context_pop(&inner);
    ord_context_pop(&outer);
    assert_int_equal(ord_context_push(&outer, &user, NULL), 0);
    assert_int_equal(ord_context_pop(&outer), 0);
}

static void *see_nothing(void *arg)
{
    void *value;

    assert_int_equal(ord_context_get(&user, &value), ENOENT);
    assert_int_equal(ord_context_pop(arg), EPERM);
    return NULL;
}

static void another_thread_sees_nothing_of_it(void **state)
{
    struct ord_context record;

    (void)state;
    ord_context_push(&record, &user, &record);
    race_run(1, see_nothing, &record);
    assert_int_equal(ord_context_pop(&record), 0);
}

static void *nest_until(void *arg)
{
    const ord_ns *end = arg;
    struct ord_context outer, inner;
    int one = 1, two = 2;

    while (ord_now() < *end) {
        ord_context_push(&outer, &user, &one);
        ord_context_push(&inner, &user, &two);
        assert_ptr_equal(number_at(&user), &two);
        ord_context_pop(&inner);
        assert_ptr_equal(number_at(&user), &one);
        ord_context_pop(&outer);
    }
    return NULL;
}

static void threads_keep_apart_under_stress(void **state)
{
    ord_ns end = race_end();

    (void)state;
    race_run(4, nest_until, &end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_not_set_is_not_found),
        cmocka_unit_test(the_innermost_record_of_a_key_is_found),
        cmocka_unit_test(records_are_popped_from_the_inside),
        cmocka_unit_test(a_record_in_use_is_not_pushed_again),
        cmocka_unit_test(another_thread_sees_nothing_of_it),
        cmocka_unit_test(threads_keep_apart_under_stress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
