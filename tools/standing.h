/* SPDX-License-Identifier: MIT
 *
 * standing.h - whether a finding counts: not when a rule suppresses it, nor
 * when it is known from a baseline.
 *
 * Its names are its own, so that to judge a finding that is not shown changes
 * no name in the report.
 */
#ifndef LH_TOOLS_STANDING_H
#define LH_TOOLS_STANDING_H

#include "fingerprint.h"
#include "naming.h"

struct lh_findings;
struct lh_findings_item;
struct lh_known;
struct lh_options;
struct lh_suppress;
struct lh_symbols;

struct lh_standing {
    struct lh_symbols *symbols;
    struct lh_naming names;
    struct lh_suppress *suppress;       /* NULL: no rules */
    struct lh_known *baseline;          /* NULL: there is none */
    struct lh_fingerprint fingerprints; /* of those that were judged */
};

/* Reads the files that the options name, or says what is wrong with one and
 * exits with 2. */
void lh_standing_begin(struct lh_standing *s, const struct lh_options *options,
                       struct lh_symbols *symbols);

/* Sets the item's standing, the first time that it is asked to. */
void lh_standing_judge(struct lh_standing *s, struct lh_findings_item *item);
void lh_standing_judge_all(struct lh_standing *s, struct lh_findings *findings);

/* Adds those that are not suppressed. */
void lh_standing_collect(struct lh_standing *s,
                         const struct lh_findings *findings,
                         struct lh_known *known);
/* Marks as known which are; those that are suppressed stay so. */
void lh_standing_compare(struct lh_standing *s, struct lh_findings *findings,
                         const struct lh_known *known);

/* Says which rules were not needed. */
void lh_standing_say_unused(const struct lh_standing *s);

void lh_standing_end(struct lh_standing *s);

#endif
