/* SPDX-License-Identifier: MIT
 * dot.c - the order of the locks as a graph, for Graphviz. */
#include "dot.h"

#include <jansson.h>

#include "content.h"
#include "explain.h"
#include "idmap.h"
#include "json.h"
#include "naming.h"
#include "ordergraph.h"
#include "point.h"
#include "pool.h"

/* What each finding says, once: it stands at all of its locks and orders. */
struct headlines {
    struct lh_pool pool;
    struct lh_idmap by_item;
};

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

static const char *headline_of(struct headlines *h, const struct lh_content *c,
                               const struct lh_findings_item *item)
{
    char *text = lh_idmap_get(&h->by_item, (uintptr_t)item);
    struct lh_pool pool = { 0 };
    struct lh_explain e;
    if (text)
        return text;
    lh_explain_begin(&e, &pool, c->symbols, c->names, item->process,
                     item->finding);
    text = lh_pool_copy(&h->pool, lh_point_headline(&e));
    lh_idmap_put(&h->by_item, (uintptr_t)item, text);
    lh_pool_free(&pool);
    return text;
}

static void finding_attributes(FILE *out, const struct lh_content *c,
                               struct headlines *h,
                               const struct lh_findings_item *item)
{
    bool conditional = item->finding->grade == LH_MODEL_CONDITIONAL;
    fprintf(out,
            ", color=%s, penwidth=2%s, tooltip=", colours[item->finding->grade],
            conditional ? ", style=dashed" : "");
    quoted(out, &h->pool, headline_of(h, c, item));
}

static void lock(FILE *out, const struct lh_content *c, struct headlines *h,
                 const struct lh_ordergraph_lock *l)
{
    static const struct lh_model_finding none;
    struct lh_pool pool = { 0 };
    struct lh_explain e;
    lh_explain_begin(&e, &pool, c->symbols, c->names, l->process, &none);
    fprintf(out, "  n%zu [label=", l->number);
    quoted(out, &pool, lh_naming_lock(&e, l->lock));
    if (l->in.gravest) {
        finding_attributes(out, c, h, l->in.gravest);
    } else {
        fputs(", tooltip=", out);
        quoted(out, &pool, lh_naming_origin(&e, l->lock));
    }
    fputs("];\n", out);
    lh_pool_free(&pool);
}

static void order(FILE *out, const struct lh_content *c, struct headlines *h,
                  const struct lh_ordergraph_order *o)
{
    fprintf(out, "  n%zu -> n%zu [label=\"", o->holds->number,
            o->wants->number);
    if (o->times)
        fprintf(out, "%llu", (unsigned long long)o->times);
    fputc('"', out);
    if (o->in.gravest)
        finding_attributes(out, c, h, o->in.gravest);
    fputs("];\n", out);
}

void lh_dot_report(FILE *out, const struct lh_content *content)
{
    struct lh_ordergraph g = { 0 };
    struct headlines h = { .by_item = { 0 } };
    lh_ordergraph_make(&g, content);
    lh_ordergraph_name(&g, content);
    fputs("digraph lockhound {\n"
          "  rankdir=LR;\n"
          "  node [shape=box, fontname=\"Helvetica\"];\n"
          "  edge [fontname=\"Helvetica\", color=gray40];\n",
          out);
    for (size_t i = 0; i < g.nlocks; i++)
        lock(out, content, &h, g.locks[i]);
    for (size_t i = 0; i < g.norders; i++)
        order(out, content, &h, g.orders[i]);
    fputs("}\n", out);
    lh_ordergraph_free(&g);
    lh_idmap_free(&h.by_item);
    lh_pool_free(&h.pool);
}
