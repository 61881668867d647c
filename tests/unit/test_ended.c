/* SPDX-License-Identifier: MIT
 * test_ended.c - who destroyed a lock. */
#include "runtime/ended.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static long lock, another;

static void who_ended_it_is_told_once(void **state)
{
    struct lh_holder by = { 0 };

    (void)state;
    assert_false(lh_ended_take(&lock, &by));
    lh_ended_note(&lock, (struct lh_holder){ 3, 40 });
    lh_ended_note(&another, (struct lh_holder){ 4, 50 });
    assert_true(lh_ended_take(&lock, &by));
    assert_int_equal(by.number, 3);
    assert_int_equal(by.stack, 40);
    assert_false(lh_ended_take(&lock, &by));
}

static void the_last_destroy_counts(void **state)
{
    struct lh_holder by = { 0 };

    (void)state;
    lh_ended_note(&lock, (struct lh_holder){ 3, 40 });
    lh_ended_note(&lock, (struct lh_holder){ 5, 60 });
    assert_true(lh_ended_take(&lock, &by));
    assert_int_equal(by.number, 5);
}

/* More locks than there are places: none is taken for another. */
static void many_locks_keep_apart(void **state)
{
    static long many[20000];
    struct lh_holder by = { 0 };

    (void)state;
    for (uint32_t i = 0; i < 20000; i++)
        lh_ended_note(&many[i], (struct lh_holder){ i + 1, i });
    for (uint32_t i = 0; i < 20000; i++)
        if (lh_ended_take(&many[i], &by))
            assert_int_equal(by.number, i + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_ended_it_is_told_once),
        cmocka_unit_test(the_last_destroy_counts),
        cmocka_unit_test(many_locks_keep_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
