/* SPDX-License-Identifier: MIT
 *
 * rules.h - what to change about rings through kinds of lock that have rules of
 * their own.
 */
#ifndef LH_TOOLS_RULES_H
#define LH_TOOLS_RULES_H

struct lh_explain;

/* One sentence; "" where none of them is in the ring. */
const char *lh_rules_fix(const struct lh_explain *e);

#endif
