/* SPDX-License-Identifier: MIT
 * context.c - what a thread's callees may know without being told. */
#include "ord/context.h"

#include <errno.h>

static _Thread_local struct ord_context *innermost;

int ord_context_push(struct ord_context *record, const void *key, void *value)
{
    for (const struct ord_context *c = innermost; c; c = c->outer)
        if (c == record)
            return EBUSY;
    *record = (struct ord_context){ key, value, innermost };
    innermost = record;
    return 0;
}

int ord_context_pop(struct ord_context *record)
{
    if (!record || innermost != record)
        return EPERM;
    innermost = record->outer;
    return 0;
}

int ord_context_get(const void *key, void **value)
{
    for (const struct ord_context *c = innermost; c; c = c->outer) {
        if (c->key == key) {
            *value = c->value;
            return 0;
        }
    }
    return ENOENT;
}

size_t ord_context_depth(void)
{
    size_t depth = 0;

    for (const struct ord_context *c = innermost; c; c = c->outer)
        depth++;
    return depth;
}
