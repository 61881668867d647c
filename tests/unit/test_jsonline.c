/* SPDX-License-Identifier: MIT
 * test_jsonline.c - what is JSON, and what it says, is as jansson has it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "jsonline.h"

static void same(const struct lh_jsonline_value *got, json_t *want);

static void same_elements(const struct lh_jsonline_value *got, json_t *want)
{
    const struct lh_jsonline_value *v = lh_jsonline_first(got);
    assert_int_equal(lh_jsonline_size(got), json_array_size(want));
    for (size_t i = 0; i < json_array_size(want); i++) {
        assert_non_null(v);
        same(v, json_array_get(want, i));
        v = lh_jsonline_next(got, v);
    }
    assert_null(v);
}

static void same(const struct lh_jsonline_value *got, json_t *want)
{
    static const enum lh_jsonline_type types[] = {
        [JSON_OBJECT] = LH_JSONLINE_OBJECT,
        [JSON_ARRAY] = LH_JSONLINE_ARRAY,
        [JSON_STRING] = LH_JSONLINE_STRING,
        [JSON_INTEGER] = LH_JSONLINE_INTEGER,
        [JSON_REAL] = LH_JSONLINE_REAL,
        [JSON_TRUE] = LH_JSONLINE_BOOLEAN,
        [JSON_FALSE] = LH_JSONLINE_BOOLEAN,
        [JSON_NULL] = LH_JSONLINE_NULL,
    };
    const char *key;
    json_t *value;
    assert_int_equal(got->type, types[json_typeof(want)]);
    assert_int_equal(got->is_true, json_is_true(want));
    if (json_is_integer(want))
        assert_int_equal(lh_jsonline_integer(got), json_integer_value(want));
    if (json_is_string(want))
        assert_string_equal(got->string, json_string_value(want));
    if (json_is_array(want))
        same_elements(got, want);
    json_object_foreach(want, key, value)
        same(lh_jsonline_get(got, key), value);
}

static bool agree(struct lh_jsonline *j, const char *text, size_t n)
{
    json_t *want = json_loadb(text, n, 0, NULL);
    /* It takes only these at the top. */
    char first = n ? text[strspn(text, " \t\r\n")] : '\0';
    const struct lh_jsonline_value *got = NULL;
    if (first == '{' || first == '[')
        got = lh_jsonline_read(j, text, n);
    if (!got != !want)
        print_error("%.*s\n", (int)n, text);
    assert_int_equal(got != NULL, want != NULL);
    if (want)
        same(got, want);
    json_decref(want);
    return got != NULL;
}

static const char *const good[] = {
    "{}",
    "[]",
    " [ ] ",
    "[1,-1,0,-0,9223372036854775807,-9223372036854775808]",
    "[1.5,-0.25e10,1E5,2e-3,1e+2]",
    "[true,false,null]",
    "{\"a\":{\"b\":[{\"c\":[[],{}]}]},\"d\":\"e\"}",
    "{\"a\":1,\"a\":[2]}",
    "[\"\",\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\",\"\\u0041\\u00e9\\u20AC\"]",
    "[\"\\ud83d\\ude00\",\"\xf0\x9f\x98\x80\xc3\xa9\xe2\x82\xac\x7f\"]",
    "{\t\"a\" :\r\n[ 1 , 2 ] }",
};

static const char *const bad[] = {
    "",
    "{",
    "[",
    "{\"a\"}",
    "{\"a\":}",
    "{a:1}",
    "{1:1}",
    "[1,]",
    "{\"a\":1,}",
    "[1 2]",
    "[1]]",
    "[1] x",
    "[01]",
    "[-]",
    "[+1]",
    "[1.]",
    "[.5]",
    "[1e]",
    "[1e+]",
    "[9223372036854775808]",
    "[-9223372036854775809]",
    "[tru]",
    "[nul]",
    "[TRUE]",
    "[\"a]",
    "[\"\\x\"]",
    "[\"\\u12\"]",
    "[\"\\u0000\"]",
    "[\"\\ud83d\"]",
    "[\"\\ud83d\\u0041\"]",
    "[\"\\ude00\"]",
    "[\"\n\"]",
    "[\"\xff\"]",
    "[\"\xc3\"]",
    "[\"\xc0\x80\"]",
    "[\"\xed\xa0\x80\"]",
    "[\"\xf4\x90\x80\x80\"]",
    "[\"\xe0\x80\x80\"]",
};

static void what_is_json_is_read(void **state)
{
    struct lh_jsonline j = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(agree(&j, good[i], strlen(good[i])));
    lh_jsonline_free(&j);
}

static void what_is_none_is_refused(void **state)
{
    struct lh_jsonline j = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(agree(&j, bad[i], strlen(bad[i])));
    assert_false(agree(&j, "[\"a\0b\"]", 7));
    lh_jsonline_free(&j);
}

/* In memory of its own size, so that a sanitizer sees a read beyond it. */
static void changed(struct lh_jsonline *j, const char *text, size_t n,
                    uint64_t r)
{
    char *copy = malloc(n + 1);
    assert_non_null(copy);
    memcpy(copy, text, n);
    copy[n] = '\0';
    for (int i = 0; i < 2 && n; i++, r >>= 24)
        copy[r % n] = "{}[]\",:\\u0n-. a\xc3\xa9\n"[(r >> 16) % 18];
    agree(j, copy, n);
    free(copy);
}

static void damage_is_judged_alike(void **state)
{
    struct lh_jsonline j = { 0 };
    uint64_t r = 1;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        const char *text = good[(size_t)round % (sizeof good / sizeof *good)];
        r = r * 6364136223846793005u + 1442695040888963407u;
        size_t n = strlen(text);
        changed(&j, text, n - (r >> 60 == 0 ? n / 3 : 0), r >> 8);
    }
    lh_jsonline_free(&j);
}

static void depth_has_a_limit(void **state)
{
    struct lh_jsonline j = { 0 };
    static char text[200001];
    (void)state;
    memset(text, '[', 100000);
    memset(text + 100000, ']', 100000);
    assert_null(lh_jsonline_read(&j, text, 200000));
    assert_non_null(lh_jsonline_read(&j, text + 99900, 200));
    lh_jsonline_free(&j);
}

static void what_is_not_there_is_nothing(void **state)
{
    struct lh_jsonline j = { 0 };
    const struct lh_jsonline_value *v =
        lh_jsonline_read(&j, "{\"a\":[]}", strlen("{\"a\":[]}"));
    (void)state;
    assert_null(lh_jsonline_get(v, "b"));
    assert_null(lh_jsonline_get(NULL, "b"));
    assert_null(lh_jsonline_get(lh_jsonline_get(v, "a"), "b"));
    assert_null(lh_jsonline_first(lh_jsonline_get(v, "a")));
    assert_int_equal(lh_jsonline_size(v), 0);
    assert_int_equal(lh_jsonline_size(NULL), 0);
    assert_int_equal(lh_jsonline_integer(NULL), 0);
    assert_false(lh_jsonline_is(NULL, LH_JSONLINE_NULL));
    lh_jsonline_free(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_json_is_read),
        cmocka_unit_test(what_is_none_is_refused),
        cmocka_unit_test(damage_is_judged_alike),
        cmocka_unit_test(depth_has_a_limit),
        cmocka_unit_test(what_is_not_there_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
