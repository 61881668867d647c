/* SPDX-License-Identifier: MIT
 * jsontext.c - a JSON value as text, fast. */
#include "jsontext.h"

#include <stdio.h>
#include <string.h>

enum { BUFFER_BYTES = 64 * 1024, STEP = 2 };

struct writer {
    FILE *out;
    bool indented;
    size_t n; /* bytes in the buffer */
    char buffer[BUFFER_BYTES];
};

static void flush(struct writer *w)
{
    fwrite(w->buffer, 1, w->n, w->out);
    w->n = 0;
}

static void put(struct writer *w, const char *bytes, size_t n)
{
    if (n > BUFFER_BYTES - w->n)
        flush(w);
    if (n > BUFFER_BYTES) {
        fwrite(bytes, 1, n, w->out);
        return;
    }
    memcpy(w->buffer + w->n, bytes, n);
    w->n += n;
}

static void put_text(struct writer *w, const char *text)
{
    put(w, text, strlen(text));
}

static void new_line(struct writer *w, size_t depth)
{
    static const char spaces[] = "                                ";
    put(w, "\n", 1);
    for (size_t left = depth * STEP; left;) {
        size_t n = left < sizeof spaces - 1 ? left : sizeof spaces - 1;
        put(w, spaces, n);
        left -= n;
    }
}

static void put_escape(struct writer *w, unsigned char c)
{
    static const char plain[] = "\b\f\n\r\t\"\\", letters[] = "bfnrt\"\\";
    const char *at = c ? strchr(plain, c) : NULL;
    char text[8];
    if (at)
        snprintf(text, sizeof text, "\\%c", letters[at - plain]);
    else
        snprintf(text, sizeof text, "\\u%04X", c);
    put_text(w, text);
}

static void put_string(struct writer *w, const char *text, size_t n)
{
    const char *end = text + n, *start = text;
    put(w, "\"", 1);
    for (; text < end; text++) {
        unsigned char c = (unsigned char)*text;
        if (c >= ' ' && c != '"' && c != '\\')
            continue;
        put(w, start, (size_t)(text - start));
        put_escape(w, c);
        start = text + 1;
    }
    put(w, start, (size_t)(end - start));
    put(w, "\"", 1);
}

static void put_integer(struct writer *w, json_int_t value)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, value);
    put(w, text, (size_t)n);
}

static bool is_container(const json_t *value)
{
    return json_is_object(value) || json_is_array(value);
}

/* Whether it fits on a line of its own, as one frame of a stack does. */
static bool is_flat(json_t *value)
{
    size_t n = json_array_size(value);
    for (size_t i = 0; i < n; i++)
        if (is_container(json_array_get(value, i)))
            return false;
    for (void *i = json_object_iter(value); i;
         i = json_object_iter_next(value, i))
        if (is_container(json_object_iter_value(i)))
            return false;
    return true;
}

static void put_value(struct writer *w, json_t *value, size_t depth);

/* What stands before an element, the first or another one. */
static void separate(struct writer *w, bool first, bool lines, size_t depth)
{
    if (!first)
        put(w, ",", 1);
    if (lines)
        new_line(w, depth);
    else if (!first)
        put(w, " ", 1);
}

static void put_object(struct writer *w, json_t *object, size_t depth)
{
    bool lines = w->indented && !is_flat(object), first = true;
    put(w, "{", 1);
    for (void *i = json_object_iter(object); i;
         i = json_object_iter_next(object, i)) {
        const char *key = json_object_iter_key(i);
        separate(w, first, lines, depth + 1);
        put_string(w, key, strlen(key));
        put(w, ": ", 2);
        put_value(w, json_object_iter_value(i), depth + 1);
        first = false;
    }
    if (lines)
        new_line(w, depth);
    put(w, "}", 1);
}

static void put_array(struct writer *w, json_t *array, size_t depth)
{
    bool lines = w->indented && !is_flat(array);
    size_t n = json_array_size(array);
    put(w, "[", 1);
    for (size_t i = 0; i < n; i++) {
        separate(w, i == 0, lines, depth + 1);
        put_value(w, json_array_get(array, i), depth + 1);
    }
    if (lines)
        new_line(w, depth);
    put(w, "]", 1);
}

static void put_value(struct writer *w, json_t *value, size_t depth)
{
    if (json_is_object(value))
        put_object(w, value, depth);
    else if (json_is_array(value))
        put_array(w, value, depth);
    else if (json_is_string(value))
        put_string(w, json_string_value(value), json_string_length(value));
    else if (json_is_integer(value))
        put_integer(w, json_integer_value(value));
    else
        put_text(w, json_is_true(value)    ? "true"
                    : json_is_false(value) ? "false"
                                           : "null");
}

void lh_jsontext_write(FILE *out, json_t *value, bool indented)
{
    struct writer w; /* its buffer is not cleared for nothing */
    w.out = out;
    w.indented = indented;
    w.n = 0;
    put_value(&w, value, 0);
    flush(&w);
}
