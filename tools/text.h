/* SPDX-License-Identifier: MIT
 *
 * text.h - a finding as text for a person, in 80 columns.
 */
#ifndef LH_TOOLS_TEXT_H
#define LH_TOOLS_TEXT_H

#include <stdbool.h>
#include <stdio.h>

struct lh_findings_item;
struct lh_symbols;

/* Writes the finding, with an empty line before. */
void lh_text_finding(FILE *out, bool colour, struct lh_symbols *symbols,
                     const struct lh_findings_item *item);

#endif
