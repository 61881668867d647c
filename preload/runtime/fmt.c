/* SPDX-License-Identifier: MIT
 * fmt.c - building text in a growing buffer. */
#include "runtime/fmt.h"

#include <string.h>

#include "runtime/arena.h"

void lh_fmt_reset(struct lh_fmt *f)
{
    f->length = 0;
    f->failed = false;
}

void lh_fmt_free(struct lh_fmt *f)
{
    lh_arena_resize(NULL, f->text, f->capacity, 0);
    *f = (struct lh_fmt){ 0 };
}

void lh_fmt_bytes(struct lh_fmt *f, const char *bytes, size_t n)
{
    void *text = f->text;

    if (f->failed)
        return;
    if (lh_arena_reserve(&text, &f->capacity, 1, f->length + n) != 0) {
        f->failed = true;
        return;
    }
    f->text = text;
    memcpy(f->text + f->length, bytes, n);
    f->length += n;
}

void lh_fmt_text(struct lh_fmt *f, const char *text)
{
    lh_fmt_bytes(f, text, strlen(text));
}

static void number(struct lh_fmt *f, uint64_t value, unsigned base)
{
    char digits[24];
    size_t at = sizeof digits;

    do {
        digits[--at] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    lh_fmt_bytes(f, digits + at, sizeof digits - at);
}

void lh_fmt_unsigned(struct lh_fmt *f, uint64_t value)
{
    number(f, value, 10);
}

void lh_fmt_signed(struct lh_fmt *f, int64_t value)
{
    if (value < 0)
        lh_fmt_bytes(f, "-", 1);
    number(f, value < 0 ? -(uint64_t)value : (uint64_t)value, 10);
}

void lh_fmt_hex(struct lh_fmt *f, uint64_t value)
{
    lh_fmt_bytes(f, "0x", 2);
    number(f, value, 16);
}

/* How many bytes the UTF-8 character at s has, 0 if it is none. */
static size_t utf8_length(const unsigned char *s)
{
    size_t n = *s < 0xc2   ? 0
               : *s < 0xe0 ? 2
               : *s < 0xf0 ? 3
               : *s < 0xf5 ? 4
                           : 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    /* Overlong forms, surrogates, and what is beyond U+10FFFF. */
    if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
        (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

static void escape(struct lh_fmt *f, unsigned char c)
{
    char u[6] = "\\u00";

    u[4] = "0123456789abcdef"[c >> 4];
    u[5] = "0123456789abcdef"[c & 15];
    lh_fmt_bytes(f, u, 6);
}

void lh_fmt_string(struct lh_fmt *f, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;

    lh_fmt_bytes(f, "\"", 1);
    while (*s) {
        size_t n = *s < 0x80 ? 1 : utf8_length(s);
        if (n == 0 || *s < 0x20 || *s == 0x7f) {
            escape(f, *s++);
            continue;
        }
        if (*s == '"' || *s == '\\')
            lh_fmt_bytes(f, "\\", 1);
        lh_fmt_bytes(f, (const char *)s, n);
        s += n;
    }
    lh_fmt_bytes(f, "\"", 1);
}

static void member(struct lh_fmt *f, const char *key)
{
    lh_fmt_bytes(f, ",\"", 2);
    lh_fmt_text(f, key);
    lh_fmt_bytes(f, "\":", 2);
}

void lh_fmt_key_unsigned(struct lh_fmt *f, const char *key, uint64_t value)
{
    member(f, key);
    lh_fmt_unsigned(f, value);
}

void lh_fmt_key_hex(struct lh_fmt *f, const char *key, uint64_t value)
{
    member(f, key);
    lh_fmt_bytes(f, "\"", 1);
    lh_fmt_hex(f, value);
    lh_fmt_bytes(f, "\"", 1);
}

void lh_fmt_key_string(struct lh_fmt *f, const char *key, const char *value)
{
    member(f, key);
    lh_fmt_string(f, value);
}

bool lh_fmt_parse_unsigned(const char *text, size_t n, uint64_t *value)
{
    uint64_t v = 0;

    if (n == 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        if (__builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(text[i] - '0'), &v))
            return false;
    }
    *value = v;
    return true;
}
