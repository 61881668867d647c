/* SPDX-License-Identifier: MIT
 * advise.c - what is unusual about a finding, what to change, why not now. */
#include "advise.h"

#include <string.h>

#include "explain.h"
#include "misuse.h"
#include "model.h"
#include "naming.h"
#include "pool.h"
#include "rules.h"
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

const char *lh_advise_site(const struct lh_explain *e, uint64_t stack)
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
 * that takes any lock, both of them, for its callers. No line if unknown. */
static struct lh_trace_line request_line(const struct lh_explain *e,
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
    return wanted.n ? wanted.lines[i] : (struct lh_trace_line){ 0 };
}

static const char *request_site(const struct lh_explain *e,
                                const struct lh_model_side *s)
{
    struct lh_trace_line line = request_line(e, s);
    return line.function ? line_words(e, &line) : "an unknown place";
}

/* "in f (a.c:3) or in g (a.c:8)", "in f (a.c:3 or a.c:8)". */
static const char *either_site(const struct lh_explain *e)
{
    const struct lh_model_side *s = e->finding->sides;
    struct lh_trace_line a = request_line(e, &s[0]), b = request_line(e, &s[1]);
    if (!a.function || !b.function || !*a.file || !*b.file ||
        strcmp(a.function, b.function) != 0)
        return FORMAT("in %s or in %s", request_site(e, &s[0]),
                      request_site(e, &s[1]));
    return lh_explain_clean(e, FORMAT("in %s (%s or %s)", a.function,
                                      lh_trace_where(e->pool, &a),
                                      lh_trace_where(e->pool, &b)));
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
        if (lh_explain_is_queue_only(e, i))
            return -1; /* a writer is no order that could be turned round */
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

/* Both sides go through one line, so it is the callers, or the data, that
 * decide on the order. */
static const char *one_site_advice(const struct lh_explain *e, int odd,
                                   const char *site)
{
    const struct lh_model_side *s = &e->finding->sides[odd >= 0 ? odd : 0];
    const char *held = lh_naming_lock(e, s->holds);
    const char *wanted = lh_naming_lock(e, s->wants);
    if (odd >= 0)
        return FORMAT("take %s before %s everywhere, as is usual; both orders "
                      "come from %s.",
                      wanted, held, site);
    return FORMAT("take %s and %s in one order everywhere; both orders come "
                  "from %s.",
                  held, wanted, site);
}

static const char *pair_advice(const struct lh_explain *e)
{
    const struct lh_model_side *s = e->finding->sides;
    const char *a = request_site(e, &s[0]);
    int odd = lh_advise_odd(e);
    bool one_site = strcmp(a, request_site(e, &s[1])) == 0;
    if (odd >= 0 && (!one_site || against_ranks(e, (size_t)odd)))
        return odd_advice(e, (size_t)odd);
    if (one_site)
        return one_site_advice(e, odd, a);
    return FORMAT("take %s and %s in one order: change it %s, or release the "
                  "one before taking the other.",
                  lh_naming_lock(e, s[0].holds), lh_naming_lock(e, s[0].wants),
                  either_site(e));
}

/* Whether all sides make their request in one line. */
static bool one_line(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    struct lh_trace_line first = request_line(e, &f->sides[0]);
    for (size_t i = 1; i < f->nsides; i++) {
        struct lh_trace_line line = request_line(e, &f->sides[i]);
        if (!first.function || !line.function || !same_line(&first, &line))
            return false;
    }
    return true;
}

/* Whether the same two lines take all the locks, each now first and now second:
 * whatever they are, that code makes no difference between them. */
static bool same_role(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    struct lh_trace first = lh_explain_stack(e, f->sides[0].holds_stack);
    for (size_t i = 0; i < f->nsides; i++) {
        const struct lh_model_side *s = &f->sides[i];
        const struct lh_model_lock *l = lh_model_lock(e->process, s->holds);
        struct lh_trace t = lh_explain_stack(e, s->holds_stack);
        if (!l || *l->name || !first.n || !t.n ||
            !same_line(&first.lines[0], &t.lines[0]))
            return false;
        if (l->is_static && !lh_naming_same_member(e, s->holds, s->wants))
            return false;
    }
    return one_line(e);
}

static bool all_alike(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    for (size_t i = 0; i < f->nsides; i++)
        if (!lh_naming_alike(e, f->sides[i].holds, f->sides[i].wants))
            return same_role(e);
    return f->nsides > 0;
}

static const char *ring_advice(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    int odd = lh_advise_odd(e);
    size_t last = f->nsides - 1;
    if (lh_explain_is_queue_only(e, last))
        last--;
    const struct lh_model_side *s = &f->sides[odd >= 0 ? (size_t)odd : last];
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
    if (f->nsides == 0)
        return lh_misuse_fix(e);
    const char *special = lh_rules_fix(e);
    if (*special)
        return special;
    for (size_t i = 0; i < f->nsides; i++)
        if (f->sides[i].wait == LH_MODEL_CONDITION)
            return condition_advice(e, &f->sides[i]);
    bool ranked = false;
    for (size_t i = 0; i < f->nsides; i++)
        ranked |= against_ranks(e, i);
    if (!ranked && all_alike(e) && (lh_advise_odd(e) < 0 || one_line(e)))
        return FORMAT("these locks are alike: take them in one order "
                      "everywhere, for example that of their %s.",
                      e->process->is_merged && !e->process->is_of_runs
                          ? "places in the shared memory"
                          : "addresses");
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
    if (e->process->is_of_runs)
        return FORMAT("%s did its part in a process without other threads.",
                      first);
    if (a && b && a->joined_by && b->creator && a->joined_by == b->creator)
        return FORMAT("in this run %s was created after %s was joined, both "
                      "by %s.",
                      second, first, lh_explain_thread(e, b->creator));
    if (a && a->joined_by == after)
        return FORMAT("in this run %s did its part after it had joined %s.",
                      second, first);
    if (b && b->creator == before)
        return FORMAT("in this run %s did its part before it created %s.",
                      first, second);
    if (a && a->joined_by)
        return FORMAT("in this run %s was joined, by %s, before %s did its "
                      "part.",
                      first, lh_explain_thread(e, a->joined_by), second);
    return FORMAT("in this run %s did its part before %s began its own, by "
                  "the order in which %s.",
                  first, second,
                  a && b && a->pid != b->pid
                      ? "processes are forked and waited for"
                      : "threads are created and joined");
}

const char *lh_advise_reason(const struct lh_explain *e,
                             const struct lh_model_reason *r)
{
    const struct lh_model_finding *f = e->finding;
    switch (r->kind) {
    case LH_MODEL_GATE:
        return gate_text(e, r);
    case LH_MODEL_ONE_THREAD:
        if (e->process->is_of_runs)
            return "only main threads had done this; a second thread that does "
                   "it could block with them.";
        return FORMAT("when the ring was first seen, only %s had done this; a "
                      "second thread that does it could block with it.",
                      lh_explain_thread(e, r->thread));
    case LH_MODEL_FEW_THREADS:
        return FORMAT("when the ring was first seen, only %llu thread%s had "
                      "done this, and it needs %zu.",
                      (unsigned long long)r->threads,
                      r->threads == 1 ? "" : "s", f->nsides);
    case LH_MODEL_ORDERED:
        return ordered_text(e, r);
    case LH_MODEL_TIMED_WAIT:
        return FORMAT("%s waits for %s for a limited time only.",
                      lh_explain_thread(e, f->sides[r->sides[0]].thread),
                      lh_naming_lock(e, f->sides[r->sides[0]].wants));
    case LH_MODEL_TRIED_ONLY:
        return FORMAT("%s was only seen to try %s here, and got it; this place "
                      "waits when it does not.",
                      lh_explain_thread(e, f->sides[r->sides[0]].thread),
                      lh_naming_lock(e, f->sides[r->sides[0]].wants));
    case LH_MODEL_UNSEEN_END:
        return FORMAT("the end of a lock there cannot be seen: %s may be two "
                      "locks that lay at one address, one after the other.",
                      r->lock ? lh_naming_lock(e, r->lock)
                              : "what looks like one lock");
    case LH_MODEL_SEVERAL:
        return FORMAT("%s stands for several locks made there, and the runs "
                      "may have taken different ones.",
                      lh_naming_lock(e, r->lock));
    case LH_MODEL_NO_BUILD:
        return FORMAT("%s is known by a file without a build id: built anew "
                      "between the runs, it may have another lock there.",
                      lh_naming_lock(e, r->lock));
    default:
        return FORMAT("%s.", lh_explain_clean(e, r->word));
    }
}

const char *lh_advise_runs(const struct lh_explain *e, size_t max_sides)
{
    const char *text = "None of these had this ring alone:";
    for (size_t i = 0; i < e->finding->nsides && i < max_sides; i++) {
        const struct lh_model_thread *t =
            lh_model_thread(e->process, e->finding->sides[i].thread);
        text = FORMAT("%s%s process %llu is of %s", text, i ? "," : "",
                      (unsigned long long)(t ? t->pid : 0),
                      lh_explain_clean(e, t && t->file ? t->file : ""));
    }
    return FORMAT("%s.", text);
}
