/* SPDX-License-Identifier: MIT
 * jsonline.c - one line of JSON, read fast. */
#include "jsonline.h"

#include <stdlib.h>
#include <string.h>

#include "pool.h"

enum { MAX_DEPTH = 512 };

struct reader {
    struct lh_jsonline *json;
    const char *at, *end;
    char *text; /* where the next string goes */
    size_t depth;
};

static void skip_space(struct reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' ||
                              *r->at == '\n' || *r->at == '\r'))
        r->at++;
}

static bool take(struct reader *r, char c)
{
    skip_space(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool take_word(struct reader *r, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

static bool is_digit(const struct reader *r)
{
    return r->at < r->end && *r->at >= '0' && *r->at <= '9';
}

static bool take_digits(struct reader *r)
{
    if (!is_digit(r))
        return false;
    while (is_digit(r))
        r->at++;
    return true;
}

/* What follows the integer part of a real number, if it is one. */
static bool take_fraction(struct reader *r, bool *is_real)
{
    *is_real = false;
    if (r->at < r->end && *r->at == '.') {
        *is_real = true;
        r->at++;
        if (!take_digits(r))
            return false;
    }
    if (r->at == r->end || (*r->at != 'e' && *r->at != 'E'))
        return true;
    *is_real = true;
    r->at++;
    if (r->at < r->end && (*r->at == '+' || *r->at == '-'))
        r->at++;
    return take_digits(r);
}

static bool read_number(struct reader *r, struct lh_jsonline_value *v)
{
    bool negative = *r->at == '-', fits = true, is_real;
    r->at += negative;
    const char *first = r->at;
    int64_t n = 0;
    for (; is_digit(r); r->at++) {
        int digit = *r->at - '0';
        fits = fits && !__builtin_mul_overflow(n, 10, &n) &&
               !__builtin_add_overflow(n, negative ? -digit : digit, &n);
    }
    if (r->at == first || (*first == '0' && r->at > first + 1))
        return false;
    if (!take_fraction(r, &is_real))
        return false;
    v->type = is_real ? LH_JSONLINE_REAL : LH_JSONLINE_INTEGER;
    v->integer = is_real ? 0 : n;
    return is_real || fits;
}

static bool read_hex(struct reader *r, unsigned *value)
{
    *value = 0;
    if (r->end - r->at < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        char c = *r->at++;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10)
                                                : 16;
        if (digit > 15)
            return false;
        *value = *value * 16 + digit;
    }
    return true;
}

static void put_utf8(struct reader *r, unsigned c)
{
    static const unsigned char leads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    int n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    if (n == 1) {
        *r->text++ = (char)c;
        return;
    }
    *r->text++ = (char)(leads[n] | c >> (6 * (n - 1)));
    while (--n > 0)
        *r->text++ = (char)(0x80 | (c >> (6 * (n - 1)) & 0x3f));
}

/* After "\u": one of the first plane, or a pair of surrogates. */
static bool read_code(struct reader *r)
{
    unsigned c, low;
    if (!read_hex(r, &c) || c == 0 || (c >= 0xdc00 && c <= 0xdfff))
        return false;
    if (c >= 0xd800 && c <= 0xdbff) {
        if (!take_word(r, "\\u") || !read_hex(r, &low) || low < 0xdc00 ||
            low > 0xdfff)
            return false;
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    }
    put_utf8(r, c);
    return true;
}

static bool read_escape(struct reader *r)
{
    static const char letters[] = "bfnrt\"\\/", plain[] = "\b\f\n\r\t\"\\/";
    if (r->at == r->end)
        return false;
    char c = *r->at++;
    const char *letter = c ? strchr(letters, c) : NULL;
    if (letter)
        *r->text++ = plain[letter - letters];
    return letter || (c == 'u' && read_code(r));
}

/* Bytes of a character that is not ASCII; 0: it is no UTF-8. */
static size_t utf8_length(const struct reader *r)
{
    const unsigned char *s = (const unsigned char *)r->at;
    size_t n = s[0] >= 0xc2 && s[0] <= 0xdf   ? 2
               : s[0] >= 0xe0 && s[0] <= 0xef ? 3
               : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                              : 0;
    if (n == 0 || (size_t)(r->end - r->at) < n)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    bool bad = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
               (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f);
    return bad ? 0 : n;
}

/* NULL: it is none. */
static const char *read_string(struct reader *r)
{
    const char *result = r->text;
    if (!take(r, '"'))
        return NULL;
    while (r->at < r->end && *r->at != '"') {
        unsigned char c = (unsigned char)*r->at;
        size_t n = c < 0x80 ? c >= ' ' : utf8_length(r);
        if (n == 0)
            return NULL;
        if (c == '\\') {
            r->at++;
            if (!read_escape(r))
                return NULL;
            continue;
        }
        while (n-- > 0)
            *r->text++ = *r->at++;
    }
    if (r->at == r->end)
        return NULL;
    r->at++;
    *r->text++ = '\0';
    return result;
}

static bool read_value(struct reader *r, const char *key);

static bool read_element(struct reader *r, bool is_object)
{
    const char *key = NULL;
    if (!is_object)
        return read_value(r, NULL);
    key = read_string(r);
    return key && take(r, ':') && read_value(r, key);
}

/* i: the index of the array or object. */
static bool read_elements(struct reader *r, size_t i)
{
    bool is_object = *r->at == '{';
    char end = is_object ? '}' : ']';
    size_t n = 0;
    r->at++;
    if (r->depth++ == MAX_DEPTH)
        return false;
    if (!take(r, end)) {
        do {
            if (!read_element(r, is_object))
                return false;
            n++;
        } while (take(r, ','));
        if (!take(r, end))
            return false;
    }
    r->depth--;
    struct lh_jsonline_value *v = &r->json->values[i];
    v->type = is_object ? LH_JSONLINE_OBJECT : LH_JSONLINE_ARRAY;
    v->n = n;
    v->span = r->json->n - i;
    return true;
}

static bool read_word(struct reader *r, struct lh_jsonline_value *v)
{
    if (take_word(r, "null"))
        return true;
    v->type = LH_JSONLINE_BOOLEAN;
    v->is_true = take_word(r, "true");
    return v->is_true || take_word(r, "false");
}

static bool read_value(struct reader *r, const char *key)
{
    struct lh_jsonline *j = r->json;
    skip_space(r);
    if (r->at == r->end)
        return false;
    j->values = lh_pool_grow(j->values, j->n, &j->capacity, sizeof *j->values);
    size_t i = j->n++;
    struct lh_jsonline_value *v = &j->values[i];
    *v = (struct lh_jsonline_value){ .key = key, .span = 1 };
    switch (*r->at) {
    case '{':
    case '[':
        return read_elements(r, i);
    case '"':
        v->type = LH_JSONLINE_STRING;
        v->string = read_string(r);
        return v->string != NULL;
    case 't':
    case 'f':
    case 'n':
        return read_word(r, v);
    default:
        return read_number(r, v);
    }
}

const struct lh_jsonline_value *lh_jsonline_read(struct lh_jsonline *j,
                                                 const char *line, size_t n)
{
    /* A string becomes no longer than it is there with its quotes. */
    while (j->text_capacity < n)
        j->text = lh_pool_grow(j->text, j->text_capacity, &j->text_capacity, 1);
    struct reader r = { j, line, line + n, j->text, 0 };
    j->n = 0;
    if (!read_value(&r, NULL))
        return NULL;
    skip_space(&r);
    return r.at == r.end ? j->values : NULL;
}

void lh_jsonline_free(struct lh_jsonline *j)
{
    free(j->values);
    free(j->text);
    *j = (struct lh_jsonline){ 0 };
}

bool lh_jsonline_is(const struct lh_jsonline_value *v,
                    enum lh_jsonline_type type)
{
    return v && v->type == type;
}

int64_t lh_jsonline_integer(const struct lh_jsonline_value *v)
{
    return v ? v->integer : 0;
}

size_t lh_jsonline_size(const struct lh_jsonline_value *v)
{
    return lh_jsonline_is(v, LH_JSONLINE_ARRAY) ? v->n : 0;
}

const struct lh_jsonline_value *
lh_jsonline_first(const struct lh_jsonline_value *v)
{
    return v && v->n ? v + 1 : NULL;
}

const struct lh_jsonline_value *
lh_jsonline_next(const struct lh_jsonline_value *list,
                 const struct lh_jsonline_value *v)
{
    v += v->span;
    return v < list + list->span ? v : NULL;
}

const struct lh_jsonline_value *
lh_jsonline_get(const struct lh_jsonline_value *object, const char *key)
{
    const struct lh_jsonline_value *found = NULL, *v = NULL;
    if (lh_jsonline_is(object, LH_JSONLINE_OBJECT))
        v = lh_jsonline_first(object);
    for (; v; v = lh_jsonline_next(object, v))
        if (strcmp(v->key, key) == 0)
            found = v;
    return found;
}
