/* SPDX-License-Identifier: MIT
 * dot.c - the order of the locks as a graph, for Graphviz. */
#include "dot.h"

#include <jansson.h>

#include "content.h"
#include "explain.h"
#include "json.h"
#include "naming.h"
#include "ordergraph.h"
#include "point.h"
#include "pool.h"

static const char *const colours[] = { "darkorange", "red", "red" };

/* A string of DOT, in which "&" begins an entity. */
static void quoted(FILE *out, struct lh_pool *pool, const char *text)
{
    json_t *clean = lh_json_string(pool, text);
    fputc('"', out);
    for (const char *c = json_string_value(clean); *c; c++) {
        if (*c == '"' || *c == '\\')
            fputc('\\', out);
        fputs(*c == '&' ? "&amp;" : (const char[]){ *c, '\0' }, out);
    }
    fputc('"', out);
    json_decref(clean);
}

static void finding_attributes(FILE *out, const struct lh_content *c,
                               struct lh_pool *pool,
                               const struct lh_findings_item *item)
{
    struct lh_explain e;
    bool conditional = item->finding->grade == LH_MODEL_CONDITIONAL;
    lh_explain_begin(&e, pool, c->symbols, c->names, item->process,
                     item->finding);
    fprintf(out,
            ", color=%s, penwidth=2%s, tooltip=", colours[item->finding->grade],
            conditional ? ", style=dashed" : "");
    quoted(out, pool, lh_point_headline(&e));
}

static void lock(FILE *out, const struct lh_content *c,
                 const struct lh_ordergraph_lock *l)
{
    static const struct lh_model_finding none;
    struct lh_pool pool = { 0 };
    struct lh_explain e;
    lh_explain_begin(&e, &pool, c->symbols, c->names, l->process, &none);
    fprintf(out, "  n%zu [label=", l->number);
    quoted(out, &pool, lh_naming_lock(&e, l->lock));
    if (l->item) {
        finding_attributes(out, c, &pool, l->item);
    } else {
        fputs(", tooltip=", out);
        quoted(out, &pool, lh_naming_origin(&e, l->lock));
    }
    fputs("];\n", out);
    lh_pool_free(&pool);
}

static void order(FILE *out, const struct lh_content *c,
                  const struct lh_ordergraph_order *o)
{
    struct lh_pool pool = { 0 };
    fprintf(out, "  n%zu -> n%zu [label=\"", o->holds->number,
            o->wants->number);
    if (o->times)
        fprintf(out, "%llu", (unsigned long long)o->times);
    fputc('"', out);
    if (o->item)
        finding_attributes(out, c, &pool, o->item);
    fputs("];\n", out);
    lh_pool_free(&pool);
}

void lh_dot_report(FILE *out, const struct lh_content *content)
{
    struct lh_ordergraph g = { 0 };
    lh_ordergraph_make(&g, content);
    lh_ordergraph_name(&g, content);
    fputs("digraph lockhound {\n"
          "  rankdir=LR;\n"
          "  node [shape=box, fontname=\"Helvetica\"];\n"
          "  edge [fontname=\"Helvetica\", color=gray40];\n",
          out);
    for (size_t i = 0; i < g.nlocks; i++)
        lock(out, content, g.locks[i]);
    for (size_t i = 0; i < g.norders; i++)
        order(out, content, g.orders[i]);
    fputs("}\n", out);
    lh_ordergraph_free(&g);
}
