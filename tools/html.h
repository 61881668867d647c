/* SPDX-License-Identifier: MIT
 *
 * html.h - a report as one page of HTML that needs nothing from elsewhere.
 *
 * The page is whole without its script, which adds sorting, filters and the
 * stacks beside the graph.
 */
#ifndef LH_TOOLS_HTML_H
#define LH_TOOLS_HTML_H

#include <stdint.h>
#include <stdio.h>

#include "content.h"
#include "ordergraph.h"

struct lh_explain;
struct lh_pool;

struct lh_html {
    FILE *out;
    const struct lh_content *content;
    struct lh_ordergraph graph;
};

void lh_html_report(FILE *out, const struct lh_content *content);

/* The parts of the page. */
void lh_html_finding(const struct lh_html *h,
                     const struct lh_findings_item *item);
void lh_html_graph(const struct lh_html *h);
void lh_html_tables(const struct lh_html *h);

/* Text with its emphasis as elements. */
void lh_html_text(FILE *out, struct lh_pool *pool, const char *text);

/* Text between two pieces of HTML. */
void lh_html_put(FILE *out, const char *before, struct lh_pool *pool,
                 const char *text, const char *after);

/* A stack that unfolds. */
void lh_html_stack(FILE *out, const struct lh_explain *e, uint64_t stack);

/* The lines around the innermost place of a stack, if the file is at hand. */
void lh_html_source(FILE *out, const struct lh_explain *e, uint64_t stack);

/* A lock of the graph, to be explained and named. */
void lh_html_begin(struct lh_explain *e, const struct lh_html *h,
                   struct lh_pool *pool, const struct lh_model_process *p);

/* Of the page: html.css and html.js. */
extern const char lh_html_style[], lh_html_script[];

#endif
