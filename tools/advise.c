/* SPDX-License-Identifier: MIT
 * advise.c - what is unusual about a finding, what to change, why not now. */
#include "advise.h"

#include <string.h>

#include "explain.h"
#include "model.h"
#include "naming.h"
#include "pool.h"
#include "trace.h"

enum {
    ODD_FACTOR = 10,   /* that much rarer is clearly the odd one out */
    USUAL_THREADS = 3, /* an order that so many threads keep is the usual */
};

#define FORMAT(...) lh_pool_format(e->pool, __VA_ARGS__)

/* "transfer (bank.c:31)" */
static const char *line_words(const struct lh_explain *e,
                              const struct lh_trace_line *line)
{
    const char *function = lh_trace_function(e->pool, line);
    if (!*line->file)
        return lh_explain_clean(e, lh_trace_where(e->pool, line));
    return lh_explain_clean(
        e, FORMAT("%s (%s)", function, lh_trace_where(e->pool, line)));
}

static const char *site_of(const struct lh_explain *e, uint64_t stack)
{
    struct lh_trace t = lh_explain_stack(e, stack);
    return t.n ? line_words(e, &t.lines[0]) : "an unknown place";
}

static bool same_line(const struct lh_trace_line *a,
                      const struct lh_trace_line *b)
{
    return a->line == b->line && strcmp(a->function, b->function) == 0 &&
           strcmp(a->file, b->file) == 0 &&
           (*a->file || a->offset == b->offset);
}

/* Where a side asks for its second lock: outside of a function of the program
 * that takes any lock, both of them, for its callers. */
static const char *request_site(const struct lh_explain *e,
                                const struct lh_model_side *s)
{
    struct lh_trace held = lh_explain_stack(e, s->holds_stack);
    struct lh_trace wanted = lh_explain_stack(e, s->wants_stack);
    size_t i = 0;
    while (i < held.n && i < wanted.n &&
           same_line(&held.lines[i], &wanted.lines[i]))
        i++;
    if (i == held.n || i == wanted.n)
        i = 0;
    return wanted.n ? line_words(e, &wanted.lines[i]) : "an unknown place";
}

/* Whether taking W while holding H goes against the ranks given to them. */
static bool against_ranks(const struct lh_explain *e, size_t side)
{
    const struct lh_model_side *s = &e->finding->sides[side];
    const struct lh_model_lock *held = lh_model_lock(e->process, s->holds);
    const struct lh_model_lock *wanted = lh_model_lock(e->process, s->wants);
    return held && wanted && held->has_rank && wanted->has_rank &&
           held->rank > wanted->rank;
}

static bool is_rarer(struct lh_model_seen one, struct lh_model_seen other)
{
    if (!one.times || !other.times)
        return false;
    if (other.times / ODD_FACTOR >= one.times)
        return true;
    return one.threads == 1 && other.threads >= USUAL_THREADS &&
           other.times / 2 >= one.times;
}

int lh_advise_odd(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    size_t rarest = 0;
    for (size_t i = 0; i < f->nsides; i++) {
        if (against_ranks(e, i))
            return (int)i;
        if (lh_model_seen(e->process, &f->sides[i]).times <
            lh_model_seen(e->process, &f->sides[rarest]).times)
            rarest = i;
    }
    for (size_t i = 0; i < f->nsides; i++)
        if (i != rarest &&
            !is_rarer(lh_model_seen(e->process, &f->sides[rarest]),
                      lh_model_seen(e->process, &f->sides[i])))
            return -1;
    return f->nsides ? (int)rarest : -1;
}

static const char *odd_advice(const struct lh_explain *e, size_t odd)
{
    const struct lh_model_side *s = &e->finding->sides[odd];
    return FORMAT("take %s before %s in %s too, as %s; or release %s first.",
                  lh_naming_lock(e, s->wants), lh_naming_lock(e, s->holds),
                  request_site(e, s),
                  against_ranks(e, odd) ? "their ranks say" : "elsewhere",
                  lh_naming_lock(e, s->holds));
}

static const char *pair_advice(const struct lh_explain *e)
{
    const struct lh_model_side *s = e->finding->sides;
    const char *a = request_site(e, &s[0]), *b = request_site(e, &s[1]);
    int odd = lh_advise_odd(e);
    bool one_site = strcmp(a, b) == 0;
    if (odd >= 0 && (!one_site || against_ranks(e, (size_t)odd)))
        return odd_advice(e, (size_t)odd);
    const char *first = lh_naming_lock(e, s[0].holds);
    const char *second = lh_naming_lock(e, s[0].wants);
    if (one_site)
        return FORMAT("take %s and %s in one order in %s, for example that of "
                      "their addresses.",
                      first, second, a);
    return FORMAT("take %s and %s in one order: change it in %s or in %s, or "
                  "release the one before taking the other.",
                  first, second, a, b);
}

static bool all_alike(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    for (size_t i = 0; i < f->nsides; i++)
        if (!lh_naming_alike(e, f->sides[i].holds, f->sides[i].wants))
            return false;
    return f->nsides > 0;
}

static const char *ring_advice(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    int odd = lh_advise_odd(e);
    const struct lh_model_side *s =
        &f->sides[odd >= 0 ? (size_t)odd : f->nsides - 1];
    return FORMAT("break the ring at one side, for example in %s: take %s "
                  "before %s, or release %s first.",
                  request_site(e, s), lh_naming_lock(e, s->wants),
                  lh_naming_lock(e, s->holds), lh_naming_lock(e, s->holds));
}

static const char *condition_advice(const struct lh_explain *e,
                                    const struct lh_model_side *s)
{
    return FORMAT("release %s before the condition wait in %s, which takes "
                  "%s back while %s is held.",
                  lh_naming_lock(e, s->holds), request_site(e, s),
                  lh_naming_lock(e, s->wants), lh_naming_lock(e, s->holds));
}

const char *lh_advise_fix(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    if (f->nsides == 0) {
        if (strcmp(f->kind, "LH016") != 0)
            return "";
        return FORMAT("%s %s on every way to %s, or correct the assertion.",
                      f->asserted_held ? "take" : "release",
                      lh_naming_lock(e, f->lock), site_of(e, f->stack));
    }
    for (size_t i = 0; i < f->nsides; i++)
        if (f->sides[i].wait == LH_MODEL_CONDITION)
            return condition_advice(e, &f->sides[i]);
    if (lh_advise_odd(e) < 0 && all_alike(e))
        return FORMAT("these locks are alike: take them in one order "
                      "everywhere, for example that of their addresses.");
    return f->nsides == 2 ? pair_advice(e) : ring_advice(e);
}

static const char *gate_text(const struct lh_explain *e,
                             const struct lh_model_reason *r)
{
    const struct lh_model_finding *f = e->finding;
    const char *a = lh_explain_top(e, r->stacks[0]),
               *b = lh_explain_top(e, r->stacks[1]);
    const char *where = "";
    if (*a && *b && strcmp(a, b) != 0)
        where = FORMAT(" (taken at %s and %s)", a, b);
    else if (*a || *b)
        where = FORMAT(" (taken at %s)", *a ? a : b);
    const char *who = "both hold";
    if (f->nsides > 2)
        who = FORMAT("%s and %s both hold",
                     lh_explain_thread(e, f->sides[r->sides[0]].thread),
                     lh_explain_thread(e, f->sides[r->sides[1]].thread));
    return FORMAT("%s %s%s.", who, lh_naming_lock(e, r->lock), where);
}

static const char *ordered_text(const struct lh_explain *e,
                                const struct lh_model_reason *r)
{
    const struct lh_model_finding *f = e->finding;
    uint64_t before = f->sides[r->sides[0]].thread;
    uint64_t after = f->sides[r->sides[1]].thread;
    const struct lh_model_thread *a = lh_model_thread(e->process, before);
    const struct lh_model_thread *b = lh_model_thread(e->process, after);
    const char *first = lh_explain_thread(e, before);
    const char *second = lh_explain_thread(e, after);
    if (a && b && a->joined_by && b->creator && a->joined_by == b->creator)
        return FORMAT("%s was created after %s was joined, both by %s.", second,
                      first, lh_explain_thread(e, b->creator));
    if (a && a->joined_by == after)
        return FORMAT("%s did its part after it had joined %s.", second, first);
    if (b && b->creator == before)
        return FORMAT("%s did its part before it created %s.", first, second);
    if (a && a->joined_by)
        return FORMAT("%s was joined, by %s, before %s did its part.", first,
                      lh_explain_thread(e, a->joined_by), second);
    return FORMAT("%s always ends its part before %s begins, by the order in "
                  "which threads are created and joined.",
                  first, second);
}

const char *lh_advise_reason(const struct lh_explain *e,
                             const struct lh_model_reason *r)
{
    const struct lh_model_finding *f = e->finding;
    switch (r->kind) {
    case LH_MODEL_GATE:
        return gate_text(e, r);
    case LH_MODEL_ONE_THREAD:
        return FORMAT("only %s was seen to do this; a second thread that does "
                      "it could block with it.",
                      lh_explain_thread(e, r->thread));
    case LH_MODEL_FEW_THREADS:
        return FORMAT("only %llu thread%s seen to do this, and the ring needs "
                      "%zu.",
                      (unsigned long long)r->threads,
                      r->threads == 1 ? " was" : "s were", f->nsides);
    case LH_MODEL_ORDERED:
        return ordered_text(e, r);
    case LH_MODEL_TIMED_WAIT:
        return FORMAT("%s waits for %s for a limited time only.",
                      lh_explain_thread(e, f->sides[r->sides[0]].thread),
                      lh_naming_lock(e, f->sides[r->sides[0]].wants));
    default:
        return FORMAT("%s.", lh_explain_clean(e, r->word));
    }
}
