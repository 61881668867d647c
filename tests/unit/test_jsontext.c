/* SPDX-License-Identifier: MIT
 * test_jsontext.c - what is written is what was there, in few lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "jsontext.h"

static char *written(json_t *value, bool indented)
{
    char *got = NULL;
    size_t n;
    FILE *out = open_memstream(&got, &n);
    assert_non_null(out);
    lh_jsontext_write(out, value, indented);
    fclose(out);
    return got;
}

static void becomes(const char *text, bool indented, const char *want)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    char *got = written(value, indented);
    assert_string_equal(got, want);
    json_t *again = json_loads(got, JSON_DECODE_ANY, NULL);
    assert_true(json_equal(value, again));
    json_decref(value);
    json_decref(again);
    free(got);
}

static void values_are_written(void **state)
{
    (void)state;
    becomes("[null,true,false,-9223372036854775808,0]", false,
            "[null, true, false, -9223372036854775808, 0]");
    becomes("\"\\u0001\\u001f\\\"\\\\/\\b\\f\\n\\r\\t\x7f\xc3\xa9\"", false,
            "\"\\u0001\\u001F\\\"\\\\/\\b\\f\\n\\r\\t\x7f\xc3\xa9\"");
    becomes("{\"b\":[],\"a\":{}}", false, "{\"b\": [], \"a\": {}}");
}

static void what_holds_no_other_is_on_one_line(void **state)
{
    (void)state;
    becomes("{\"a\":1,\"b\":[[1,2],{\"c\":3}],\"d\":[]}", true,
            "{\n  \"a\": 1,\n  \"b\": [\n    [1, 2],\n    {\"c\": 3}\n  ],\n"
            "  \"d\": []\n}");
    becomes("{\"a\":1,\"b\":2}", true, "{\"a\": 1, \"b\": 2}");
    becomes("[[]]", true, "[\n  []\n]");
}

static void long_strings_are_whole(void **state)
{
    (void)state;
    static char text[300001];
    for (size_t n = 65000; n < 300000; n += 77777) {
        memset(text, 'a', n);
        text[n / 2] = '"';
        text[n] = '\0';
        json_t *value = json_pack("[s, s]", text, text);
        char *got = written(value, true);
        json_t *again = json_loads(got, 0, NULL);
        assert_true(json_equal(value, again));
        json_decref(value);
        json_decref(again);
        free(got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_written),
        cmocka_unit_test(what_holds_no_other_is_on_one_line),
        cmocka_unit_test(long_strings_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
