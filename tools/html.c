/* SPDX-License-Identifier: MIT
 * html.c - a report as one page of HTML. */
#include "html.h"

#include "explain.h"
#include "model.h"
#include "place.h"
#include "point.h"
#include "pool.h"
#include "progress.h"
#include "summary.h"
#include "xml.h"

enum { MAX_WHOLE = 1000 }; /* findings; of more the page would not open */

static void head(const struct lh_html *h)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
          "<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\""
          "default-src 'none'; style-src 'unsafe-inline'; "
          "script-src 'unsafe-inline'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, "
          "initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          "<title>lockhound report</title>\n<style>\n",
          h->out);
    fprintf(h->out, "%s</style>\n</head>\n<body>\n", lh_html_style);
}

static void figure(FILE *out, const char *class, uint64_t n, const char *what)
{
    fprintf(out, "<li class=\"%s\"><b>%llu</b> %s</li>\n", class,
            (unsigned long long)n, what);
}

static void programs(const struct lh_html *h)
{
    fputs("<p class=\"programs\">", h->out);
    for (size_t i = 0; i < h->content->nprocesses; i++) {
        const struct lh_model_process *p = h->content->processes[i];
        if (i == MAX_WHOLE / 10) {
            fputs(" ...", h->out);
            break;
        }
        fputs(i ? ", <code>" : "<code>", h->out);
        lh_xml_put(h->out, lh_place_base(p->exe));
        fprintf(h->out, "</code> (pid %llu)", (unsigned long long)p->pid);
    }
    fputs("</p>\n", h->out);
}

/* What limits the records. */
static void notes(const struct lh_html *h)
{
    for (size_t i = 0; i < h->content->nprocesses; i++) {
        const struct lh_model_process *p = h->content->processes[i];
        for (size_t j = 0; j < p->nnotes; j++) {
            fprintf(h->out, "<p class=\"note\">Process %llu: ",
                    (unsigned long long)p->pid);
            lh_xml_put(h->out, p->notes[j].text);
            fputs("</p>\n", h->out);
        }
    }
}

static void summary(const struct lh_html *h)
{
    const struct lh_summary *s = h->content->summary;
    struct lh_pool pool = { 0 };
    fputs("<header>\n<h1>lockhound report</h1>\n", h->out);
    programs(h);
    fputs("<ul class=\"figures\">\n", h->out);
    figure(h->out, s->counting ? "bad" : "good", s->counting,
           "possible or happened");
    figure(h->out, "", s->conditional, "conditional");
    figure(h->out, "", s->locks,
           s->locks == 1 ? "nested lock" : "nested locks");
    figure(h->out, "", s->orders, s->orders == 1 ? "order" : "orders");
    figure(h->out, "", s->threads, s->threads == 1 ? "thread" : "threads");
    figure(h->out, "", s->processes,
           s->processes == 1 ? "process" : "processes");
    fputs("</ul>\n", h->out);
    lh_html_put(h->out, "<p class=\"line\">", &pool,
                lh_summary_text(&pool, s, h->content->all, NULL), "</p>\n");
    notes(h);
    fputs("<nav><a href=\"#findings\">Findings</a> <a href=\"#graph\">Graph</a>"
          " <a href=\"#locks\">Locks</a> <a href=\"#orders\">Orders</a></nav>\n"
          "</header>\n",
          h->out);
    lh_pool_free(&pool);
}

/* One line of a finding that is not shown whole. */
static void brief(const struct lh_html *h, const struct lh_findings_item *item)
{
    struct lh_pool pool = { 0 };
    struct lh_explain e;
    lh_explain_begin(&e, &pool, h->content->symbols, h->content->names,
                     item->process, item->finding);
    fputs("<article class=\"finding brief\" id=\"", h->out);
    lh_xml_put(h->out, item->id);
    lh_html_put(h->out, "\"><p>", &pool, lh_point_headline(&e),
                "</p></article>\n");
    lh_pool_free(&pool);
}

static void findings(const struct lh_html *h)
{
    const struct lh_content *c = h->content;
    size_t n = 0;
    fputs("<section id=\"findings\">\n<h2>Findings</h2>\n", h->out);
    for (size_t i = 0; i < c->findings->n; i++) {
        lh_progress_step(c->progress);
        if (!lh_findings_is_wanted(c->findings->items[i], c->all))
            continue;
        if (n++ < MAX_WHOLE)
            lh_html_finding(h, c->findings->items[i]);
        else
            brief(h, c->findings->items[i]);
    }
    if (!n)
        fputs("<p>Nothing was found.</p>\n", h->out);
    fputs("</section>\n", h->out);
}

/* Shown by the script, which they need. */
static void filters(const struct lh_html *h)
{
    fputs("<form id=\"filters\" hidden role=\"search\">\n"
          "<label>Lock <input type=\"search\" id=\"name\" "
          "placeholder=\"part of a name\"></label>\n"
          "<label>Module <select id=\"module\"><option value=\"\">all"
          "</option></select></label>\n"
          "<output id=\"matches\"></output>\n</form>\n",
          h->out);
}

void lh_html_report(FILE *out, const struct lh_content *content)
{
    struct lh_html h = { .out = out, .content = content };
    lh_ordergraph_make(&h.graph, content);
    lh_ordergraph_name(&h.graph, content);
    head(&h);
    summary(&h);
    fputs("<main>\n", out);
    filters(&h);
    findings(&h);
    lh_html_graph(&h);
    lh_html_tables(&h);
    fprintf(out, "</main>\n<script>\n%s</script>\n</body>\n</html>\n",
            lh_html_script);
    lh_ordergraph_free(&h.graph);
}
