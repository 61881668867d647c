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
#include "place.h"
#include "pool.h"
#include "progress.h"
#include "style.h"
#include "summary.h"

enum {
    MAX_SIDES = 8,     /* of a ring; the JSON report has all */
    MAX_FUNCTION = 44, /* columns in which functions are aligned */
    MAX_NAME = 56,     /* bytes of a function's name that are shown */
    MAX_PIDS = 8,      /* listed */
};

struct page {
    FILE *out;
    bool colour;
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

static void locks(struct page *p)
{
    size_t n;
    const uint64_t *list = lh_explain_locks(&p->explain, &n);
    for (size_t i = 0; i < n && i < MAX_SIDES; i++)
        paragraph(p, 2, 4,
                  lh_pool_format(&p->pool, "%s: %s",
                                 lh_naming_lock(&p->explain, list[i]),
                                 lh_naming_origin(&p->explain, list[i])));
    if (n > MAX_SIDES)
        paragraph(
            p, 2, 4,
            lh_pool_format(&p->pool, "(and %zu more locks)", n - MAX_SIDES));
}

static char *shown_function(struct page *p, const struct lh_trace_line *line)
{
    const char *name = lh_trace_function(&p->pool, line);
    const char *inlined = line->inlined ? " (inlined)" : "";
    bool cut = strlen(name) > MAX_NAME;
    char *text = lh_pool_format(&p->pool, "%.*s%s%s", MAX_NAME, name,
                                cut ? "..." : "", inlined);
    lh_style_clean(text);
    return text;
}

static char *shown_source(struct page *p, const struct lh_trace_line *line)
{
    const char *source = "";
    if (*line->file)
        source =
            lh_place_short(&p->pool, line->file, line->built_in, line->line);
    else if (*line->function && *line->module)
        source = lh_pool_format(&p->pool, "in %s", lh_place_base(line->module));
    char *text = lh_pool_copy(&p->pool, source);
    lh_style_clean(text);
    return text;
}

/* The source goes to its column, or to a line of its own. */
static void stack_line(struct page *p, size_t number, int digits, size_t column,
                       const struct lh_trace_line *line)
{
    char label[32];
    const char *function = shown_function(p, line);
    const char *source = shown_source(p, line);
    snprintf(label, sizeof label, "#%-*zu", digits, number);
    size_t indent = 6 + strlen(label) + 1;
    size_t width = lh_style_width(function);
    size_t room = LH_STYLE_COLUMNS - lh_style_width(source);
    fprintf(p->out, "      %s %s", label, function);
    if (!*source)
        fputc('\n', p->out);
    else if (width <= column && lh_style_width(source) < LH_STYLE_COLUMNS &&
             indent + column + 2 <= room)
        fprintf(p->out, "%*s  %s\n", (int)(column - width), "", source);
    else
        fprintf(p->out, "\n%*s%s\n", (int)indent + 2, "", source);
}

static void stack_lines(struct page *p, struct lh_trace t)
{
    size_t column = 0;
    for (size_t i = 0; i < t.n; i++) {
        size_t width = lh_style_width(shown_function(p, &t.lines[i]));
        if (width > column && width <= MAX_FUNCTION)
            column = width;
    }
    for (size_t i = 0; i < t.n; i++)
        stack_line(p, i, t.n > 10 ? 2 : 1, column, &t.lines[i]);
    if (!t.known || !t.n)
        fputs("      (unknown)\n", p->out);
    else if (t.partial)
        fputs("      (callers not recorded)\n", p->out);
    else if (t.truncated)
        fputs("      (more callers than are recorded)\n", p->out);
}

static void stack(struct page *p, uint64_t id)
{
    stack_lines(p, lh_explain_stack(&p->explain, id));
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

static void sides(struct page *p)
{
    const struct lh_model_finding *f = p->explain.finding;
    for (size_t i = 0; i < f->nsides && i < MAX_SIDES; i++)
        side(p, i);
    if (f->nsides > MAX_SIDES)
        fprintf(p->out,
                "\n  (and %zu more sides; lockhound report --format=json has "
                "them)\n",
                f->nsides - MAX_SIDES);
    if (f->nsides == 0 && f->stack)
        deeds(p);
}

static void counts(struct page *p, const struct lh_findings_item *item)
{
    const char *text = lh_explain_counts(&p->explain);
    uint64_t rings = lh_findings_rings(item);
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
    for (size_t i = 0; i < f->nreasons && i < MAX_SIDES; i++)
        paragraph(
            p, 2, 4,
            lh_pool_format(&p->pool, "%s %s", i ? "And:" : "Why not now:",
                           lh_advise_reason(&p->explain, &f->reasons[i])));
}

/* Which runs, of a ring that none has alone. */
static void runs(struct page *p)
{
    const struct lh_explain *e = &p->explain;
    const char *text = "None of these had this ring alone:";
    const char *separator = "";
    for (size_t i = 0; i < e->finding->nsides && i < MAX_SIDES; i++) {
        uint64_t thread = e->finding->sides[i].thread;
        const struct lh_model_thread *t = lh_model_thread(e->process, thread);
        char *file = lh_pool_copy(&p->pool, t && t->file ? t->file : "");
        lh_style_clean(file);
        text = lh_pool_format(&p->pool, "%s%s process %llu is of %s", text,
                              separator, (unsigned long long)(t ? t->pid : 0),
                              file);
        separator = ",";
    }
    paragraph(p, 2, 4, lh_pool_format(&p->pool, "%s.", text));
}

static void processes(struct page *p, const struct lh_findings_item *item)
{
    const struct lh_model_process *owner = item->process;
    if (owner->is_of_runs)
        runs(p);
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
    for (size_t i = 0; i < item->npids && i < MAX_PIDS; i++)
        text = lh_pool_format(&p->pool, "%s%s %llu", text, i ? "," : "",
                              (unsigned long long)item->pids[i]);
    paragraph(p, 2, 4,
              lh_pool_format(&p->pool, "%s%s", text,
                             item->npids > MAX_PIDS ? ", ..." : "."));
}

void lh_text_finding(FILE *out, bool colour, struct lh_symbols *symbols,
                     struct lh_naming *names,
                     const struct lh_findings_item *item)
{
    struct page p = { .out = out, .colour = colour };
    lh_explain_begin(&p.explain, &p.pool, symbols, names, item->process,
                     item->finding);
    headline(&p, lh_explain_sentence(&p.explain));
    fputc('\n', out);
    locks(&p);
    sides(&p);
    fputc('\n', out);
    counts(&p, item);
    reasons(&p);
    const char *advice = lh_advise_fix(&p.explain);
    if (*advice)
        paragraph(&p, 2, 4, lh_pool_format(&p.pool, "Fix: %s", advice));
    processes(&p, item);
    lh_pool_free(&p.pool);
}

void lh_text_waiting_stack(FILE *out, const struct lh_explain *e, uint64_t id)
{
    struct page p = { .out = out, .explain = *e };
    struct lh_trace t = lh_explain_stack(e, id);
    while (t.n > 1 && lh_trace_is_runtime(&t.lines[0]) &&
           lh_trace_is_runtime(&t.lines[1])) {
        t.lines++;
        t.n--;
    }
    stack_lines(&p, t);
    lh_pool_free(&p.pool);
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
        lh_text_finding(out, colour, c->symbols, c->names, item);
        if (c->gen_suppressions)
            lh_genrule_print(out, c->symbols, c->names, item);
        separator = "\n";
    }
    fprintf(out, "%s%s\n", separator,
            lh_summary_text(&pool, c->summary, c->all, NULL));
    lh_pool_free(&pool);
}
