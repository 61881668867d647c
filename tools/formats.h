/* SPDX-License-Identifier: MIT
 *
 * formats.h - the formats of a report, and the files that it goes to.
 */
#ifndef LH_TOOLS_FORMATS_H
#define LH_TOOLS_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct lh_content;
struct lh_options;

/* The names of all, for messages: "text, json or short". */
#define LH_FORMATS_NAMES "text, short, json, sarif, junit, dot or html"

bool lh_formats_is_name(const char *name);

/* Opens the files of the options' outputs; says it and exits with 2 when one
 * cannot be written to. */
void lh_formats_open(struct lh_options *options);

/* Writes the report to each of them and closes them. Exits with 2 when one is
 * incomplete. */
void lh_formats_write(struct lh_options *options,
                      const struct lh_content *content);

#endif
