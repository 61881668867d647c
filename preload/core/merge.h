/* SPDX-License-Identifier: MIT
 *
 * merge.h - the findings so far: rings of equal key are one.
 */
#ifndef LH_CORE_MERGE_H
#define LH_CORE_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mem.h"
#include "order.h"
#include "table.h"

struct lh_finding {
    uint64_t key;
    uint64_t nrings;
    uint32_t next_hash;
    uint32_t grade; /* enum lh_grade: CONDITIONAL -> POSSIBLE */
};

struct lh_merge {
    struct lh_mem mem;
    struct lh_finding *at; /* by id; [0] is none */
    size_t capacity;
    uint32_t nfindings;
    uint32_t npossible;
    struct lh_table table;
};

int lh_merge_init(struct lh_merge *m, struct lh_mem mem);
void lh_merge_free(struct lh_merge *m);

/* The finding with this key, or 0. */
uint32_t lh_merge_find(const struct lh_merge *m, uint64_t key);

/* Adds a finding, which must not be known. Returns 0 and its id, or ENOMEM. */
int lh_merge_add(struct lh_merge *m, uint64_t key, enum lh_grade grade,
                 uint32_t *id);

/* Makes a conditional finding a possible one. */
void lh_merge_raise(struct lh_merge *m, uint32_t id);

#endif
