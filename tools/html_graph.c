/* SPDX-License-Identifier: MIT
 * html_graph.c - the order of the locks as a drawing in an HTML report. Of many
 * locks it has those near the findings. */
#include <string.h>

#include "explain.h"
#include "findings.h"
#include "html.h"
#include "layout.h"
#include "naming.h"
#include "pool.h"
#include "style.h"
#include "xml.h"

enum {
    MAX_NODES = 250,
    MAX_EDGES = 1500,
    MAX_STEPS = 3,   /* from a finding, where not all is drawn */
    MAX_LABEL = 30,  /* characters of a name */
    NODE_HEIGHT = 28 /* points */
};

static const double CHARACTER = 7.3; /* its width, in points */

struct drawing {
    const struct lh_html *h;
    struct lh_pool pool;
    struct lh_layout layout;
    size_t *place; /* by number of the lock: its node and 1; 0: not drawn */
    bool *near;    /* by number of the lock: in a finding, or next to it */
    const struct lh_ordergraph_lock **locks;   /* by node */
    const struct lh_ordergraph_order **orders; /* by edge */
    const char **names, **labels;              /* by node; the second short */
    bool has_findings;
};

static bool is_drawn(const struct drawing *d,
                     const struct lh_ordergraph_lock *l)
{
    return d->place[l->number] != 0;
}

static void draw(struct drawing *d, const struct lh_ordergraph_lock *l)
{
    if (is_drawn(d, l) || d->layout.nnodes == MAX_NODES)
        return;
    d->locks[d->layout.nnodes++] = l;
    d->place[l->number] = d->layout.nnodes;
}

/* The neighbours of what was drawn before this round. */
static void spread(struct drawing *d)
{
    const struct lh_ordergraph *g = &d->h->graph;
    size_t before = d->layout.nnodes;
    for (size_t i = 0; i < g->norders; i++) {
        const struct lh_ordergraph_order *o = g->orders[i];
        size_t holds = d->place[o->holds->number];
        size_t wants = d->place[o->wants->number];
        if (holds && holds <= before)
            draw(d, o->wants);
        if (wants && wants <= before)
            draw(d, o->holds);
    }
}

static void choose_nodes(struct drawing *d)
{
    const struct lh_ordergraph *g = &d->h->graph;
    for (size_t i = 0; i < g->nlocks; i++)
        if (g->locks[i]->in.gravest)
            draw(d, g->locks[i]);
    d->has_findings = d->layout.nnodes != 0;
    if (d->has_findings && g->nlocks > MAX_NODES) {
        for (int i = 0; i < MAX_STEPS; i++)
            spread(d);
        return;
    }
    for (size_t i = 0; i < g->nlocks; i++)
        draw(d, g->locks[i]);
}

static void choose_edges(struct drawing *d)
{
    const struct lh_ordergraph *g = &d->h->graph;
    for (size_t i = 0; i < g->norders; i++) {
        const struct lh_ordergraph_order *o = g->orders[i];
        bool near = o->holds->in.gravest || o->wants->in.gravest;
        d->near[o->holds->number] |= near;
        d->near[o->wants->number] |= near;
        if (!is_drawn(d, o->holds) || !is_drawn(d, o->wants) ||
            d->layout.nedges == MAX_EDGES)
            continue;
        d->layout.edges[d->layout.nedges] =
            (struct lh_layout_edge){ .from = d->place[o->holds->number] - 1,
                                     .to = d->place[o->wants->number] - 1,
                                     .label = o->times };
        d->orders[d->layout.nedges++] = o;
    }
}

/* Cut between two characters. */
static const char *label_of(struct drawing *d, const char *name)
{
    char *label = lh_style_strip(lh_pool_copy(&d->pool, name));
    size_t n = 0;
    for (char *c = label; *c; c++) {
        if (((unsigned char)*c & 0xc0) == 0x80 || n++ < MAX_LABEL)
            continue;
        *c = '\0';
        return lh_pool_format(&d->pool, "%s\xe2\x80\xa6", label);
    }
    return label;
}

static void measure(struct drawing *d)
{
    for (size_t i = 0; i < d->layout.nnodes; i++) {
        struct lh_explain e;
        lh_html_begin(&e, d->h, &d->pool, d->locks[i]->process);
        d->names[i] = lh_naming_lock(&e, d->locks[i]->lock);
        d->labels[i] = label_of(d, d->names[i]);
        d->layout.nodes[i] = (struct lh_layout_node){
            .width = (double)lh_style_width(d->labels[i]) * CHARACTER + 18,
            .height = NODE_HEIGHT
        };
    }
}

static const char *grade(const struct lh_findings_item *item)
{
    return !item                                          ? "plain"
           : item->finding->grade == LH_MODEL_CONDITIONAL ? "conditional"
                                                          : "bad";
}

static void path(const struct drawing *d, const struct lh_layout_edge *e)
{
    FILE *out = d->h->out;
    for (size_t i = 0; i < e->npoints; i++)
        fprintf(out, "%s%.1f %.1f",
                i == 0   ? "M"
                : i == 1 ? "C"
                         : " ",
                e->points[2 * i], e->points[2 * i + 1]);
}

static void edge(struct drawing *d, size_t i)
{
    const struct lh_layout_edge *e = &d->layout.edges[i];
    const struct lh_ordergraph_order *o = d->orders[i];
    FILE *out = d->h->out;
    bool far = d->has_findings && !o->in.gravest;
    if (!e->points)
        return;
    fprintf(out,
            "<a class=\"edge %s%s\" href=\"#o%zu-%zu\" data-from=\"%zu\" "
            "data-to=\"%zu\"><title>",
            grade(o->in.gravest), far ? " far" : "", o->holds->number,
            o->wants->number, o->holds->number, o->wants->number);
    lh_xml_put(out, d->names[e->from]);
    fputs(" then ", out);
    lh_xml_put(out, d->names[e->to]);
    if (o->in.gravest)
        lh_xml_put(out, lh_pool_format(&d->pool, " (%s)", o->in.gravest->id));
    fputs("</title><path class=\"hit\" d=\"", out);
    path(d, e);
    fputs("\"/><path class=\"line\" d=\"", out);
    path(d, e);
    fprintf(out, "\" marker-end=\"url(#arrow-%s)\"/>", grade(o->in.gravest));
    if (e->label)
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">%llu</text>", e->label_x,
                e->label_y + 4, (unsigned long long)e->label);
    fputs("</a>\n", out);
}

static void node(const struct drawing *d, size_t i)
{
    const struct lh_layout_node *n = &d->layout.nodes[i];
    const struct lh_ordergraph_lock *l = d->locks[i];
    FILE *out = d->h->out;
    bool far = d->has_findings && !d->near[l->number] && !l->in.gravest;
    fprintf(out,
            "<a class=\"node %s%s\" href=\"#l%zu\" data-lock=\"%zu\"><title>",
            grade(l->in.gravest), far ? " far" : "", l->number, l->number);
    lh_xml_put(out, d->names[i]);
    fprintf(out,
            "</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
            "height=\"%.1f\" rx=\"5\"/><text x=\"%.1f\" y=\"%.1f\">",
            n->x - n->width / 2, n->y - n->height / 2, n->width, n->height,
            n->x, n->y + 4);
    lh_xml_put(out, d->labels[i]);
    fputs("</text></a>\n", out);
}

static void arrows(FILE *out)
{
    static const char *const grades[] = { "plain", "conditional", "bad" };
    fputs("<defs>\n", out);
    for (size_t i = 0; i < sizeof grades / sizeof *grades; i++)
        fprintf(out,
                "<marker id=\"arrow-%s\" class=\"%s\" viewBox=\"0 0 10 8\" "
                "refY=\"4\" markerWidth=\"10\" markerHeight=\"8\" "
                "markerUnits=\"userSpaceOnUse\" orient=\"auto\">"
                "<path d=\"M0 0L10 4L0 8z\"/></marker>\n",
                grades[i], grades[i]);
    fputs("</defs>\n", out);
}

static void drawing(struct drawing *d)
{
    FILE *out = d->h->out;
    double width = d->layout.width + 16, height = d->layout.height + 16;
    fprintf(out,
            "<div class=\"canvas\" tabindex=\"0\" role=\"group\" "
            "aria-label=\"Graph of the locks\">\n"
            "<svg viewBox=\"-8 -8 %.0f %.0f\" width=\"%.0f\" "
            "height=\"%.0f\">\n",
            width, height, width, height);
    arrows(out);
    for (size_t i = 0; i < d->layout.nedges; i++)
        edge(d, i);
    for (size_t i = 0; i < d->layout.nnodes; i++)
        node(d, i);
    fputs("</svg>\n</div>\n"
          "<aside id=\"shown\" aria-live=\"polite\"></aside>\n",
          out);
}

static void prepare(struct drawing *d)
{
    const struct lh_ordergraph *g = &d->h->graph;
    size_t edges = g->norders < MAX_EDGES ? g->norders : MAX_EDGES;
    d->place = lh_pool_array(&d->pool, g->nlocks + 1, sizeof *d->place);
    d->near = lh_pool_array(&d->pool, g->nlocks + 1, sizeof *d->near);
    d->locks = lh_pool_array(&d->pool, MAX_NODES, sizeof(*d->locks));
    d->names = lh_pool_array(&d->pool, MAX_NODES, sizeof(*d->names));
    d->labels = lh_pool_array(&d->pool, MAX_NODES, sizeof(*d->labels));
    d->orders = lh_pool_array(&d->pool, edges, sizeof(*d->orders));
    d->layout.nodes =
        lh_pool_array(&d->pool, MAX_NODES, sizeof *d->layout.nodes);
    d->layout.edges = lh_pool_array(&d->pool, edges, sizeof *d->layout.edges);
    choose_nodes(d);
    choose_edges(d);
    measure(d);
}

static void legend(const struct drawing *d)
{
    const struct lh_ordergraph *g = &d->h->graph;
    fputs("<p>An arrow goes from a lock that was held to one that was "
          "requested then, with the number of times. Rings are in colour. "
          "An arrow leads to its stacks.",
          d->h->out);
    if (d->layout.nnodes < g->nlocks)
        fprintf(d->h->out, " Of %zu locks these are the %zu %s.", g->nlocks,
                d->layout.nnodes,
                d->has_findings ? "nearest to the findings" : "first");
    if (d->layout.nedges == MAX_EDGES)
        fprintf(d->h->out, " Of %zu orders it has %d.", g->norders, MAX_EDGES);
    fputs("</p>\n", d->h->out);
}

void lh_html_graph(const struct lh_html *h)
{
    struct drawing d = { .h = h };
    fputs("<section id=\"graph\">\n<h2>Order of the locks</h2>\n", h->out);
    prepare(&d);
    if (d.layout.nnodes == 0) {
        fputs("<p>No lock was requested while another was held.</p>\n", h->out);
    } else if (lh_layout_find(&d.layout, &d.pool)) {
        legend(&d);
        drawing(&d);
    } else {
        fputs("<p>The drawing needs the program dot of Graphviz, which is not "
              "here or took too long; the orders are below.</p>\n",
              h->out);
    }
    fputs("</section>\n", h->out);
    lh_pool_free(&d.pool);
}
