/* SPDX-License-Identifier: MIT
 *
 * genrule.h - the rule that suppresses a finding, in this run and in others;
 * see suppress.h.
 */
#ifndef LH_TOOLS_GENRULE_H
#define LH_TOOLS_GENRULE_H

#include <stdio.h>

struct lh_explain;
struct lh_findings_item;
struct lh_naming;
struct lh_symbols;

/* "LH001: lock=savings.lock lock=checking.lock function=transfer" */
const char *lh_genrule_text(const struct lh_explain *e);

/* Writes it as a line, with the finding's id and room for a reason. */
void lh_genrule_print(FILE *out, struct lh_symbols *symbols,
                      struct lh_naming *names,
                      const struct lh_findings_item *item);

#endif
