/* SPDX-License-Identifier: MIT
 * explain.c - a finding in words. */
#include "explain.h"

#include <stdlib.h>
#include <string.h>

#include "place.h"
#include "pool.h"
#include "style.h"
#include "symbols.h"

enum {
    MAX_LISTED = 4,    /* locks or threads named in a sentence */
    ODD_FACTOR = 10,   /* that much rarer is clearly the odd one out */
    MANY_THREADS = 8,  /* what the records count up to */
    USUAL_THREADS = 3, /* an order that so many threads keep is the usual */
};

#define FORMAT(...) lh_pool_format(e->pool, __VA_ARGS__)

/* Text from outside, safe to show. */
static const char *clean(const struct lh_explain *e, const char *text)
{
    char *copy = lh_pool_copy(e->pool, text);
    lh_style_clean(copy);
    return copy;
}

static const struct lh_symbols_data *static_data(const struct lh_explain *e,
                                                 const struct lh_model_lock *l)
{
    const struct lh_model_module *m =
        lh_model_module(e->process, l->where.module);
    struct lh_symbols_data *data = lh_pool_alloc(e->pool, sizeof *data);
    *data = (struct lh_symbols_data){ "", "", "", "", 0 };
    if (m)
        *data =
            lh_symbols_data(lh_symbols_open(e->symbols, m), l->where.offset);
    return data;
}

struct lh_trace lh_explain_stack(const struct lh_explain *e, uint64_t stack)
{
    return lh_trace_cut(lh_trace_read(e->pool, e->symbols, e->process, stack));
}

/* "bank.c:31" of a stack, or "" if nothing is known of it. */
static const char *top_of(const struct lh_explain *e, uint64_t stack)
{
    struct lh_trace t = lh_explain_stack(e, stack);
    return t.n ? clean(e, lh_trace_where(e->pool, &t.lines[0])) : "";
}

/* "transfer (bank.c:31)" */
static const char *line_words(const struct lh_explain *e,
                              const struct lh_trace_line *line)
{
    const char *function = lh_trace_function(e->pool, line);
    if (!*line->file)
        return clean(e, lh_trace_where(e->pool, line));
    return clean(e, FORMAT("%s (%s)", function, lh_trace_where(e->pool, line)));
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

static const char *module_name(const struct lh_explain *e, uint64_t id)
{
    const struct lh_model_module *m = lh_model_module(e->process, id);
    return m ? clean(e, lh_place_base(m->path)) : "an unknown module";
}

static const char *static_name(const struct lh_explain *e,
                               const struct lh_model_lock *l)
{
    const struct lh_symbols_data *data = static_data(e, l);
    if (*data->name)
        return clean(e, data->name);
    return FORMAT("%s+0x%llx", module_name(e, l->where.module),
                  (unsigned long long)l->where.offset);
}

static bool is_annotated(const struct lh_model_lock *l)
{
    return strcmp(l->kind, "annotated") == 0;
}

static const char *kind_word(const struct lh_explain *e,
                             const struct lh_model_lock *l)
{
    return is_annotated(l) ? "lock" : clean(e, l->kind);
}

/* A name that others of the finding may have too. */
static const char *plain_name(const struct lh_explain *e, uint64_t id)
{
    const struct lh_model_lock *l = lh_model_lock(e->process, id);
    if (!l)
        return "unknown lock";
    if (*l->name)
        return clean(e, l->name);
    if (l->is_static)
        return static_name(e, l);
    const char *birth = top_of(e, l->init ? l->init : l->first);
    if (*birth)
        return FORMAT("%s@%s", kind_word(e, l), birth);
    return FORMAT("%s at 0x%llx", kind_word(e, l),
                  (unsigned long long)l->address);
}

struct named {
    uint64_t lock;
    const char *plain, *name;
};

/* Numbers both this lock and the first that has the same name. */
static void add_name(struct lh_explain *e, struct lh_idmap *by_text,
                     uint64_t lock)
{
    if (!lock || lh_idmap_get(&e->names, lock))
        return;
    struct named *n = lh_pool_alloc(e->pool, sizeof *n);
    n->lock = lock;
    n->plain = n->name = plain_name(e, lock);
    uint64_t key = 0;
    for (const char *c = n->plain; *c; c++)
        key = lh_idmap_mix(key, (unsigned char)*c);
    struct named *same = lh_idmap_get(by_text, key);
    if (same) {
        n->name = FORMAT("%s #%llu", n->plain, (unsigned long long)lock);
        same->name =
            FORMAT("%s #%llu", same->plain, (unsigned long long)same->lock);
    } else {
        lh_idmap_put(by_text, key, n);
    }
    lh_idmap_put(&e->names, lock, n);
}

void lh_explain_begin(struct lh_explain *e, struct lh_pool *pool,
                      struct lh_symbols *symbols,
                      const struct lh_model_process *process,
                      const struct lh_model_finding *finding)
{
    struct lh_idmap by_text = { 0 };
    *e = (struct lh_explain){ pool, symbols, process, finding, { 0 } };
    add_name(e, &by_text, finding->lock);
    for (size_t i = 0; i < finding->nsides; i++) {
        add_name(e, &by_text, finding->sides[i].holds);
        add_name(e, &by_text, finding->sides[i].wants);
    }
    for (size_t i = 0; i < finding->nreasons; i++)
        add_name(e, &by_text, finding->reasons[i].lock);
    lh_idmap_free(&by_text);
}

void lh_explain_end(struct lh_explain *e)
{
    lh_idmap_free(&e->names);
}

const char *lh_explain_lock(const struct lh_explain *e, uint64_t lock)
{
    const struct named *n = lh_idmap_get(&e->names, lock);
    return FORMAT(LH_STYLE_LOCK "%s" LH_STYLE_END,
                  n ? n->name : "unknown lock");
}

static const char *static_origin(const struct lh_explain *e,
                                 const struct lh_model_lock *l)
{
    const struct lh_symbols_data *data = static_data(e, l);
    const char *symbol =
        *l->name && *data->name ? FORMAT(" %s", clean(e, data->name)) : "";
    const char *function =
        *data->function ? FORMAT(" in %s", clean(e, data->function)) : "";
    if (!*data->file)
        return FORMAT("static%s in %s", symbol,
                      module_name(e, l->where.module));
    return FORMAT("static%s, declared at %s%s", symbol,
                  clean(e, lh_place_short(e->pool, data->file, data->built_in,
                                          data->line)),
                  function);
}

static const char *born_at(const struct lh_explain *e, const char *what,
                           uint64_t stack)
{
    struct lh_trace t = lh_explain_stack(e, stack);
    if (!t.n)
        return FORMAT("%s at an unknown place", what);
    const char *where = clean(e, lh_trace_where(e->pool, &t.lines[0]));
    if (!*t.lines[0].file || !*t.lines[0].function)
        return FORMAT("%s at %s", what, where);
    return FORMAT("%s at %s in %s", what, where, clean(e, t.lines[0].function));
}

const char *lh_explain_lock_origin(const struct lh_explain *e, uint64_t lock)
{
    const struct lh_model_lock *l = lh_model_lock(e->process, lock);
    if (!l)
        return "its record is missing";
    const char *kind = clean(e, l->kind);
    if (is_annotated(l))
        kind = "annotated lock";
    else if (*l->subtype && strcmp(l->subtype, "normal") != 0)
        kind = FORMAT("%s %s", clean(e, l->subtype), kind);
    if (l->is_static)
        return FORMAT("%s, %s", kind, static_origin(e, l));
    if (l->init)
        return FORMAT("%s, %s", kind, born_at(e, "initialized", l->init));
    if (l->first)
        return FORMAT("%s, %s", kind, born_at(e, "first taken", l->first));
    return FORMAT("%s at 0x%llx", kind, (unsigned long long)l->address);
}

const uint64_t *lh_explain_locks(const struct lh_explain *e, size_t *n)
{
    const struct lh_model_finding *f = e->finding;
    uint64_t *list = lh_pool_array(e->pool, f->nsides * 2 + 1, sizeof *list);
    struct lh_idmap seen = { 0 };
    *n = 0;
    if (f->lock)
        list[(*n)++] = f->lock;
    for (size_t i = 0; i < f->nsides * 2; i++) {
        const struct lh_model_side *s = &f->sides[i % f->nsides];
        uint64_t lock = i < f->nsides ? s->holds : s->wants;
        if (lock == f->lock || lh_idmap_get(&seen, lock))
            continue;
        lh_idmap_put(&seen, lock, list);
        list[(*n)++] = lock;
    }
    lh_idmap_free(&seen);
    return list;
}

/* The outermost function that its stacks show. */
static const char *outermost(const struct lh_explain *e, uint64_t thread)
{
    const struct lh_model_finding *f = e->finding;
    for (size_t i = 0; i < f->nsides; i++) {
        if (f->sides[i].thread != thread)
            continue;
        struct lh_trace t = lh_explain_stack(e, f->sides[i].wants_stack);
        if (t.n && !t.partial && !t.truncated)
            return t.lines[t.n - 1].function;
    }
    return "";
}

const char *lh_explain_thread_start(const struct lh_explain *e, uint64_t thread)
{
    const struct lh_model_thread *t = lh_model_thread(e->process, thread);
    struct lh_trace_line line = { "", "", "", 0, false, "", 0 };
    if (!t || t->tid == e->process->pid || !t->has_start)
        return "";
    line.function = lh_trace_start(e->symbols, e->process, t->start);
    if (*line.function && !lh_trace_is_runtime(&line))
        return clean(e, line.function);
    return clean(e, outermost(e, thread));
}

static const char *thread_label(const struct lh_explain *e, uint64_t thread)
{
    const struct lh_model_thread *t = lh_model_thread(e->process, thread);
    if (!t)
        return "unknown";
    if (*t->name)
        return clean(e, t->name);
    return t->tid == e->process->pid ? "main"
                                     : lh_explain_thread_start(e, thread);
}

const char *lh_explain_thread(const struct lh_explain *e, uint64_t thread)
{
    const char *label = thread_label(e, thread);
    const char *open = *label ? " (" : "", *close = *label ? ")" : "";
    return FORMAT("T%llu%s%s%s", (unsigned long long)thread, open, label,
                  close);
}

const char *lh_explain_thread_long(const struct lh_explain *e, uint64_t thread)
{
    const struct lh_model_thread *t = lh_model_thread(e->process, thread);
    unsigned long long id = thread;
    if (!t)
        return FORMAT("T%llu (unknown)", id);
    const char *name = *t->name ? FORMAT(" \"%s\"", clean(e, t->name)) : "";
    const char *start = lh_explain_thread_start(e, thread);
    bool is_main = t->tid == e->process->pid;
    return FORMAT("T%llu%s (%stid %llu%s%s)", id, name,
                  is_main ? "main thread, " : "", (unsigned long long)t->tid,
                  *start ? ", started at " : "", start);
}

/* "A, B and C", or "A, B, C, D and 996 more <what>". */
static const char *list_words(const struct lh_explain *e,
                              const char *const *words, size_t n,
                              const char *what)
{
    size_t shown = n > MAX_LISTED + 1 ? MAX_LISTED : n;
    const char *text = "";
    for (size_t i = 0; i < shown; i++) {
        const char *separator = i == 0 ? "" : i + 1 == n ? " and " : ", ";
        text = FORMAT("%s%s%s", text, separator, words[i]);
    }
    if (shown < n)
        text = FORMAT("%s and %zu more %s", text, n - shown, what);
    return text;
}

static const char *list_locks(const struct lh_explain *e)
{
    size_t n;
    const uint64_t *locks = lh_explain_locks(e, &n);
    const char **words = lh_pool_array(e->pool, n, sizeof *words);
    for (size_t i = 0; i < n; i++)
        words[i] = lh_explain_lock(e, locks[i]);
    return list_words(e, words, n, "locks");
}

/* The threads of the sides, each once. */
static const char *list_threads(const struct lh_explain *e, size_t *nthreads)
{
    const struct lh_model_finding *f = e->finding;
    const char **words = lh_pool_array(e->pool, f->nsides, sizeof *words);
    struct lh_idmap seen = { 0 };
    size_t n = 0;
    for (size_t i = 0; i < f->nsides; i++) {
        uint64_t thread = f->sides[i].thread;
        if (lh_idmap_get(&seen, thread))
            continue;
        lh_idmap_put(&seen, thread, e->pool);
        /* Names of those that are not listed would be read for nothing. */
        words[n] = n <= MAX_LISTED ? lh_explain_thread(e, thread) : "";
        n++;
    }
    lh_idmap_free(&seen);
    *nthreads = n;
    return list_words(e, words, n, "threads");
}

static const char *ring_sentence(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    const char *locks = list_locks(e);
    size_t n;
    const char *threads = list_threads(e, &n);
    if (f->grade == LH_MODEL_CONDITIONAL)
        return FORMAT("%s conditional deadlock between %s: %s took them in "
                      "contrary orders, which could not block in this run.",
                      clean(e, f->kind), locks, threads);
    const char *how = f->nsides == 2 ? "can each wait for the other"
                                     : "can wait for each other in a ring";
    return FORMAT("%s potential deadlock between %s: %s %s.", clean(e, f->kind),
                  locks, threads, how);
}

static const char *assertion_sentence(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    const char *thread = lh_explain_thread(e, f->thread);
    const char *lock = lh_explain_lock(e, f->lock);
    return f->asserted_held
               ? FORMAT("%s failed assertion: %s should hold %s here but does "
                        "not.",
                        clean(e, f->kind), thread, lock)
               : FORMAT("%s failed assertion: %s should not hold %s here but "
                        "does.",
                        clean(e, f->kind), thread, lock);
}

const char *lh_explain_sentence(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    if (strcmp(f->kind, "LH001") == 0)
        return ring_sentence(e);
    if (strcmp(f->kind, "LH016") == 0)
        return assertion_sentence(e);
    return FORMAT("%s: a finding of a kind that this version does not know.",
                  clean(e, f->kind));
}

const char *lh_explain_holds(const struct lh_explain *e, size_t side)
{
    const struct lh_model_side *s = &e->finding->sides[side];
    return FORMAT("holds %s%s", lh_explain_lock(e, s->holds),
                  s->holds_shared ? " (shared)" : "");
}

const char *lh_explain_waits(const struct lh_explain *e, size_t side)
{
    const struct lh_model_side *s = &e->finding->sides[side];
    const char *lock = lh_explain_lock(e, s->wants);
    const char *shared = s->wants_shared ? " (shared)" : "";
    if (s->wait == LH_MODEL_TIMED)
        return FORMAT("waits for %s%s for a limited time", lock, shared);
    if (s->wait == LH_MODEL_CONDITION)
        return FORMAT("waits to take %s back in a condition wait", lock);
    return FORMAT("waits for %s%s", lock, shared);
}

static const char *how_often(const struct lh_explain *e,
                             struct lh_model_seen seen)
{
    const char *times = FORMAT("%llu times", (unsigned long long)seen.times);
    if (seen.times <= 2)
        times = seen.times == 1 ? "once" : "twice";
    if (!seen.threads)
        return times;
    return FORMAT("%s by %llu %sthread%s", times,
                  (unsigned long long)seen.threads,
                  seen.threads >= MANY_THREADS ? "or more " : "",
                  seen.threads == 1 ? "" : "s");
}

const char *lh_explain_counts(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    const char *text = "";
    for (size_t i = 0; i < f->nsides && i < MAX_LISTED; i++) {
        const struct lh_model_side *s = &f->sides[i];
        struct lh_model_seen seen = lh_model_seen(e->process, s);
        if (!seen.times)
            return "";
        text = FORMAT("%s%s%s then %s: %s", text, *text ? "; " : "",
                      lh_explain_lock(e, s->holds),
                      lh_explain_lock(e, s->wants), how_often(e, seen));
    }
    return text;
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

int lh_explain_odd(const struct lh_explain *e)
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

/* "accounts[0].lock" and "accounts[1].lock" differ in indices only. */
static bool same_but_indices(const char *a, const char *b)
{
    while (*a && *a == *b) {
        if (*a == '[') {
            a += strcspn(a, "]");
            b += strcspn(b, "]");
            continue;
        }
        a++;
        b++;
    }
    return *a == *b;
}

/* Locks that were born at one place: elements of an array, or initialized by
 * one line. */
static bool are_alike(const struct lh_explain *e, uint64_t one, uint64_t other)
{
    const struct lh_model_lock *a = lh_model_lock(e->process, one);
    const struct lh_model_lock *b = lh_model_lock(e->process, other);
    if (!a || !b || a->is_static != b->is_static)
        return false;
    if (a->is_static) {
        const char *name = static_data(e, a)->name;
        return strchr(name, '[') &&
               same_but_indices(name, static_data(e, b)->name);
    }
    uint64_t born = a->init ? a->init : a->first;
    return born && born == (b->init ? b->init : b->first);
}

static const char *odd_advice(const struct lh_explain *e, size_t odd)
{
    const struct lh_model_side *s = &e->finding->sides[odd];
    return FORMAT("take %s before %s in %s too, as %s; or release %s first.",
                  lh_explain_lock(e, s->wants), lh_explain_lock(e, s->holds),
                  request_site(e, s),
                  against_ranks(e, odd) ? "their ranks say" : "elsewhere",
                  lh_explain_lock(e, s->holds));
}

static const char *pair_advice(const struct lh_explain *e)
{
    const struct lh_model_side *s = e->finding->sides;
    const char *a = request_site(e, &s[0]), *b = request_site(e, &s[1]);
    int odd = lh_explain_odd(e);
    bool one_site = strcmp(a, b) == 0;
    if (odd >= 0 && (!one_site || against_ranks(e, (size_t)odd)))
        return odd_advice(e, (size_t)odd);
    const char *first = lh_explain_lock(e, s[0].holds);
    const char *second = lh_explain_lock(e, s[0].wants);
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
        if (!are_alike(e, f->sides[i].holds, f->sides[i].wants))
            return false;
    return f->nsides > 0;
}

static const char *ring_advice(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    int odd = lh_explain_odd(e);
    const struct lh_model_side *s =
        &f->sides[odd >= 0 ? (size_t)odd : f->nsides - 1];
    return FORMAT("break the ring at one side, for example in %s: take %s "
                  "before %s, or release %s first.",
                  request_site(e, s), lh_explain_lock(e, s->wants),
                  lh_explain_lock(e, s->holds), lh_explain_lock(e, s->holds));
}

static const char *condition_advice(const struct lh_explain *e,
                                    const struct lh_model_side *s)
{
    return FORMAT("release %s before the condition wait in %s, which takes "
                  "%s back while %s is held.",
                  lh_explain_lock(e, s->holds), request_site(e, s),
                  lh_explain_lock(e, s->wants), lh_explain_lock(e, s->holds));
}

const char *lh_explain_advice(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    if (f->nsides == 0) {
        if (strcmp(f->kind, "LH016") != 0)
            return "";
        return FORMAT("%s %s on every way to %s, or correct the assertion.",
                      f->asserted_held ? "take" : "release",
                      lh_explain_lock(e, f->lock), site_of(e, f->stack));
    }
    for (size_t i = 0; i < f->nsides; i++)
        if (f->sides[i].wait == LH_MODEL_CONDITION)
            return condition_advice(e, &f->sides[i]);
    if (lh_explain_odd(e) < 0 && all_alike(e))
        return FORMAT("these locks are alike: take them in one order "
                      "everywhere, for example that of their addresses.");
    return f->nsides == 2 ? pair_advice(e) : ring_advice(e);
}

static const char *gate_text(const struct lh_explain *e,
                             const struct lh_model_reason *r)
{
    const struct lh_model_finding *f = e->finding;
    const char *a = top_of(e, r->stacks[0]), *b = top_of(e, r->stacks[1]);
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
    return FORMAT("%s %s%s.", who, lh_explain_lock(e, r->lock), where);
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

const char *lh_explain_reason(const struct lh_explain *e,
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
                      lh_explain_lock(e, f->sides[r->sides[0]].wants));
    default:
        return FORMAT("%s.", clean(e, r->word));
    }
}
