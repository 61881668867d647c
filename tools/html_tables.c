/* SPDX-License-Identifier: MIT
 * html_tables.c - the locks and their orders as tables in an HTML report. */
#include "explain.h"
#include "findings.h"
#include "html.h"
#include "naming.h"
#include "place.h"
#include "pool.h"
#include "xml.h"

enum { MAX_ROWS = 6000 }; /* those of findings come first */

static void begin(FILE *out, const char *id, const char *title,
                  const char *const *columns)
{
    fprintf(out,
            "<section id=\"%s\">\n<h2>%s</h2>\n<div class=\"scroll\" "
            "tabindex=\"0\" role=\"group\" aria-label=\"%s\">\n"
            "<table class=\"sortable\">\n<thead><tr>",
            id, title, title);
    for (; *columns; columns++)
        fprintf(out, "<th scope=\"col\">%s</th>", *columns);
    fputs("</tr></thead>\n<tbody>\n", out);
}

static void end(FILE *out, size_t n)
{
    fputs("</tbody>\n</table>\n</div>\n", out);
    if (n > MAX_ROWS)
        fprintf(out, "<p>(and %zu more)</p>\n", n - MAX_ROWS);
    fputs("</section>\n", out);
}

static void finding_cell(FILE *out, const struct lh_ordergraph_findings *in)
{
    fputs("<td>", out);
    if (in->gravest) {
        fputs("<a href=\"#", out);
        lh_xml_put(out, in->gravest->id);
        fputs("\">", out);
        lh_xml_put(out, in->gravest->id);
        fputs("</a>", out);
    }
    if (in->n > 1)
        fprintf(out, " and %zu more", in->n - 1);
    fputs("</td>", out);
}

/* The file that a static lock is in, or whose code made or first took it. */
static const char *module_of(const struct lh_explain *e, uint64_t lock)
{
    const struct lh_model_lock *l = lh_model_lock(e->process, lock);
    if (!l)
        return "";
    const struct lh_model_module *m =
        l->is_static ? lh_model_module(e->process, l->where.module) : NULL;
    if (m)
        return lh_place_base(m->path);
    struct lh_trace t = lh_explain_stack(e, l->init ? l->init : l->first);
    return t.n ? lh_place_base(t.lines[0].module) : "";
}

static void lock_row(const struct lh_html *h,
                     const struct lh_ordergraph_lock *l)
{
    struct lh_pool pool = { 0 };
    struct lh_explain e;
    lh_html_begin(&e, h, &pool, l->process);
    const char *module = module_of(&e, l->lock);
    fprintf(h->out, "<tr id=\"l%zu\" data-lock=\"%zu\" data-module=\"",
            l->number, l->number);
    lh_xml_put(h->out, module);
    lh_html_put(h->out, "\"><td>", &pool, lh_naming_lock(&e, l->lock), "</td>");
    lh_html_put(h->out, "<td>", &pool, lh_naming_origin(&e, l->lock),
                "</td><td>");
    lh_xml_put(h->out, module);
    fputs("</td>", h->out);
    finding_cell(h->out, &l->in);
    fputs("</tr>\n", h->out);
    lh_pool_free(&pool);
}

static void lock_cell(FILE *out, const struct lh_html *h,
                      const struct lh_ordergraph_lock *l, struct lh_pool *pool)
{
    struct lh_explain e;
    lh_html_begin(&e, h, pool, l->process);
    fprintf(out, "<td><a href=\"#l%zu\">", l->number);
    lh_html_text(out, pool, lh_naming_lock(&e, l->lock));
    fputs("</a></td>", out);
}

static void order_row(const struct lh_html *h,
                      const struct lh_ordergraph_order *o)
{
    FILE *out = h->out;
    struct lh_pool pool = { 0 };
    struct lh_explain e;
    fprintf(out, "<tr id=\"o%zu-%zu\" data-from=\"%zu\" data-to=\"%zu\">",
            o->holds->number, o->wants->number, o->holds->number,
            o->wants->number);
    lock_cell(out, h, o->holds, &pool);
    lock_cell(out, h, o->wants, &pool);
    fputs("<td class=\"times\">", out);
    if (o->times)
        fprintf(out, "%llu", (unsigned long long)o->times);
    fputs("</td>", out);
    finding_cell(out, &o->in);
    lh_html_begin(&e, h, &pool, o->process);
    lh_html_put(out, "<td class=\"stacks\"><div>", &pool,
                lh_explain_thread(&e, o->witness.thread), " held the first");
    lh_html_stack(out, &e, o->witness.holds_stack);
    fputs("</div><div>and requested the second", out);
    lh_html_stack(out, &e, o->witness.wants_stack);
    fputs("</div></td></tr>\n", out);
    lh_pool_free(&pool);
}

void lh_html_tables(const struct lh_html *h)
{
    static const char *const locks[] = { "Lock", "From", "Module", "Finding",
                                         NULL };
    static const char *const orders[] = { "Held",    "Requested", "Times",
                                          "Finding", "Stacks",    NULL };
    const struct lh_ordergraph *g = &h->graph;
    begin(h->out, "locks", "Locks", locks);
    for (size_t i = 0; i < g->nlocks && i < MAX_ROWS; i++)
        lock_row(h, g->locks[i]);
    end(h->out, g->nlocks);
    begin(h->out, "orders", "Orders", orders);
    for (size_t i = 0; i < g->norders && i < MAX_ROWS; i++)
        order_row(h, g->orders[i]);
    end(h->out, g->norders);
}
