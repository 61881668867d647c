/* SPDX-License-Identifier: MIT
 * fuzz_elf.c - programs and libraries: what `run --check` and `run` look for
 * in them, and scripts. What libelf makes of the file is libelf's. */
#include "elffile.h"
#include "harness.h"
#include "pool.h"
#include "target.h"

void fuzz_one(const uint8_t *data, size_t n)
{
    struct lh_pool pool = { 0 };
    struct lh_target target;
    const char *path = fuzz_file(0, data, n);
    lh_elffile_read(&pool, path);
    lh_pool_free(&pool);
    lh_target_find(&pool, path, &target);
    lh_pool_free(&pool);
}
