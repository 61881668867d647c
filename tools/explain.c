/* SPDX-License-Identifier: MIT
 * explain.c - a finding in words: who, what and how often. */
#include "explain.h"

#include <string.h>

#include "idmap.h"
#include "lockwords.h"
#include "misuse.h"
#include "naming.h"
#include "pool.h"
#include "style.h"
#include "symbols.h"

enum {
    MAX_LISTED = 4,   /* locks or threads named in a sentence */
    MANY_THREADS = 8, /* what the records count up to */
};

#define FORMAT(...) lh_pool_format(e->pool, __VA_ARGS__)

const char *lh_explain_clean(const struct lh_explain *e, const char *text)
{
    char *copy = lh_pool_copy(e->pool, text);
    lh_style_clean(copy);
    return copy;
}

/* The parts of an explanation ask for the same stacks. */
enum { NTRACES = 16 };

struct lh_explain_trace {
    const struct lh_model_process *process;
    uint64_t stack;
    struct lh_trace trace; /* if it is known; its record may come yet */
};

struct lh_trace lh_explain_stack(const struct lh_explain *e, uint64_t stack)
{
    struct lh_explain_trace *read = &e->traces[stack % NTRACES];
    if (!read->trace.known || read->stack != stack ||
        read->process != e->process)
        *read = (struct lh_explain_trace){
            e->process,
            stack,
            lh_trace_cut(e->pool,
                         lh_trace_read(e->pool, e->symbols, e->process, stack)),
        };
    return read->trace;
}

/* "bank.c:31" of a stack, or "" if nothing is known of it. */
const char *lh_explain_top(const struct lh_explain *e, uint64_t stack)
{
    struct lh_trace t = lh_explain_stack(e, stack);
    return t.n ? lh_explain_clean(e, lh_trace_where(e->pool, &t.lines[0])) : "";
}

void lh_explain_begin(struct lh_explain *e, struct lh_pool *pool,
                      struct lh_symbols *symbols, struct lh_naming *names,
                      const struct lh_model_process *process,
                      const struct lh_model_finding *finding)
{
    *e = (struct lh_explain){
        .pool = pool,
        .symbols = symbols,
        .process = process,
        .finding = finding,
        .names = names,
        .traces = lh_pool_array(pool, NTRACES, sizeof *e->traces),
    };
    lh_naming_add(e, finding->lock);
    lh_naming_add(e, finding->other);
    for (size_t i = 0; i < finding->nsides; i++) {
        lh_naming_add(e, finding->sides[i].holds);
        lh_naming_add(e, finding->sides[i].wants);
    }
    for (size_t i = 0; i < finding->nreasons; i++)
        lh_naming_add(e, finding->reasons[i].lock);
}

void lh_explain_name_locks(struct lh_symbols *symbols, struct lh_naming *names,
                           const struct lh_model_process *process,
                           const struct lh_model_finding *finding)
{
    struct lh_pool pool = { 0 };
    struct lh_explain e;
    lh_explain_begin(&e, &pool, symbols, names, process, finding);
    lh_pool_free(&pool);
}

const uint64_t *lh_explain_locks(const struct lh_explain *e, size_t *n)
{
    const struct lh_model_finding *f = e->finding;
    uint64_t *list = lh_pool_array(e->pool, f->nsides * 2 + 2, sizeof *list);
    struct lh_idmap seen = { 0 };
    *n = 0;
    if (f->lock)
        list[(*n)++] = f->lock;
    if (f->other && f->other != f->lock)
        list[(*n)++] = f->other;
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

/* The program's outermost function in a stack that is whole; else "". */
static const char *outermost(const struct lh_explain *e, uint64_t stack)
{
    struct lh_trace t = lh_explain_stack(e, stack);
    if (!t.n || t.partial || t.truncated ||
        lh_trace_is_runtime(&t.lines[t.n - 1]))
        return "";
    return t.lines[t.n - 1].function;
}

/* The outermost function that its stacks show. */
static const char *outermost_of(const struct lh_explain *e, uint64_t thread)
{
    const struct lh_model_finding *f = e->finding;
    const char *name = f->thread == thread   ? outermost(e, f->stack)
                       : f->holder == thread ? outermost(e, f->holder_stack)
                                             : "";
    for (size_t i = 0; i < f->nsides && !*name; i++) {
        const struct lh_model_side *s = &f->sides[i];
        if (s->thread != thread)
            continue;
        name = outermost(e, s->wants_stack);
        if (!*name)
            name = outermost(e, s->holds_stack);
    }
    return name;
}

static uint64_t pid_of(const struct lh_explain *e,
                       const struct lh_model_thread *t)
{
    return t->pid ? t->pid : e->process->pid;
}

const char *lh_explain_thread_start(const struct lh_explain *e, uint64_t thread)
{
    const struct lh_model_thread *t = lh_model_thread(e->process, thread);
    struct lh_trace_line line = { .module = "" };
    if (!t || t->tid == pid_of(e, t) || !t->has_start)
        return "";
    line.function = lh_trace_start(e->symbols, e->process, t->start);
    if (*line.function && !lh_trace_is_runtime(&line))
        return lh_explain_clean(e, line.function);
    return lh_explain_clean(e, outermost_of(e, thread));
}

static const char *thread_label(const struct lh_explain *e, uint64_t thread)
{
    const struct lh_model_thread *t = lh_model_thread(e->process, thread);
    if (!t)
        return "unknown";
    if (*t->name)
        return lh_explain_clean(e, t->name);
    return t->tid == pid_of(e, t) ? "main" : lh_explain_thread_start(e, thread);
}

/* "T2"; "process 4711 T2" of a finding that is of several. */
static const char *short_name(const struct lh_explain *e, uint64_t thread)
{
    const struct lh_model_thread *t = lh_model_thread(e->process, thread);
    if (!t || !t->pid)
        return FORMAT("T%llu", (unsigned long long)thread);
    return FORMAT("process %llu T%llu", (unsigned long long)t->pid,
                  (unsigned long long)t->number);
}

const char *lh_explain_thread(const struct lh_explain *e, uint64_t thread)
{
    const char *label = thread_label(e, thread);
    const char *open = *label ? " (" : "", *close = *label ? ")" : "";
    return FORMAT("%s%s%s%s", short_name(e, thread), open, label, close);
}

const char *lh_explain_thread_long(const struct lh_explain *e, uint64_t thread)
{
    const struct lh_model_thread *t = lh_model_thread(e->process, thread);
    const char *id = short_name(e, thread);
    if (!t)
        return FORMAT("%s (%s)", id,
                      e->process->forked_from ? "a thread of the parent"
                                              : "unknown");
    const char *name =
        *t->name ? FORMAT(" \"%s\"", lh_explain_clean(e, t->name)) : "";
    const char *start = lh_explain_thread_start(e, thread);
    bool is_main = t->tid == pid_of(e, t);
    return FORMAT("%s%s (%stid %llu%s%s)", id, name,
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
        words[i] = lh_naming_lock(e, locks[i]);
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
    size_t n, nlocks;
    const char *threads = list_threads(e, &n);
    lh_explain_locks(e, &nlocks);
    bool runs = e->process->is_of_runs;
    if (f->grade == LH_MODEL_CONDITIONAL)
        return FORMAT("conditional ring %s between %s: %s took them in "
                      "contrary orders, which could not block in %s.",
                      lh_explain_clean(e, f->kind), locks, threads,
                      runs ? "these processes" : "this run");
    if (runs)
        return FORMAT("potential deadlock %s between %s: %s took them in "
                      "contrary orders, each in a process of its own; in one "
                      "process they can wait for each other.",
                      lh_explain_clean(e, f->kind), locks, threads);
    if (f->grade == LH_MODEL_HAPPENED)
        return FORMAT("deadlock %s %s %s: %s wait for each other%s.",
                      lh_explain_clean(e, f->kind),
                      nlocks == 1 ? "over" : "between", locks, threads,
                      f->nsides == 2 ? "" : " in a ring");
    const char *how = f->nsides == 2 ? "can each wait for the other"
                                     : "can wait for each other in a ring";
    return FORMAT("potential deadlock %s between %s: %s %s.",
                  lh_explain_clean(e, f->kind), locks, threads, how);
}

/* The reader that reads again, and who comes in between. */
static const char *nested_read_sentence(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    size_t reader = 0, n, writer;
    const char *locks = list_locks(e);
    while (reader + 1 < f->nsides && f->sides[reader].holds_queued)
        reader++;
    writer = (reader + 1) % f->nsides;
    lh_explain_locks(e, &n);
    if (n > 1 || f->nsides != 2)
        return ring_sentence(e);
    const char *first = lh_explain_thread(e, f->sides[reader].thread);
    const char *second = lh_explain_thread(e, f->sides[writer].thread);
    if (f->grade == LH_MODEL_CONDITIONAL)
        return FORMAT("conditional nested read %s of %s: %s reads it again "
                      "while it holds it, which a writer in between would "
                      "block; that could not happen in this run.",
                      lh_explain_clean(e, f->kind), locks, first);
    return FORMAT("nested read %s of %s: %s reads it again while it holds it; "
                  "once %s asks to write in between, each waits for the other.",
                  lh_explain_clean(e, f->kind), locks, first, second);
}

const char *lh_explain_sentence(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    if (f->nsides == 0)
        return lh_misuse_sentence(e);
    if (strcmp(f->kind, "LH005") == 0)
        return nested_read_sentence(e);
    return ring_sentence(e);
}

const char *lh_explain_reference(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    const char *what = f->nsides ? "the finding between" : "the finding about";
    return lh_style_strip(FORMAT("%s %s", what, list_locks(e)));
}

static struct lh_lockwords words_of(const struct lh_explain *e, uint64_t lock)
{
    const struct lh_model_lock *l = lh_model_lock(e->process, lock);
    return lh_lockwords_of(l ? l->kind : "mutex");
}

const char *lh_explain_holds(const struct lh_explain *e, size_t side)
{
    const struct lh_model_side *s = &e->finding->sides[side];
    struct lh_lockwords words = words_of(e, s->holds);
    const char *lock = lh_naming_lock(e, s->holds);
    if (s->holds_queued)
        return FORMAT("waits in line to write %s, so that later readers wait "
                      "for it",
                      lock);
    return FORMAT("%s %s%s", words.holds, lock,
                  lh_lockwords_mode(words.kind, s->holds_shared));
}

const char *lh_explain_waits(const struct lh_explain *e, size_t side)
{
    const struct lh_model_side *s = &e->finding->sides[side];
    struct lh_lockwords words = words_of(e, s->wants);
    const char *lock = lh_naming_lock(e, s->wants);
    const char *mode = lh_lockwords_mode(words.kind, s->wants_shared);
    if (s->wait == LH_MODEL_TIMED)
        return FORMAT("%s %s%s for a limited time", words.waits, lock, mode);
    if (s->wait == LH_MODEL_CONDITION)
        return FORMAT("waits to take %s back in a condition wait", lock);
    if (s->wait == LH_MODEL_TRIED)
        return FORMAT("tries %s%s", lock, mode);
    return FORMAT("%s %s%s", words.waits, lock, mode);
}

const char *lh_explain_since(const struct lh_explain *e, size_t side)
{
    const struct lh_model_side *s = &e->finding->sides[side];
    struct lh_lockwords words = words_of(e, s->holds);
    return s->holds_queued                     ? "asked for"
           : strcmp(words.holds, "holds") == 0 ? "taken"
                                               : "begun";
}

bool lh_explain_is_queue_only(const struct lh_explain *e, size_t side)
{
    const struct lh_model_side *s = &e->finding->sides[side];
    return s->holds_queued && s->holds == s->wants;
}

bool lh_explain_is_end(const struct lh_explain *e, uint64_t lock)
{
    const struct lh_model_lock *l = lh_model_lock(e->process, lock);
    return l && strcmp(l->kind, "thread") == 0;
}

const char *lh_explain_often(const struct lh_explain *e,
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
    size_t shown = f->nsides > MAX_LISTED + 1 ? MAX_LISTED : f->nsides;
    for (size_t i = 0; i < shown; i++) {
        const struct lh_model_side *s = &f->sides[i];
        struct lh_model_seen seen = lh_model_seen(e->process, s);
        if (s->holds == s->wants)
            continue;
        if (!seen.times)
            return "";
        text = FORMAT("%s%s%s then %s: %s", text, *text ? "; " : "",
                      lh_naming_lock(e, s->holds), lh_naming_lock(e, s->wants),
                      lh_explain_often(e, seen));
    }
    if (shown < f->nsides && *text)
        text = FORMAT("%s; and %zu more orders", text, f->nsides - shown);
    return text;
}
