/* SPDX-License-Identifier: MIT
 * fields.c - the keys of one JSON object, read strictly. */
#include "fields.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"

struct lh_fields lh_fields_inner(struct lh_fields *r,
                                 const struct lh_jsonline_value *object)
{
    return (struct lh_fields){ r->process, object, r->bad };
}

const struct lh_jsonline_value *lh_fields_get(struct lh_fields *r,
                                              const char *key, bool needed)
{
    const struct lh_jsonline_value *value = lh_jsonline_get(r->object, key);
    if (!value && needed && !r->bad)
        r->bad = key;
    return value;
}

static uint64_t number_of(struct lh_fields *r, const char *key, bool needed)
{
    const struct lh_jsonline_value *value = lh_fields_get(r, key, needed);
    if (!value)
        return 0;
    if (!lh_jsonline_is(value, LH_JSONLINE_INTEGER) ||
        lh_jsonline_integer(value) < 0) {
        r->bad = key;
        return 0;
    }
    return (uint64_t)lh_jsonline_integer(value);
}

uint64_t lh_fields_number(struct lh_fields *r, const char *key)
{
    return number_of(r, key, true);
}

uint64_t lh_fields_id(struct lh_fields *r, const char *key)
{
    uint64_t value = number_of(r, key, true);
    if (!value && !r->bad)
        r->bad = key;
    return value;
}

uint64_t lh_fields_optional_number(struct lh_fields *r, const char *key)
{
    return number_of(r, key, false);
}

const char *lh_fields_borrow(struct lh_fields *r, const char *key, bool needed)
{
    const struct lh_jsonline_value *value = lh_fields_get(r, key, needed);
    if (!value)
        return "";
    if (!lh_jsonline_is(value, LH_JSONLINE_STRING)) {
        r->bad = key;
        return "";
    }
    return value->string;
}

/* Longer than any path or name. A text is told wherever a record refers to its
 * own, so that one of a whole file would be told very often. */
enum { MAX_TEXT_BYTES = 4096 };

static const char *copy_text(struct lh_pool *pool, const char *text)
{
    size_t n = strlen(text);
    if (n <= MAX_TEXT_BYTES)
        return lh_pool_copy(pool, text);
    n = MAX_TEXT_BYTES;
    while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--; /* inside of a character */
    return lh_pool_format(pool, "%.*s...", (int)n, text);
}

static const char *text_of(struct lh_fields *r, const char *key, bool needed)
{
    const char *value = lh_fields_borrow(r, key, needed);
    return *value ? copy_text(&r->process->pool, value) : "";
}

const char *lh_fields_text(struct lh_fields *r, const char *key)
{
    return text_of(r, key, true);
}

const char *lh_fields_optional_text(struct lh_fields *r, const char *key)
{
    return text_of(r, key, false);
}

bool lh_fields_optional_true(struct lh_fields *r, const char *key)
{
    const struct lh_jsonline_value *value = lh_fields_get(r, key, false);
    if (value && !lh_jsonline_is(value, LH_JSONLINE_BOOLEAN))
        r->bad = key;
    return value && value->is_true;
}

uint64_t lh_fields_address(struct lh_fields *r, const char *key)
{
    const char *value = lh_fields_borrow(r, key, true);
    char *end = NULL;
    errno = 0;
    uint64_t result = strtoull(value, &end, 16);
    if (strncmp(value, "0x", 2) != 0 || *end || errno)
        r->bad = key;
    return result;
}

int lh_fields_word(struct lh_fields *r, const char *key,
                   const char *const *words)
{
    const char *value = lh_fields_borrow(r, key, true);
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], value) == 0)
            return i;
    r->bad = r->bad ? r->bad : key;
    return -1;
}

bool lh_fields_shared(struct lh_fields *r, const char *key)
{
    static const char *const modes[] = { "exclusive", "shared", "queued",
                                         NULL };
    return lh_fields_word(r, key, modes) == 1;
}

enum lh_model_wait lh_fields_wait(struct lh_fields *r)
{
    static const char *const words[] = { "block", "timed", "condition", "tried",
                                         NULL };
    int w = lh_fields_word(r, "wait", words);
    return w < 0 ? LH_MODEL_BLOCK : (enum lh_model_wait)w;
}

struct lh_model_frame lh_fields_frame(struct lh_fields *r, const char *key,
                                      const struct lh_jsonline_value *value)
{
    if (lh_jsonline_size(value) != 2) {
        r->bad = key;
        return (struct lh_model_frame){ 0 };
    }
    const struct lh_jsonline_value *module = lh_jsonline_first(value);
    const struct lh_jsonline_value *offset = lh_jsonline_next(value, module);
    if (!lh_jsonline_is(module, LH_JSONLINE_INTEGER) ||
        !lh_jsonline_is(offset, LH_JSONLINE_INTEGER) ||
        lh_jsonline_integer(module) < 0) {
        r->bad = key;
        return (struct lh_model_frame){ 0 };
    }
    return (struct lh_model_frame){ (uint64_t)lh_jsonline_integer(module),
                                    (uint64_t)lh_jsonline_integer(offset) };
}

bool lh_fields_optional_frame(struct lh_fields *r, const char *key,
                              struct lh_model_frame *frame)
{
    const struct lh_jsonline_value *value = lh_fields_get(r, key, false);
    if (value)
        *frame = lh_fields_frame(r, key, value);
    return value != NULL;
}

const struct lh_jsonline_value *lh_fields_array(struct lh_fields *r,
                                                const char *key, bool needed)
{
    const struct lh_jsonline_value *value = lh_fields_get(r, key, needed);
    if (value && !lh_jsonline_is(value, LH_JSONLINE_ARRAY))
        r->bad = key;
    return value;
}
