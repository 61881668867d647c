/* SPDX-License-Identifier: MIT
 *
 * misuse.h - a finding about one lock in words.
 *
 * One row of a table a kind of finding: what is wrong, what was done before,
 * what is done now, what to change. See explain.h for the strings.
 */
#ifndef LH_TOOLS_MISUSE_H
#define LH_TOOLS_MISUSE_H

struct lh_explain;

/* "self-deadlock LH003: T2 (worker) waits for ..." */
const char *lh_misuse_sentence(const struct lh_explain *e);

/* What to change; "" if nothing can be said. */
const char *lh_misuse_fix(const struct lh_explain *e);

/* What is to be said before the stack of what was done first, by the holder,
 * and before that of the finding itself. Whole words, without "at". */
const char *lh_misuse_past(const struct lh_explain *e);
const char *lh_misuse_act(const struct lh_explain *e);

#endif
