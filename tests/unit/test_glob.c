/* SPDX-License-Identifier: MIT
 *
 * test_glob.c - patterns with * and ?.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "glob.h"

static void a_pattern_is_the_whole_text(void **state)
{
    (void)state;
    assert_true(lh_glob_match("transfer", "transfer"));
    assert_false(lh_glob_match("transfer", "transfers"));
    assert_false(lh_glob_match("ransfer", "transfer"));
    assert_true(lh_glob_match("", ""));
    assert_false(lh_glob_match("", "a"));
}

static void a_star_is_any_text(void **state)
{
    (void)state;
    assert_true(lh_glob_match("*", ""));
    assert_true(lh_glob_match("**", "abc"));
    assert_true(lh_glob_match("a*", "a"));
    assert_true(lh_glob_match("*c", "abcbc"));
    assert_true(lh_glob_match("a*b*c", "a-b-b-c-c"));
    assert_false(lh_glob_match("a*b*c", "a-c-b"));
    assert_true(lh_glob_match("*aab", "aaaaaaab"));
}

static void a_question_mark_is_one_character(void **state)
{
    (void)state;
    assert_true(lh_glob_match("a?c", "abc"));
    assert_false(lh_glob_match("a?c", "ac"));
    assert_false(lh_glob_match("?", ""));
    assert_true(lh_glob_match("?*", "a"));
}

static void nothing_else_is_special(void **state)
{
    (void)state;
    assert_true(lh_glob_match("accounts[3].lock", "accounts[3].lock"));
    assert_true(lh_glob_match("accounts[*].lock", "accounts[17].lock"));
    assert_false(lh_glob_match("[ab]", "a"));
    assert_false(lh_glob_match("\\*", "*"));
}

static void a_path_matches_from_any_slash_on(void **state)
{
    (void)state;
    assert_true(lh_glob_match_path("bank.c", "/home/src/bank.c"));
    assert_true(lh_glob_match_path("src/*.c", "/home/src/bank.c"));
    assert_true(lh_glob_match_path("/home/*", "/home/src/bank.c"));
    assert_false(lh_glob_match_path("ank.c", "/home/src/bank.c"));
    assert_false(lh_glob_match_path("home", "/home/src/bank.c"));
    assert_false(lh_glob_match_path("a", ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pattern_is_the_whole_text),
        cmocka_unit_test(a_star_is_any_text),
        cmocka_unit_test(a_question_mark_is_one_character),
        cmocka_unit_test(nothing_else_is_special),
        cmocka_unit_test(a_path_matches_from_any_slash_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
