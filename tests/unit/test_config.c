/* SPDX-License-Identifier: MIT
 * test_config.c - the LOCKHOUND variable. */
#include "runtime/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct lh_config c;

static void without_a_variable_findings_go_to_stderr(void **state)
{
    (void)state;
    lh_config_parse(&c, NULL);
    assert_true(c.print);
    assert_string_equal(c.dir, "");
    assert_int_equal(c.memory_bytes, 0);
    assert_int_equal(c.stacks, LH_STACKS_AUTO);
    assert_string_equal(c.complaint, "");
}

static void every_key_is_taken(void **state)
{
    (void)state;
    lh_config_parse(&c, "dir=/a/b,stacks=exact,memory=512M,print=none,all,"
                        "exit-code=9");
    assert_string_equal(c.dir, "/a/b");
    assert_int_equal(c.stacks, LH_STACKS_EXACT);
    assert_int_equal(c.memory_bytes, (size_t)512 << 20);
    assert_false(c.print);
    assert_true(c.all);
    assert_int_equal(c.exit_code, 9);
    assert_string_equal(c.complaint, "");
}

static void percent_escapes_stand_for_commas_and_percents(void **state)
{
    (void)state;
    lh_config_parse(&c, "dir=/a%2Cb%25c%zz%");
    assert_string_equal(c.dir, "/a,b%c%zz%");
    lh_config_parse(&c, "dir=/x%2c");
    assert_string_equal(c.dir, "/x,");
}

static void what_is_wrong_is_said_with_what_was_expected(void **state)
{
    static const struct {
        const char *value, *complaint;
    } wrong[] = {
        { "colour=1", "key 'colour' in LOCKHOUND ignored; expected dir, "
                      "stacks, memory, on-deadlock, print, all or exit-code" },
        { "dir=here", "dir 'here' in LOCKHOUND ignored; expected an absolute "
                      "path" },
        { "stacks=deep", "stacks 'deep' in LOCKHOUND ignored; expected auto, "
                         "exact or pc" },
        { "memory=12Q", "memory '12Q' in LOCKHOUND ignored; expected a size "
                        "such as 512M" },
        { "exit-code=256", "exit-code '256' in LOCKHOUND ignored; expected 0 "
                           "to 255" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        lh_config_parse(&c, wrong[i].value);
        assert_string_equal(c.complaint, wrong[i].complaint);
    }
}

static void the_rest_counts_after_a_wrong_key(void **state)
{
    (void)state;
    lh_config_parse(&c, "bogus=1,,print=none");
    assert_false(c.print);
}

static void a_path_that_is_too_long_is_refused(void **state)
{
    char value[5000] = "dir=/";

    (void)state;
    memset(value + 5, 'x', sizeof value - 6);
    lh_config_parse(&c, value);
    assert_string_equal(c.dir, "");
    assert_true(*c.complaint);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_variable_findings_go_to_stderr),
        cmocka_unit_test(every_key_is_taken),
        cmocka_unit_test(percent_escapes_stand_for_commas_and_percents),
        cmocka_unit_test(what_is_wrong_is_said_with_what_was_expected),
        cmocka_unit_test(the_rest_counts_after_a_wrong_key),
        cmocka_unit_test(a_path_that_is_too_long_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
