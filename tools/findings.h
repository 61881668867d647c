/* SPDX-License-Identifier: MIT
 *
 * findings.h - the findings of several processes, each told once.
 *
 * Forked workers and repeated runs find the same thing again: two findings are
 * one when their kind, the places of their requests and the classes of their
 * locks agree, in terms of modules and offsets. The elements of a static array
 * are of one class too, as far as symbols tell that they are such.
 */
#ifndef LH_TOOLS_FINDINGS_H
#define LH_TOOLS_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "idmap.h"
#include "model.h"

/* A finding and whose it is. */
struct lh_findings_part {
    const struct lh_model_process *process;
    const struct lh_model_finding *finding;
};

/* Why a finding does not count, if it does not. */
enum lh_findings_standing {
    LH_FINDINGS_COUNTS,
    LH_FINDINGS_SUPPRESSED, /* a rule matches it */
    LH_FINDINGS_KNOWN,      /* it was there before */
};

struct lh_findings_item {
    uint64_t key, array_key;              /* the latter 0 until it is needed */
    struct lh_findings_item *same_places; /* another one, or NULL */
    struct lh_findings_part *parts;       /* all that it stands for */
    size_t nparts, parts_capacity;
    char id[32]; /* "LH001-3f2a9c1d", the same in each run of this program */
    const struct lh_model_process *process; /* the one shown: the first of */
    const struct lh_model_finding *finding; /* those with the highest grade */
    uint64_t *pids;                         /* all that have it */
    size_t npids, capacity;
    bool judged;
    enum lh_findings_standing standing; /* see standing.h */
    bool shown; /* this and the next are for the caller */
    size_t npids_shown;
};

struct lh_findings {
    struct lh_findings_item **items; /* in the order of first sight */
    size_t n, capacity;
    struct lh_idmap by_key, by_finding, by_places;
    struct lh_symbols
        *symbols; /* set by the caller; NULL: arrays are unknown */
};

/* Adds a finding, or looks again at one whose record was replaced. Both
 * pointers must stay valid. Returns what it is part of now. */
struct lh_findings_item *lh_findings_add(struct lh_findings *list,
                                         const struct lh_model_process *p,
                                         const struct lh_model_finding *f);
/* What an equal one is part of, or NULL. */
const struct lh_findings_item *
lh_findings_equal(const struct lh_findings *list,
                  const struct lh_model_process *p,
                  const struct lh_model_finding *f);
/* How many rings it stands for in the process that is shown; 0: not known. */
uint64_t lh_findings_rings(const struct lh_findings_item *item);
/* Whether it is to be shown; all: conditional ones and those that are
 * known too. */
bool lh_findings_is_wanted(const struct lh_findings_item *item, bool all);
/* Possible ones before conditional ones. */
void lh_findings_sort(struct lh_findings *list);
/* Keys that are equal for locks of one class, for stacks with the same
 * innermost place, and for stacks that are the same, in all processes and
 * runs. */
uint64_t lh_findings_class(const struct lh_model_process *p, uint64_t lock);
/* Whether it can be that of a lock of another build of a file, too, as one that
 * it depends on has no build id. */
bool lh_findings_is_any_build(const struct lh_model_process *p, uint64_t lock);
uint64_t lh_findings_place(const struct lh_model_process *p, uint64_t stack);
uint64_t lh_findings_stack(const struct lh_model_process *p, uint64_t stack);
void lh_findings_free(struct lh_findings *list);

#endif
