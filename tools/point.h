/* SPDX-License-Identifier: MIT
 *
 * point.h - a finding as tools want it: one place in the code that it is at,
 * and the other places beside it.
 *
 * Strings are as in explain.h.
 */
#ifndef LH_TOOLS_POINT_H
#define LH_TOOLS_POINT_H

#include <stddef.h>
#include <stdint.h>

struct lh_explain;

/* The side to point at: the odd one out, else the first; 0 without sides. */
size_t lh_point_side(const struct lh_explain *e);

/* Where that side waits, or where the deed was done that the finding is. */
uint64_t lh_point_stack(const struct lh_explain *e);

/* The sentence with its kind in front: "LH001 potential deadlock between ..."
 */
const char *lh_point_headline(const struct lh_explain *e);

/* "T3 (audit) holds journal, taken at bank.c:31, and waits for accounts" */
const char *lh_point_deed(const struct lh_explain *e, size_t side);

/* "T3 (audit) took journal": what was done before a deed. */
const char *lh_point_before(const struct lh_explain *e);

#endif
