/* SPDX-License-Identifier: MIT
 *
 * merged.h - a process made up of parts of others, to hold a finding that is of
 * them all.
 *
 * Only what the finding refers to is copied, under ids of its own; its threads
 * know which process they are of.
 */
#ifndef LH_TOOLS_MERGED_H
#define LH_TOOLS_MERGED_H

#include <stddef.h>
#include <stdint.h>

#include "core/order.h"
#include "idmap.h"

struct lh_findings;
struct lh_model_finding;
struct lh_model_process;

/* What a number of the core stands for: an id in a process. */
struct lh_merged_thing {
    size_t process;
    uint64_t id;
};

struct lh_merged {
    struct lh_model_process *const *processes;
    struct lh_model_process *process;
    struct lh_idmap modules, stacks; /* copied: the copy, by process and id */
    struct lh_idmap by_ring;
};

void lh_merged_begin(struct lh_merged *m,
                     struct lh_model_process *const *processes);

/* Says that the processes were never parallel to each other. */
void lh_merged_of_runs(struct lh_merged *m);

/* Makes a finding of a ring, or replaces it when its grade has gone up. The
 * lists say what the ring's numbers stand for, number 1 first. */
void lh_merged_ring(struct lh_merged *m, const struct lh_ring *ring,
                    const struct lh_merged_thing *threads,
                    const struct lh_merged_thing *locks,
                    const struct lh_merged_thing *stacks);

/* Adds the findings to the list; of those of runs the ones that no
 * process with a side of it has found in itself. The process is the caller's to
 * free; NULL if there is no finding. */
struct lh_model_process *lh_merged_end(struct lh_merged *m,
                                       struct lh_findings *findings);

#endif
