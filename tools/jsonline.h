/* SPDX-License-Identifier: MIT
 *
 * jsonline.h - one line of JSON, read fast.
 *
 * A file of records has millions of small values; those that have no memory of
 * their own and lie side by side are read many times faster than jansson's.
 * What is JSON is decided as there: UTF-8 alone, no integer that does not fit,
 * of equal keys the last one.
 */
#ifndef LH_TOOLS_JSONLINE_H
#define LH_TOOLS_JSONLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lh_jsonline_type {
    LH_JSONLINE_NULL,
    LH_JSONLINE_BOOLEAN,
    LH_JSONLINE_INTEGER,
    LH_JSONLINE_REAL, /* its value is not kept */
    LH_JSONLINE_STRING,
    LH_JSONLINE_ARRAY,
    LH_JSONLINE_OBJECT
};

/* What is inside of an array or an object comes after it. */
struct lh_jsonline_value {
    enum lh_jsonline_type type;
    bool is_true;
    const char *key;    /* in an object; else NULL */
    const char *string; /* UTF-8 without a NUL */
    int64_t integer;
    size_t n;    /* of an array or an object: its elements */
    size_t span; /* values to the next one beside it */
};

/* Memory for lines, one after the other; zeroed, it is empty. */
struct lh_jsonline {
    struct lh_jsonline_value *values;
    size_t n, capacity;
    char *text; /* of strings */
    size_t text_capacity;
};

/* The value of a line, which lives until the next call; NULL: it is no JSON. */
const struct lh_jsonline_value *lh_jsonline_read(struct lh_jsonline *j,
                                                 const char *line, size_t n);
void lh_jsonline_free(struct lh_jsonline *j);

/* These take NULL for a value that is not there. */
bool lh_jsonline_is(const struct lh_jsonline_value *v,
                    enum lh_jsonline_type type);
/* 0 if it is no integer. */
int64_t lh_jsonline_integer(const struct lh_jsonline_value *v);
/* The elements of an array; 0 if it is none. */
size_t lh_jsonline_size(const struct lh_jsonline_value *v);
/* The first element of an array or an object, and the next one; NULL: there is
 * none. */
const struct lh_jsonline_value *
lh_jsonline_first(const struct lh_jsonline_value *v);
const struct lh_jsonline_value *
lh_jsonline_next(const struct lh_jsonline_value *list,
                 const struct lh_jsonline_value *v);
/* NULL: the object, if it is one, has no such key. */
const struct lh_jsonline_value *
lh_jsonline_get(const struct lh_jsonline_value *object, const char *key);

#endif
