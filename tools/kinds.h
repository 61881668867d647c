/* SPDX-License-Identifier: MIT
 *
 * kinds.h - the kinds of findings, for tools that want a rule for each.
 */
#ifndef LH_TOOLS_KINDS_H
#define LH_TOOLS_KINDS_H

#include <stddef.h>

struct lh_kinds_row {
    const char *id;    /* "LH001" */
    const char *name;  /* "LockOrderInversion" */
    const char *title; /* one sentence: what is found */
    const char *help;  /* why it matters and what to do */
};

extern const struct lh_kinds_row lh_kinds[];
extern const size_t lh_kinds_n;

/* The row of a kind; lh_kinds_n if it is not known. */
size_t lh_kinds_find(const char *id);

#endif
