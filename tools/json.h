/* SPDX-License-Identifier: MIT
 *
 * json.h - a report as JSON; lockhound-formats(5) describes it.
 */
#ifndef LH_TOOLS_JSON_H
#define LH_TOOLS_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct lh_content;
struct lh_explain;
struct lh_findings_item;
struct lh_naming;
struct lh_pool;
struct lh_symbols;

enum { LH_JSON_VERSION = 1 };

/* Text without emphasis, as valid UTF-8. */
json_t *lh_json_string(struct lh_pool *pool, const char *text);

/* Writes a value, see jsontext.h, and gives it back. */
void lh_json_write(FILE *out, json_t *value, bool indented);

/* The whole stack, with what the text report hides. */
json_t *lh_json_stack(const struct lh_explain *e, uint64_t stack);

json_t *lh_json_finding(struct lh_symbols *symbols, struct lh_naming *names,
                        const struct lh_findings_item *item);

void lh_json_report(FILE *out, const struct lh_content *content);

#endif
