/* SPDX-License-Identifier: MIT
 *
 * advise.h - what is unusual about a finding, what to change, and why it could
 * not happen in this run.
 */
#ifndef LH_TOOLS_ADVISE_H
#define LH_TOOLS_ADVISE_H

#include <stddef.h>
#include <stdint.h>

struct lh_explain;
struct lh_model_reason;

/* The side that goes against what is usual; -1 if none clearly does. */
int lh_advise_odd(const struct lh_explain *e);

/* "transfer (bank.c:31)": the innermost place of a stack. */
const char *lh_advise_site(const struct lh_explain *e, uint64_t stack);

/* One sentence; "" when there is nothing to say. */
const char *lh_advise_fix(const struct lh_explain *e);

/* Why the ring could not close in this run: one of the reasons. */
const char *lh_advise_reason(const struct lh_explain *e,
                             const struct lh_model_reason *reason);

/* Which records the sides of a ring that no run has alone are from, up to so
 * many. */
const char *lh_advise_runs(const struct lh_explain *e, size_t max_sides);

#endif
