/* SPDX-License-Identifier: MIT
 * html_finding.c - a finding in an HTML report: its threads as columns, time
 * running down. */
#include "advise.h"
#include "explain.h"
#include "findings.h"
#include "html.h"
#include "misuse.h"
#include "naming.h"
#include "pool.h"
#include "xml.h"

enum { MAX_COLUMNS = 32, MAX_PIDS = 8 };

#define FORMAT(...) lh_pool_format(e->pool, __VA_ARGS__)

struct ring {
    const struct lh_html *h;
    const struct lh_explain *e;
    size_t steps; /* so far */
};

static void locks(const struct lh_html *h, const struct lh_explain *e)
{
    size_t n;
    const uint64_t *list = lh_explain_locks(e, &n);
    fputs("<ul class=\"locks\">\n", h->out);
    for (size_t i = 0; i < n && i < MAX_COLUMNS; i++) {
        const struct lh_ordergraph_lock *l =
            lh_ordergraph_find(&h->graph, e->process, list[i]);
        fprintf(h->out, "<li data-lock=\"%zu\">", l ? l->number : 0);
        lh_html_put(h->out, "", e->pool, lh_naming_lock(e, list[i]), ": ");
        lh_html_put(h->out, "", e->pool, lh_naming_origin(e, list[i]),
                    "</li>\n");
    }
    fputs("</ul>\n", h->out);
}

static void column(const struct ring *r, size_t i, uint64_t thread)
{
    FILE *out = r->h->out;
    fprintf(out, "<div class=\"thread\" style=\"grid-column:%zu\">", i + 1);
    lh_html_put(out, "", r->e->pool, lh_explain_thread_long(r->e, thread),
                "</div>\n");
}

/* Row 1 has the threads. Without a blocker the thread goes on. */
static void step(struct ring *r, size_t i, uint64_t thread, const char *what,
                 const char *blocker, uint64_t stack)
{
    FILE *out = r->h->out;
    size_t row = ++r->steps + 1;
    fprintf(out,
            "<li class=\"step %s\" style=\"grid-column:%zu;grid-row:%zu\">"
            "<p><span class=\"number\">%zu</span> ",
            blocker ? "waits" : "takes", i + 1, row, r->steps);
    lh_html_put(out, "<span class=\"who\">", r->e->pool,
                lh_explain_thread(r->e, thread), "</span> ");
    lh_html_put(out, "", r->e->pool, what, "</p>\n");
    lh_html_source(out, r->e, stack);
    lh_html_stack(out, r->e, stack);
    if (blocker && *blocker)
        lh_html_put(out, "<p class=\"blocker\">", r->e->pool, blocker,
                    "</p>\n");
    fputs("</li>\n", out);
}

/* What it holds, before it waits; nothing where it never took that. */
static void first_step(struct ring *r, size_t i)
{
    const struct lh_explain *e = r->e;
    const struct lh_model_side *s = &e->finding->sides[i];
    if (lh_explain_is_queue_only(e, i) ||
        (!s->holds_stack && lh_explain_is_end(e, s->holds)))
        return;
    step(r, i, s->thread,
         FORMAT("%s, %s at", lh_explain_holds(e, i), lh_explain_since(e, i)),
         NULL, s->holds_stack);
}

static const char *waited(const struct lh_explain *e,
                          const struct lh_model_side *s)
{
    return s->waited_ms ? FORMAT(", for %llu ms so far",
                                 (unsigned long long)s->waited_ms)
                        : "";
}

/* Who is in the way, and when that is the last one of the ring. */
static const char *blocker(const struct lh_explain *e, size_t i)
{
    const struct lh_model_finding *f = e->finding;
    const struct lh_model_side *next = &f->sides[(i + 1) % f->nsides];
    const char *closes = i + 1 < f->nsides ? ""
                         : f->grade == LH_MODEL_HAPPENED
                             ? "; this closes the ring"
                             : "; this would close the ring";
    return FORMAT("blocked by %s%s", lh_explain_thread(e, next->thread),
                  closes);
}

static void last_step(struct ring *r, size_t i)
{
    const struct lh_explain *e = r->e;
    const struct lh_model_side *s = &e->finding->sides[i];
    const char *what = lh_explain_is_queue_only(e, i) ? lh_explain_holds(e, i)
                                                      : lh_explain_waits(e, i);
    step(r, i, s->thread, FORMAT("%s%s, at", what, waited(e, s)), blocker(e, i),
         s->wants_stack);
}

static void deeds(struct ring *r)
{
    const struct lh_explain *e = r->e;
    const struct lh_model_finding *f = e->finding;
    uint64_t before = f->holder ? f->holder : f->thread;
    size_t last = f->holder_stack && before != f->thread;
    if (last)
        column(r, 0, before);
    column(r, last, f->thread);
    fputs("<ol>\n", r->h->out);
    if (f->holder_stack)
        step(r, 0, before, FORMAT("%s at", lh_misuse_past(e)), NULL,
             f->holder_stack);
    step(r, last, f->thread, FORMAT("%s at", lh_misuse_act(e)), "", f->stack);
}

static void sides(struct ring *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        column(r, i, r->e->finding->sides[i].thread);
    fputs("<ol>\n", r->h->out);
    for (size_t i = 0; i < n; i++)
        first_step(r, i);
    for (size_t i = 0; i < n; i++)
        last_step(r, i);
}

static void ring(const struct lh_html *h, const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    struct ring r = { .h = h, .e = e };
    size_t n = f->nsides < MAX_COLUMNS ? f->nsides : MAX_COLUMNS;
    if (n == 0 && !f->stack)
        return;
    fputs("<div class=\"ring\" tabindex=\"0\" role=\"group\" "
          "aria-label=\"Threads side by side, time running down\">\n",
          h->out);
    if (n)
        sides(&r, n);
    else
        deeds(&r);
    fputs("</ol>\n</div>\n", h->out);
    if (n < f->nsides)
        fprintf(h->out, "<p>(and %zu more sides; the JSON report has them)</p>",
                f->nsides - n);
}

static void reason(const struct lh_html *h, const struct lh_explain *e,
                   const struct lh_model_reason *r, bool first)
{
    lh_html_put(h->out, first ? "<p><b>Why not now:</b> " : "<p><b>And:</b> ",
                e->pool, lh_advise_reason(e, r), "</p>\n");
    if (r->kind != LH_MODEL_GATE)
        return;
    lh_html_stack(h->out, e, r->stacks[0]);
    lh_html_stack(h->out, e, r->stacks[1]);
}

static void notes(const struct lh_html *h, const struct lh_explain *e,
                  const struct lh_findings_item *item)
{
    const char *counts = lh_explain_counts(e), *fix = lh_advise_fix(e);
    uint64_t rings = lh_findings_rings(item);
    if (*counts)
        lh_html_put(h->out, "<p>", e->pool, counts, ".</p>\n");
    if (rings > 1)
        fprintf(h->out,
                "<p>%llu rings go through these places, of different locks; "
                "this is the first.</p>\n",
                (unsigned long long)rings);
    for (size_t i = 0; i < e->finding->nreasons; i++)
        reason(h, e, &e->finding->reasons[i], i == 0);
    if (*fix)
        lh_html_put(h->out, "<p class=\"fix\"><b>Fix:</b> ", e->pool, fix,
                    "</p>\n");
    if (item->process->is_of_runs)
        lh_html_put(h->out, "<p>", e->pool, lh_advise_runs(e, MAX_COLUMNS),
                    "</p>\n");
    if (item->process->is_merged)
        return; /* each side says where it is */
    fputs("<p class=\"pids\">Processes:", h->out);
    for (size_t i = 0; i < item->npids && i < MAX_PIDS; i++)
        fprintf(h->out, " %llu", (unsigned long long)item->pids[i]);
    fprintf(h->out, "%s</p>\n", item->npids > MAX_PIDS ? " ..." : "");
}

void lh_html_finding(const struct lh_html *h,
                     const struct lh_findings_item *item)
{
    static const char *const grades[] = { "conditional", "possible",
                                          "happened" };
    const struct lh_content *c = h->content;
    struct lh_pool pool = { 0 };
    struct lh_explain e;
    lh_explain_begin(&e, &pool, c->symbols, c->names, item->process,
                     item->finding);
    fprintf(h->out, "<article class=\"finding %s\" id=\"",
            grades[item->finding->grade]);
    lh_xml_put(h->out, item->id);
    lh_html_put(h->out, "\">\n<h3>", &pool, lh_explain_sentence(&e), "</h3>\n");
    lh_html_put(h->out, "<p class=\"id\">", &pool, item->id, "</p>\n");
    locks(h, &e);
    ring(h, &e);
    notes(h, &e, item);
    fputs("</article>\n", h->out);
    lh_pool_free(&pool);
}
