/* SPDX-License-Identifier: MIT
 * test_fmt.c - text and JSON built without stdio. */
#include "runtime/fmt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct lh_fmt f;

static int setup(void **state)
{
    (void)state;
    f = (struct lh_fmt){ 0 };
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    lh_fmt_free(&f);
    return 0;
}

static void expect(const char *text)
{
    assert_int_equal(f.length, strlen(text));
    assert_memory_equal(f.text, text, f.length);
    lh_fmt_reset(&f);
}

static void numbers_are_written_in_full_range(void **state)
{
    (void)state;
    lh_fmt_unsigned(&f, UINT64_MAX);
    expect("18446744073709551615");
    lh_fmt_signed(&f, INT64_MIN);
    expect("-9223372036854775808");
    lh_fmt_hex(&f, 0);
    expect("0x0");
    lh_fmt_hex(&f, UINT64_MAX);
    expect("0xffffffffffffffff");
}

static void strings_are_valid_json(void **state)
{
    (void)state;
    lh_fmt_string(&f, "a\"b\\c\n\x7f");
    expect("\"a\\\"b\\\\c\\u000a\\u007f\"");
}

static void utf8_stays_and_other_bytes_become_latin1(void **state)
{
    (void)state;
    lh_fmt_string(&f, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x95");
    expect("\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x95\"");
    lh_fmt_string(&f, "\xe9t\xe9"); /* Latin-1 */
    expect("\"\\u00e9t\\u00e9\"");
    lh_fmt_string(&f, "\xc0\x80\xed\xa0\x80\xf8"); /* overlong, surrogate */
    expect("\"\\u00c0\\u0080\\u00ed\\u00a0\\u0080\\u00f8\"");
    lh_fmt_string(&f, "\xe2\x82"); /* cut short */
    expect("\"\\u00e2\\u0082\"");
}

static void a_long_text_grows_the_buffer(void **state)
{
    (void)state;
    for (int i = 0; i < 100000; i++)
        lh_fmt_text(&f, "0123456789");
    assert_false(f.failed);
    assert_int_equal(f.length, 1000000);
    assert_memory_equal(f.text + 999990, "0123456789", 10);
}

static void only_digits_that_fit_are_a_number(void **state)
{
    uint64_t v = 7;

    (void)state;
    assert_true(lh_fmt_parse_unsigned("18446744073709551615", 20, &v));
    assert_true(v == UINT64_MAX);
    assert_false(lh_fmt_parse_unsigned("18446744073709551616", 20, &v));
    assert_false(lh_fmt_parse_unsigned("", 0, &v));
    assert_false(lh_fmt_parse_unsigned("1x", 2, &v));
    assert_false(lh_fmt_parse_unsigned("-1", 2, &v));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_are_written_in_full_range,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(strings_are_valid_json, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            utf8_stays_and_other_bytes_become_latin1, setup, teardown),
        cmocka_unit_test_setup_teardown(a_long_text_grows_the_buffer, setup,
                                        teardown),
        cmocka_unit_test(only_digits_that_fit_are_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
