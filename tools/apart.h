/* SPDX-License-Identifier: MIT
 *
 * apart.h - what a library makes of a file that may be damaged, in a process
 * of its own: where that dies, or never ends, nothing else does.
 */
#ifndef LH_TOOLS_APART_H
#define LH_TOOLS_APART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct lh_pool;

/* What it flushes comes back, whatever happens next. */
typedef void lh_apart_fn(void *ctx, FILE *out);

/*
 * Calls the function in a child.
 *
 * bytes, n  receive what it has written; they belong to the pool
 * Returns whether the child has come to its end.
 */
bool lh_apart(struct lh_pool *pool, lh_apart_fn *fn, void *ctx,
              const char **bytes, size_t *n);

#endif
