/* SPDX-License-Identifier: MIT
 * short.c - a finding as one line for logs and editors. */
#include "short.h"

#include <string.h>

#include "content.h"
#include "explain.h"
#include "place.h"
#include "point.h"
#include "pool.h"
#include "progress.h"
#include "style.h"
#include "trace.h"

#define FORMAT(...) lh_pool_format(e->pool, __VA_ARGS__)

/* "bank.c:31", else what is known instead. */
static const char *place(const struct lh_explain *e, uint64_t stack)
{
    struct lh_trace t = lh_explain_stack(e, stack);
    const char *text = lh_place_base(e->process->exe);
    if (t.n && *t.lines[0].file && t.lines[0].line > 0)
        text =
            FORMAT("%s:%d",
                   lh_place_path(e->pool, t.lines[0].file, t.lines[0].built_in),
                   t.lines[0].line);
    else if (t.n)
        text = lh_trace_where(e->pool, &t.lines[0]);
    return lh_explain_clean(e, text);
}

/* Vim takes what stands in quotes for a file if a number follows. */
static void line(FILE *out, const struct lh_explain *e, uint64_t stack,
                 const char *severity, const char *message)
{
    char *text = lh_style_strip(lh_pool_copy(e->pool, message));
    for (char *c = text; (c = strchr(c, '"'));)
        *c = '\'';
    fprintf(out, "%s: %s: %s\n", place(e, stack), severity, text);
}

static void notes(FILE *out, const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    size_t first = lh_point_side(e);
    for (size_t i = 0; i < f->nsides; i++)
        if (i != first)
            line(out, e, f->sides[i].wants_stack, "note", lh_point_deed(e, i));
    if (f->nsides == 0 && f->holder_stack)
        line(out, e, f->holder_stack, "note", lh_point_before(e));
}

void lh_short_report(FILE *out, const struct lh_content *c)
{
    static const char *const severities[] = { "info", "warning", "error" };
    for (size_t i = 0; i < c->findings->n; i++) {
        const struct lh_findings_item *item = c->findings->items[i];
        struct lh_pool pool = { 0 };
        struct lh_explain e;
        lh_progress_step(c->progress);
        if (!lh_findings_is_wanted(item, c->all))
            continue;
        lh_explain_begin(&e, &pool, c->symbols, c->names, item->process,
                         item->finding);
        line(out, &e, lh_point_stack(&e), severities[item->finding->grade],
             lh_point_headline(&e));
        notes(out, &e);
        lh_pool_free(&pool);
    }
}
