/* SPDX-License-Identifier: MIT
 * text.c - a finding as text for a person, in 80 columns. */
#include "text.h"

#include <string.h>

#include "advise.h"
#include "content.h"
#include "explain.h"
#include "findings.h"
#include "genrule.h"
#include "misuse.h"
#include "naming.h"
#include "pool.h"
#include "progress.h"
#include "stacktext.h"
#include "style.h"
#include "summary.h"
#include "trace.h"
#include "witness.h"

enum {
    MAX_SIDES = 8, /* of a ring; the JSON report has all */
    MAX_PIDS = 8,  /* listed */
};

struct page {
    FILE *out;
    bool colour, verbose;
    size_t max_sides;
    struct lh_pool pool;
    struct lh_explain explain;
};

static void paragraph(struct page *p, size_t first, size_t rest,
                      const char *text)
{
    lh_style_wrap(p->out, p->colour, first, rest, text);
}

/* Bold as a whole: what ends a lock's name must not end that too. */
static void headline(struct page *p, const char *sentence)
{
    char *text = lh_pool_copy(&p->pool, LH_STYLE_BOLD);
    while (*sentence) {
        size_t n = strcspn(sentence, LH_STYLE_END);
        bool end = sentence[n] != '\0';
        text = lh_pool_format(&p->pool, "%s%.*s%s", text, (int)n, sentence,
                              end ? LH_STYLE_END LH_STYLE_BOLD : "");
        sentence += n + end;
    }
    paragraph(p, 0, 2, lh_pool_format(&p->pool, "%s" LH_STYLE_END, text));
}

static void stack(struct page *p, uint64_t id)
{
    const struct lh_explain *e = &p->explain;
    struct lh_trace t = p->verbose
                            ? lh_trace_read(e->pool, e->symbols, e->process, id)
                            : lh_explain_stack(e, id);
    lh_stacktext_write(p->out, p->verbose, e->pool, t);
}

/* Where the lock was initialized or first seen. */
static void birth(struct page *p, uint64_t lock)
{
    const struct lh_model_lock *l = lh_model_lock(p->explain.process, lock);
    if (!l || (l->is_static && !l->init) || (!l->init && !l->first))
        return;
    paragraph(p, 4, 6, l->is_static ? "initialized at:" : "the whole stack:");
    stack(p, l->init ? l->init : l->first);
}

static void locks(struct page *p)
{
    size_t n;
    const uint64_t *list = lh_explain_locks(&p->explain, &n);
    for (size_t i = 0; i < n && i < p->max_sides; i++) {
        paragraph(p, 2, 4,
                  lh_pool_format(&p->pool, "%s: %s",
                                 lh_naming_lock(&p->explain, list[i]),
                                 lh_naming_origin(&p->explain, list[i])));
        if (p->verbose)
            birth(p, list[i]);
    }
    if (n > p->max_sides)
        paragraph(
            p, 2, 4,
            lh_pool_format(&p->pool, "(and %zu more locks)", n - p->max_sides));
}

static void side(struct page *p, size_t i)
{
    const struct lh_model_side *s = &p->explain.finding->sides[i];
    fputc('\n', p->out);
    paragraph(p, 2, 4, lh_explain_thread_long(&p->explain, s->thread));
    if (lh_explain_is_queue_only(&p->explain, i)) {
        paragraph(p, 4, 6,
                  lh_pool_format(&p->pool,
                                 "%s, at:", lh_explain_holds(&p->explain, i)));
        stack(p, s->wants_stack);
        return;
    }
    const char *waited = s->waited_ms
                             ? lh_pool_format(&p->pool, ", for %llu ms so far,",
                                              (unsigned long long)s->waited_ms)
                             : "";
    if (s->holds_stack || !lh_explain_is_end(&p->explain, s->holds)) {
        paragraph(p, 4, 6,
                  lh_pool_format(&p->pool,
                                 "%s, %s at:", lh_explain_holds(&p->explain, i),
                                 lh_explain_since(&p->explain, i)));
        stack(p, s->holds_stack);
    }
    paragraph(p, 4, 6,
              lh_pool_format(&p->pool,
                             "%s%s%s at:", s->holds_stack ? "and " : "",
                             lh_explain_waits(&p->explain, i), waited));
    stack(p, s->wants_stack);
}

static void deed(struct page *p, bool named, uint64_t thread, const char *what,
                 uint64_t id)
{
    if (named) {
        fputc('\n', p->out);
        paragraph(p, 2, 4, lh_explain_thread_long(&p->explain, thread));
    }
    paragraph(p, 4, 6, lh_pool_format(&p->pool, "%s at:", what));
    stack(p, id);
}

/* Of a finding about one lock: what was done first, by whom, and then. */
static void deeds(struct page *p)
{
    const struct lh_explain *e = &p->explain;
    const struct lh_model_finding *f = e->finding;
    uint64_t before = f->holder ? f->holder : f->thread;
    const char *act = lh_misuse_act(e);
    if (f->holder_stack)
        deed(p, true, before, lh_misuse_past(e), f->holder_stack);
    bool named = !f->holder_stack || before != f->thread;
    if (!named)
        act = lh_pool_format(&p->pool, "and %s", act);
    deed(p, named, f->thread, act, f->stack);
}

/* One more way in which the order of a side was seen. */
static void witness(struct page *p, const struct lh_model_side *s,
                    const struct lh_witness *w)
{
    const struct lh_explain ring = p->explain;
    const char *holds = lh_naming_lock(&ring, s->holds);
    const char *wants = lh_naming_lock(&ring, s->wants);
    const char *often = w->seen.times ? lh_explain_often(&ring, w->seen) : "";
    const char *process = "";
    if (w->process != ring.process)
        process = lh_pool_format(&p->pool, "process %llu ",
                                 (unsigned long long)w->process->pid);
    p->explain.process = w->process;
    p->explain.finding = w->finding;
    fputc('\n', p->out);
    paragraph(p, 2, 4,
              lh_pool_format(&p->pool, "Also %s then %s%s%s, first by %s%s",
                             holds, wants, *often ? ": " : "", often, process,
                             lh_explain_thread(&p->explain, w->thread)));
    paragraph(p, 4, 6, lh_pool_format(&p->pool, "%s taken at:", holds));
    stack(p, w->holds_stack);
    paragraph(p, 4, 6, lh_pool_format(&p->pool, "%s asked for at:", wants));
    stack(p, w->wants_stack);
    p->explain = ring;
}

/* All of them, which the records of a ring across processes do not have. */
static void witnesses(struct page *p, const struct lh_findings_item *item)
{
    const struct lh_model_finding *f = p->explain.finding;
    size_t all = 0, n;
    if (item->process->is_merged)
        return;
    for (size_t i = 0; i < f->nsides; i++) {
        const struct lh_witness *list = lh_witness_list(&p->pool, item, i, &n);
        for (size_t j = 0; j < n; j++)
            witness(p, &f->sides[i], &list[j]);
        all += n;
    }
    if (f->nsides && !all)
        fputs("\n  The records have no other request in these orders.\n",
              p->out);
}

static void sides(struct page *p)
{
    const struct lh_model_finding *f = p->explain.finding;
    for (size_t i = 0; i < f->nsides && i < p->max_sides; i++)
        side(p, i);
    if (f->nsides > p->max_sides)
        fprintf(p->out,
                "\n  (and %zu more sides; lockhound report --format=json has "
                "them)\n",
                f->nsides - p->max_sides);
    if (f->nsides == 0 && f->stack)
        deeds(p);
}

static void all_counts(struct page *p)
{
    const struct lh_explain *e = &p->explain;
    for (size_t i = 0; i < e->finding->nsides; i++) {
        const struct lh_model_side *s = &e->finding->sides[i];
        struct lh_model_seen seen = lh_model_seen(e->process, s);
        if (s->holds != s->wants && seen.times)
            paragraph(p, 2, 4,
                      lh_pool_format(&p->pool, "%s then %s: %s.",
                                     lh_naming_lock(e, s->holds),
                                     lh_naming_lock(e, s->wants),
                                     lh_explain_often(e, seen)));
    }
}

static void counts(struct page *p, const struct lh_findings_item *item)
{
    const char *text = p->verbose ? "" : lh_explain_counts(&p->explain);
    uint64_t rings = lh_findings_rings(item);
    if (p->verbose)
        all_counts(p);
    if (*text)
        paragraph(p, 2, 4, lh_pool_format(&p->pool, "%s.", text));
    if (rings > 1)
        paragraph(p, 2, 4,
                  lh_pool_format(&p->pool,
                                 "%llu rings go through these places, of "
                                 "different locks; this is the first.",
                                 (unsigned long long)rings));
}

static void reasons(struct page *p)
{
    const struct lh_model_finding *f = p->explain.finding;
    for (size_t i = 0; i < f->nreasons && i < p->max_sides; i++)
        paragraph(
            p, 2, 4,
            lh_pool_format(&p->pool, "%s %s", i ? "And:" : "Why not now:",
                           lh_advise_reason(&p->explain, &f->reasons[i])));
}

static void processes(struct page *p, const struct lh_findings_item *item)
{
    const struct lh_model_process *owner = item->process;
    if (owner->is_of_runs)
        paragraph(p, 2, 4, lh_advise_runs(&p->explain, p->max_sides));
    if (owner->is_merged)
        return; /* each side says where it is */
    if (item->npids < 2) {
        if (owner->forked_from)
            paragraph(p, 2, 4,
                      lh_pool_format(&p->pool,
                                     "Found in process %llu, forked by %llu.",
                                     (unsigned long long)owner->pid,
                                     (unsigned long long)owner->forked_from));
        return;
    }
    char *text =
        lh_pool_format(&p->pool, "Found in %zu processes: pid", item->npids);
    size_t shown =
        p->verbose || item->npids < MAX_PIDS ? item->npids : MAX_PIDS;
    for (size_t i = 0; i < shown; i++)
        text = lh_pool_format(&p->pool, "%s%s %llu", text, i ? "," : "",
                              (unsigned long long)item->pids[i]);
    paragraph(p, 2, 4,
              lh_pool_format(&p->pool, "%s%s", text,
                             item->npids > shown ? ", ..." : "."));
}

/* What limits the records that the finding is from. */
static void notes(struct page *p, const struct lh_findings_item *item)
{
    const struct lh_model_process *last = NULL;
    for (size_t i = 0; i < item->nparts; i++) {
        const struct lh_model_process *owner = item->parts[i].process;
        for (size_t j = 0; owner != last && j < owner->nnotes; j++)
            paragraph(p, 2, 4,
                      lh_pool_format(
                          &p->pool, "Note on process %llu: %s",
                          (unsigned long long)owner->pid,
                          lh_explain_clean(&p->explain, owner->notes[j].text)));
        last = owner;
    }
}

void lh_text_finding(FILE *out, bool colour, bool verbose,
                     struct lh_symbols *symbols, struct lh_naming *names,
                     const struct lh_findings_item *item)
{
    struct page p = { .out = out,
                      .colour = colour,
                      .verbose = verbose,
                      .max_sides = verbose ? SIZE_MAX : MAX_SIDES };
    lh_explain_begin(&p.explain, &p.pool, symbols, names, item->process,
                     item->finding);
    headline(&p, lh_explain_sentence(&p.explain));
    fputc('\n', out);
    locks(&p);
    sides(&p);
    if (verbose)
        witnesses(&p, item);
    fputc('\n', out);
    counts(&p, item);
    reasons(&p);
    const char *advice = lh_advise_fix(&p.explain);
    if (*advice)
        paragraph(&p, 2, 4, lh_pool_format(&p.pool, "Fix: %s", advice));
    processes(&p, item);
    if (verbose)
        notes(&p, item);
    lh_pool_free(&p.pool);
}

void lh_text_waiting_stack(FILE *out, const struct lh_explain *e, uint64_t id)
{
    struct lh_trace t = lh_explain_stack(e, id);
    while (t.n > 1 && lh_trace_is_runtime(&t.lines[0]) &&
           lh_trace_is_runtime(&t.lines[1])) {
        t.lines++;
        t.n--;
    }
    lh_stacktext_write(out, false, e->pool, t);
}

void lh_text_report(FILE *out, const struct lh_content *c)
{
    bool colour = lh_style_wanted(c->colour, fileno(out));
    struct lh_pool pool = { 0 };
    const char *separator = "";
    for (size_t i = 0; i < c->findings->n; i++) {
        const struct lh_findings_item *item = c->findings->items[i];
        lh_progress_step(c->progress);
        if (!lh_findings_is_wanted(item, c->all))
            continue;
        fputs(separator, out);
        lh_text_finding(out, colour, c->verbose, c->symbols, c->names, item);
        if (c->gen_suppressions)
            lh_genrule_print(out, c->symbols, c->names, item);
        separator = "\n";
    }
    fprintf(out, "%s%s\n", separator,
            lh_summary_text(&pool, c->summary, c->all, NULL));
    lh_pool_free(&pool);
}
