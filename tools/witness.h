/* SPDX-License-Identifier: MIT
 *
 * witness.h - in which other ways the order of a side of a ring was seen.
 *
 * A finding shows one request for each side. The records have one for each
 * place and stack that the order came from, in each process.
 */
#ifndef LH_TOOLS_WITNESS_H
#define LH_TOOLS_WITNESS_H

#include <stddef.h>
#include <stdint.h>

#include "model.h"

struct lh_findings_item;
struct lh_pool;

struct lh_witness {
    const struct lh_model_process *process;
    const struct lh_model_finding *finding; /* of that process */
    uint64_t thread, holds_stack, wants_stack;
    struct lh_model_seen seen;
};

/* The ways in which the order of a side was seen besides the side itself, in
 * all processes that have the finding; those with the same stacks once. Their
 * number goes to n. */
const struct lh_witness *lh_witness_list(struct lh_pool *pool,
                                         const struct lh_findings_item *item,
                                         size_t side, size_t *n);

#endif
