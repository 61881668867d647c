/* SPDX-License-Identifier: MIT
 * test_demangle.c - C++ names as people write them. */
#include "demangle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pool.h"

static void becomes(const char *name, const char *want)
{
    struct lh_pool pool = { 0 };
    assert_string_equal(lh_demangle_shorten(&pool, name), want);
    lh_pool_free(&pool);
}

static void short_names_keep_their_arguments(void **state)
{
    (void)state;
    becomes("map<int>::find", "map<int>::find");
}

static void arguments_of_long_names_are_cut(void **state)
{
    (void)state;
    becomes("a_rather_long_name_of_a_class<std::pair<int, int>, char>::find",
            "a_rather_long_name_of_a_class<...>::find");
}

/* They get longer when they are cut: nothing behind them may be lost. */
static void empty_arguments_leave_the_rest_as_it_is(void **state)
{
    (void)state;
    becomes("lambda in first<>::second<int, std::string>::third",
            "lambda in first<...>::second<...>::third");
    becomes("lambda<><><><><><>", "lambda<><><><><><>");
}

static void operators_are_no_brackets(void **state)
{
    (void)state;
    becomes("a_rather_long_name_of_a_class<int, char>::operator<",
            "a_rather_long_name_of_a_class<...>::operator<");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_names_keep_their_arguments),
        cmocka_unit_test(arguments_of_long_names_are_cut),
        cmocka_unit_test(empty_arguments_leave_the_rest_as_it_is),
        cmocka_unit_test(operators_are_no_brackets),
    };
    return cmocka_run_group_tests_name("demangle", tests, NULL, NULL);
}
