/* SPDX-License-Identifier: MIT
 * fuzz_names.c - names of functions, out of the symbols of any file, made
 * short. */
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "harness.h"
#include "pool.h"

void fuzz_one(const uint8_t *data, size_t n)
{
    struct lh_pool pool = { 0 };
    char *name = malloc(n + 1);
    memcpy(name, data, n);
    name[n] = '\0';
    lh_demangle_brief(&pool, name);
    lh_demangle_shorten(&pool, name);
    lh_pool_free(&pool);
    free(name);
}
