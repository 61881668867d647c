/* SPDX-License-Identifier: MIT
 *
 * merge.c - the findings so far: rings of equal key are one.
 */
#include "merge.h"

#include <errno.h>
#include <string.h>

#include "array.h"

static uint32_t finding_hash(const void *owner, uint32_t id)
{
    return (uint32_t)((const struct lh_merge *)owner)->at[id].key;
}

static uint32_t *finding_next(void *owner, uint32_t id)
{
    return &((struct lh_merge *)owner)->at[id].next_hash;
}

static const struct lh_table_owner table_owner = { finding_hash, finding_next };

int lh_merge_init(struct lh_merge *m, struct lh_mem mem)
{
    memset(m, 0, sizeof *m);
    m->mem = mem;
    return lh_table_init(&m->table, mem, &table_owner, m);
}

void lh_merge_free(struct lh_merge *m)
{
    lh_array_free(m->mem, m->at, m->capacity, sizeof *m->at);
    lh_table_free(&m->table);
}

uint32_t lh_merge_find(const struct lh_merge *m, uint64_t key)
{
    uint32_t id = lh_table_first(&m->table, (uint32_t)key);
    while (id && m->at[id].key != key)
        id = m->at[id].next_hash;
    return id;
}

int lh_merge_add(struct lh_merge *m, uint64_t key, enum lh_grade grade,
                 uint32_t *id)
{
    if (lh_array_reserve(m->mem, &m->at, &m->capacity, sizeof *m->at,
                         (size_t)m->nfindings + 2) != 0 ||
        lh_table_reserve(&m->table) != 0)
        return ENOMEM;
    *id = ++m->nfindings;
    m->at[*id] = (struct lh_finding){
        .key = key,
        .nrings = 1,
        .grade = grade,
    };
    m->npossible += grade == LH_POSSIBLE;
    lh_table_insert(&m->table, *id, (uint32_t)key);
    return 0;
}

void lh_merge_raise(struct lh_merge *m, uint32_t id)
{
    m->at[id].grade = LH_POSSIBLE;
    m->npossible++;
}
