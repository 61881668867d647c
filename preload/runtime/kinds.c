/* SPDX-License-Identifier: MIT
 * kinds.c - which kinds of dependency were recorded. */
#include "runtime/kinds.h"

#include <stddef.h>

#include "runtime/arena.h"

static uint64_t *table; /* open addressing; 0 is empty */
static size_t size, nkinds;

static uint64_t *place(uint64_t key)
{
    size_t i = (size_t)key & (size - 1);

    while (table[i] && table[i] != key)
        i = (i + 1) & (size - 1);
    return &table[i];
}

static bool grow(void)
{
    size_t old_size = size;
    uint64_t *old = table;
    size_t fresh_size = size ? 2 * size : 512;
    uint64_t *fresh =
        lh_arena_resize(NULL, NULL, 0, fresh_size * sizeof *fresh);

    if (!fresh)
        return false;
    table = fresh;
    size = fresh_size;
    for (size_t i = 0; i < old_size; i++)
        if (old[i])
            *place(old[i]) = old[i];
    if (old)
        lh_arena_resize(NULL, old, old_size * sizeof *old, 0);
    return true;
}

bool lh_kind_is_new(uint64_t key)
{
    uint64_t *at;

    key |= 1; /* never empty */
    if (2 * nkinds >= size && !grow())
        return true;
    at = place(key);
    if (*at == key)
        return false;
    *at = key;
    nkinds++;
    return true;
}

void lh_kinds_after_fork(void)
{
    if (table)
        lh_arena_empty(table, size * sizeof *table);
    nkinds = 0;
}
