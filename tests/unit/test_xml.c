/* SPDX-License-Identifier: MIT
 * test_xml.c - any bytes become well-formed XML. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "style.h"
#include "xml.h"

#define BAD "\xef\xbf\xbd"

static void becomes(const char *text, const char *want)
{
    char *got = NULL;
    size_t n;
    FILE *out = open_memstream(&got, &n);
    assert_non_null(out);
    lh_xml_put(out, text);
    fclose(out);
    assert_string_equal(got, want);
    free(got);
}

static void markup_is_escaped(void **state)
{
    (void)state;
    becomes("", "");
    becomes("a<b>&\"c'", "a&lt;b&gt;&amp;&quot;c&apos;");
    becomes("]]>", "]]&gt;");
    becomes("line\n\tnext", "line\n\tnext");
}

static void controls_are_replaced(void **state)
{
    (void)state;
    becomes("\033[1m\r\x7f\b", "?[1m???");
    becomes(LH_STYLE_LOCK "m" LH_STYLE_END, "m");
}

static void text_stays(void **state)
{
    (void)state;
    becomes("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
            "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
    becomes("\xf4\x8f\xbf\xbd", "\xf4\x8f\xbf\xbd");
}

static void what_is_no_utf8_is_replaced(void **state)
{
    (void)state;
    becomes("\xff", BAD);
    becomes("a\x80z", "a" BAD "z");
    becomes("\xc3", BAD); /* cut off */
    becomes("\xe2\x82<", BAD BAD "&lt;");
    becomes("\xc0\xaf", BAD BAD); /* too long for what it is */
    becomes("\xe0\x80\xaf", BAD BAD BAD);
    becomes("\xed\xa0\x80", BAD);     /* a surrogate */
    becomes("\xef\xbf\xbe", BAD);     /* U+FFFE */
    becomes("\xf4\x90\x80\x80", BAD); /* above U+10FFFF */
    becomes("\xf8\x88\x80\x80\x80", BAD BAD BAD BAD BAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markup_is_escaped),
        cmocka_unit_test(controls_are_replaced),
        cmocka_unit_test(text_stays),
        cmocka_unit_test(what_is_no_utf8_is_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
