/* SPDX-License-Identifier: MIT
 *
 * inputs.h - the record files, and stores of them, that a command line names.
 */
#ifndef LH_TOOLS_INPUTS_H
#define LH_TOOLS_INPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "pool.h"

struct lh_inputs {
    const char **files;
    size_t n, capacity;
    bool failed; /* a folder had none, which was said */
};

/* Each path is a file, or a folder of *.jsonl. The names are in the pool; the
 * list is for free(). */
struct lh_inputs lh_inputs_find(struct lh_pool *pool, char *const *paths,
                                size_t n);

/* Opens one; says it and returns -1 when that cannot be. */
int lh_inputs_open(const char *file);

#endif
