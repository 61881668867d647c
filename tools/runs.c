/* SPDX-License-Identifier: MIT
 * runs.c - rings that no process has alone. */
#include "runs.h"

#include <stdbool.h>
#include <stdlib.h>

#include "crossing.h"
#include "diag.h"
#include "findings.h"
#include "lineage.h"

enum {
    MAIN_THREAD = 1, /* its id in each process */
    LOW = 1,         /* of two locks of a class, that with the lower address */
    HIGH = 2
};

/* Where a main thread, which is one in all processes of its program, begins
 * with what it does in one of them. */
struct part {
    uint32_t segment;
    size_t process;
};

struct runs {
    struct lh_crossing crossing;     /* first, so that it can be told from it */
    struct lh_crossing_things shown; /* the threads of rings */
    size_t *parents;                 /* of each process: lineage.h */
    struct part *parts;              /* by segment */
    size_t nparts, parts_capacity;
    uint64_t low, high; /* two of one class, as two locks for a request; or 0 */
};

static uint64_t program_of(const struct lh_crossing *c, size_t process)
{
    return lh_idmap_text(c->processes[process]->exe);
}

/* The main threads of a program are one. */
static uint32_t thread_of(struct lh_crossing *c, size_t process, uint64_t id)
{
    uint64_t key = lh_idmap_mix(program_of(c, process), 0);
    uint32_t number = lh_crossing_number(&c->threads.numbers, key);
    if (!number)
        number = lh_crossing_add_thread(c, key, process, MAIN_THREAD, 0);
    if (id == MAIN_THREAD)
        return number;
    key = lh_crossing_key(process, id);
    uint32_t other = lh_crossing_number(&c->threads.numbers, key);
    return other ? other : lh_crossing_add_thread(c, key, process, id, number);
}

/* Whether locks of other processes can be told to be of its class. */
static bool has_class(const struct lh_model_process *p,
                      const struct lh_model_lock *l)
{
    if (!l || l->is_shared)
        return false;
    if (l->is_static)
        return l->where.module != 0;
    const struct lh_model_stack *s =
        lh_model_stack(p, l->init ? l->init : l->first);
    return s && s->nframes && s->frames[0].module;
}

static uint64_t class_of(const struct lh_crossing *c, size_t process,
                         uint64_t id)
{
    return lh_idmap_mix(program_of(c, process),
                        lh_findings_class(c->processes[process], id));
}

static uint32_t lock_of(struct lh_crossing *c, size_t process, uint64_t id)
{
    const struct lh_model_process *p = c->processes[process];
    const struct lh_model_lock *l = lh_model_lock(p, id);
    const struct runs *r = (const struct runs *)c;
    uint64_t class = lh_crossing_key(process, id);
    if (has_class(p, l))
        class = class_of(c, process, id);
    uint64_t key = id == r->low    ? lh_idmap_mix(class, LOW)
                   : id == r->high ? lh_idmap_mix(class, HIGH)
                                   : class;
    uint32_t number = lh_crossing_number(&c->locks.numbers, key);
    if (!number)
        number = lh_crossing_add_lock(c, key, class, process, id);
    if (l && lh_model_has_siblings(p, l))
        lh_order_doubt_lock(c->order, number, true);
    return number;
}

static size_t process_of(const struct lh_crossing *c, const struct lh_side *s)
{
    return c->stacks.list[s->wants_stack - 1].process;
}

/* A process and those that it forked are one run, in which each has its part:
 * that one could do what another does is not known. */
static bool are_relatives(const struct runs *r, size_t a, size_t b)
{
    size_t n = r->crossing.nprocesses;
    return a != b && lh_lineage_root(r->parents, n, a) ==
                         lh_lineage_root(r->parents, n, b);
}

/* Not all in one process, and none in a relative of another. */
static bool is_across(const struct runs *r, const struct lh_ring *ring)
{
    const struct lh_crossing *c = &r->crossing;
    size_t first = process_of(c, &ring->sides[0]);
    bool across = false;
    for (size_t i = 1; i < ring->nsides; i++) {
        size_t process = process_of(c, &ring->sides[i]);
        across |= process != first;
        for (size_t j = 0; j < i; j++)
            if (are_relatives(r, process, process_of(c, &ring->sides[j])))
                return false;
    }
    return across;
}

static size_t process_in(const struct runs *r, struct lh_segment s)
{
    const struct lh_merged_thing *t = &r->crossing.threads.list[s.thread - 1];
    size_t low = 0, high = r->nparts;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->parts[middle].segment <= s.index)
            low = middle + 1;
        else
            high = middle;
    }
    return t->id == MAIN_THREAD && low ? r->parts[low - 1].process : t->process;
}

static bool are_apart(void *ctx, struct lh_segment a, struct lh_segment b)
{
    return are_relatives(ctx, process_in(ctx, a), process_in(ctx, b));
}

/* The thread of a side as that of its process, which of main threads the core
 * does not know. */
static uint32_t shown(struct runs *r, const struct lh_side *s)
{
    size_t process = process_of(&r->crossing, s);
    uint64_t id = r->crossing.threads.list[s->segment.thread - 1].id;
    return lh_crossing_number(&r->shown.numbers, lh_crossing_key(process, id));
}

static void on_ring(void *ctx, const struct lh_ring *ring)
{
    struct runs *r = ctx;
    struct lh_crossing *c = ctx;
    if (!is_across(r, ring))
        return;
    struct lh_side *sides =
        lh_pool_array(&c->pool, ring->nsides, sizeof *sides);
    struct lh_reason *reasons =
        lh_pool_array(&c->pool, ring->nreasons, sizeof *reasons);
    for (size_t i = 0; i < ring->nsides; i++) {
        sides[i] = ring->sides[i];
        sides[i].segment.thread = shown(r, &sides[i]);
    }
    for (size_t i = 0; i < ring->nreasons; i++) {
        reasons[i] = ring->reasons[i];
        if (reasons[i].thread)
            reasons[i].thread = sides[0].segment.thread;
    }
    struct lh_ring copy = *ring;
    copy.sides = sides;
    copy.reasons = reasons;
    lh_merged_ring(&c->merged, &copy, r->shown.list, c->locks.list,
                   c->stacks.list);
}

enum pass { NAMES, ALONE, THREADS, OTHERS, NPASSES };

/* Of rings through process-shared locks only one place decides. */
static bool is_ours(const struct lh_model_process *p,
                    const struct lh_model_dependency *d)
{
    const struct lh_model_lock *l = lh_model_lock(p, d->wants);
    return l && !l->is_shared;
}

/* In the order of the replay: rings begin with the first. */
static void add_shown(struct runs *r, size_t process, uint64_t id)
{
    uint64_t key = lh_crossing_key(process, id);
    if (!lh_crossing_number(&r->shown.numbers, key))
        lh_crossing_add(&r->shown, key, process, id);
}

/* By ranks where both have one, else by addresses. */
static bool is_below(const struct lh_model_lock *l,
                     const struct lh_model_lock *other)
{
    if (l->has_rank && other->has_rank && l->rank != other->rank)
        return l->rank < other->rank;
    return l->address < other->address;
}

/* Locks of one class that are nested in each other: upwards is one order,
 * downwards the contrary one. */
static void request_nested(struct runs *r, size_t process,
                           const struct lh_model_dependency *d)
{
    struct lh_crossing *c = &r->crossing;
    const struct lh_model_process *p = c->processes[process];
    const struct lh_model_lock *wanted = lh_model_lock(p, d->wants);
    for (size_t i = 0; has_class(p, wanted) && i < d->nholds; i++) {
        const struct lh_model_lock *held = lh_model_lock(p, d->holds[i].lock);
        if (held == wanted || !has_class(p, held) ||
            class_of(c, process, held->id) != class_of(c, process, wanted->id))
            continue;
        bool up = is_below(held, wanted);
        r->low = up ? held->id : wanted->id;
        r->high = up ? wanted->id : held->id;
        lh_crossing_request(c, process, d);
        r->low = r->high = 0;
    }
}

static void request(struct runs *r, enum pass pass, size_t process,
                    const struct lh_model_dependency *d, bool alone)
{
    struct lh_crossing *c = &r->crossing;
    if (!is_ours(c->processes[process], d))
        return;
    if (pass == NAMES) {
        add_shown(r, process, d->thread);
        c->lock_of(c, process, d->wants);
        for (size_t i = 0; i < d->nholds; i++)
            c->lock_of(c, process, d->holds[i].lock);
    } else if (pass == THREADS) {
        c->thread_of(c, process, d->thread);
    } else if (alone == (pass == ALONE)) {
        lh_crossing_request(c, process, d);
        request_nested(r, process, d);
    }
}

/* Of threads that never hold a lock and want another there is no record but
 * their number. */
static bool has_one_thread(const struct lh_model_process *p)
{
    return p->ended && p->end.threads <= 1;
}

/* A segment of its own for what the main thread does in a process. */
static void begin_part(struct runs *r, size_t process)
{
    uint32_t other, thread = thread_of(&r->crossing, process, MAIN_THREAD);
    if (lh_segments_add(r->crossing.segments, thread, &other) != 0)
        lh_diag_fail("out of memory");
    lh_crossing_add(&r->crossing.threads, lh_crossing_key(process, 0), process,
                    0);
    r->parts =
        lh_pool_grow(r->parts, r->nparts, &r->parts_capacity, sizeof *r->parts);
    r->parts[r->nparts++] =
        (struct part){ lh_segments_now(r->crossing.segments, thread).index,
                       process };
}

/* What is alone comes first; then all threads are made at once, so that what
 * the main threads of others do is parallel to them. */
static void replay(struct runs *r, enum pass pass, size_t process)
{
    const struct lh_model_process *p = r->crossing.processes[process];
    if (pass == ALONE || pass == OTHERS)
        begin_part(r, process);
    for (size_t i = 0; i < p->nevents; i++)
        if (p->events[i].kind == LH_MODEL_REQUEST)
            request(r, pass, process, p->events[i].dependency,
                    has_one_thread(p));
}

/* Those first whose rings are not left to themselves. */
static void replay_all(struct runs *r, enum pass pass)
{
    const struct lh_crossing *c = &r->crossing;
    for (int found = 0; found < 2; found++)
        for (size_t i = 0; i < c->nprocesses; i++)
            if (found == (c->processes[i]->nfindings > 0))
                replay(r, pass, i);
}

struct lh_model_process *lh_runs_find(struct lh_model_process *const *processes,
                                      size_t n, struct lh_findings *findings)
{
    struct runs r = { .crossing = { .processes = processes,
                                    .nprocesses = n,
                                    .thread_of = thread_of,
                                    .lock_of = lock_of } };
    if (n < 2)
        return NULL;
    r.parents = lh_lineage_parents(&r.crossing.pool, processes, n);
    lh_crossing_begin(&r.crossing, on_ring);
    lh_merged_of_runs(&r.crossing.merged);
    lh_segments_keep_apart(r.crossing.segments, are_apart, &r);
    for (enum pass pass = NAMES; pass < NPASSES; pass++)
        replay_all(&r, pass);
    lh_order_settle(r.crossing.order);
    free(r.parts);
    free(r.shown.list);
    lh_idmap_free(&r.shown.numbers);
    lh_crossing_end(&r.crossing);
    return lh_merged_end(&r.crossing.merged, findings);
}
