/* SPDX-License-Identifier: MIT
 *
 * table.c - a hash table over numbered entries that its owner stores.
 */
#include "table.h"

#include <errno.h>
#include <string.h>

#include "array.h"

enum { FIRST_CHAINS = 32 };

int lh_table_init(struct lh_table *t, struct lh_mem mem,
                  const struct lh_table_owner *calls, void *owner)
{
    memset(t, 0, sizeof *t);
    t->mem = mem;
    t->calls = calls;
    t->owner = owner;
    t->nchains = t->level = FIRST_CHAINS;
    return lh_array_reserve(mem, &t->heads, &t->capacity, sizeof *t->heads,
                            FIRST_CHAINS);
}

void lh_table_free(struct lh_table *t)
{
    lh_array_free(t->mem, t->heads, t->capacity, sizeof *t->heads);
    t->heads = NULL;
}

int lh_table_reserve(struct lh_table *t)
{
    if (t->nentries < t->nchains)
        return 0;
    return lh_array_reserve(t->mem, &t->heads, &t->capacity, sizeof *t->heads,
                            (size_t)t->nchains + 1);
}

/* Chains from nchains on are not split off yet: they are at their sibling. */
static uint32_t chain_of(const struct lh_table *t, uint32_t hash)
{
    uint32_t chain = hash & (2 * t->level - 1);
    return chain < t->nchains ? chain : chain - t->level;
}

static void split_one(struct lh_table *t)
{
    uint32_t *old = &t->heads[t->nchains - t->level];
    uint32_t *new = &t->heads[t->nchains];
    uint32_t entry = *old;
    *old = *new = 0;
    while (entry) {
        uint32_t *next = t->calls->next(t->owner, entry);
        uint32_t following = *next;
        uint32_t hash = t->calls->hash(t->owner, entry);
        uint32_t *head = hash & t->level ? new : old;
        *next = *head;
        *head = entry;
        entry = following;
    }
    if (++t->nchains == 2 * t->level)
        t->level *= 2;
}

void lh_table_insert(struct lh_table *t, uint32_t entry, uint32_t hash)
{
    uint32_t *head = &t->heads[chain_of(t, hash)];
    *t->calls->next(t->owner, entry) = *head;
    *head = entry;
    t->nentries++;
    if (t->nentries > t->nchains && t->nchains < t->capacity &&
        t->nchains < UINT32_C(1) << 30)
        split_one(t);
}

uint32_t lh_table_first(const struct lh_table *t, uint32_t hash)
{
    return t->heads[chain_of(t, hash)];
}

void lh_table_clear(struct lh_table *t)
{
    memset(t->heads, 0, t->nchains * sizeof *t->heads);
    t->nentries = 0;
}
