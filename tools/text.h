/* SPDX-License-Identifier: MIT
 *
 * text.h - a finding as text for a person, in 80 columns.
 */
#ifndef LH_TOOLS_TEXT_H
#define LH_TOOLS_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct lh_content;
struct lh_explain;
struct lh_findings_item;
struct lh_naming;
struct lh_symbols;

/* Writes the finding as paragraphs; verbose: with each place that its orders
 * came from, whole stacks, and what else is recorded. */
void lh_text_finding(FILE *out, bool colour, bool verbose,
                     struct lh_symbols *symbols, struct lh_naming *names,
                     const struct lh_findings_item *item);

/* Writes the stack of a thread that waits, a frame a line. Of the library that
 * it waits in, only the function that the program called. */
void lh_text_waiting_stack(FILE *out, const struct lh_explain *e,
                           uint64_t stack);

/* All findings and the line that sums up. */
void lh_text_report(FILE *out, const struct lh_content *content);

#endif
