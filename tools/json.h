/* SPDX-License-Identifier: MIT
 *
 * json.h - a report as JSON; lockhound(1) describes it.
 */
#ifndef LH_TOOLS_JSON_H
#define LH_TOOLS_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct lh_findings;
struct lh_model_process;
struct lh_naming;
struct lh_summary;
struct lh_symbols;

/* all: conditional findings too. Returns 0 or an errno number. */
int lh_json_report(FILE *out, bool all, struct lh_symbols *symbols,
                   struct lh_naming *names, const struct lh_findings *findings,
                   const struct lh_summary *summary,
                   struct lh_model_process *const *processes,
                   size_t nprocesses);

#endif
