/* SPDX-License-Identifier: MIT
 *
 * judge.h - can this ring of dependencies deadlock, and if not, why not?
 *
 * Chooses for each side of the ring the witness, and of this its first or
 * newest segment, such that the sides are made by different threads in
 * segments that are pairwise parallel; where that can not be, such that least
 * speaks against it.
 *
 * Memory:   scratch from the lh_mem given, kept and used again.
 */
#ifndef LH_CORE_JUDGE_H
#define LH_CORE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "deps.h"
#include "mem.h"
#include "order.h"
#include "rings.h"
#include "segments.h"

/* One side's place in the search for witnesses. */
struct lh_judge_pick {
    uint32_t witness; /* offset, or 0 before the first */
    bool is_newest;   /* its newest segment rather than the first */
    struct lh_segment segment;
    uint64_t cost; /* of the sides up to this one */
};

struct lh_judge {
    struct lh_mem mem;
    const struct lh_deps *deps;
    struct lh_segments *segments;
    lh_site_fn site_of;
    void *ctx;
    struct lh_judge_pick *picks, *best;
    size_t picks_capacity, best_capacity;
    uint64_t *keys; /* scratch: numbers to sort */
    size_t keys_capacity;
    struct lh_side *sides;
    size_t sides_capacity;
    struct lh_reason *reasons;
    size_t reasons_capacity, nreasons;
};

struct lh_verdict {
    bool is_possible;
    bool is_cut; /* better witnesses may exist: no steps or memory left */
};

/*
 * Judges a ring for one question only: is it possible? Then sides are filled.
 * Gates, timed waits and doubtful locks must have been excluded.
 */
struct lh_verdict lh_judge_strictly(struct lh_judge *j,
                                    const struct lh_link *links, size_t n,
                                    uint32_t *steps);

/* Judges a ring and fills sides and reasons. */
struct lh_verdict lh_judge_fully(struct lh_judge *j,
                                 const struct lh_link *links, size_t n,
                                 uint32_t *steps);

/*
 * A number that is equal for rings of equal sites and classes, whatever side
 * they begin with, and however often a side of one kind is repeated: five
 * philosophers are the same bug as two. It does not depend on witnesses.
 * Returns 0 or ENOMEM.
 */
int lh_judge_key(struct lh_judge *j, const struct lh_link *links, size_t n,
                 uint64_t *key);

void lh_judge_free(struct lh_judge *j);

#endif
