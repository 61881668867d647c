/* SPDX-License-Identifier: MIT
 * runs.c - rings that no process has alone. */
#include "runs.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "crossing.h"
#include "diag.h"
#include "findings.h"
#include "lineage.h"

enum {
    MAIN_THREAD = 1, /* its id in each process */
    LOW = 1,         /* of two locks of a class, that with the lower address */
    HIGH = 2,
    CONTRARY = 3,
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
    size_t *roots;                   /* of each process: are_relatives() */
    uint64_t *roles;                 /* lineage.h */
    bool *has_relatives;
    struct part *parts; /* by segment */
    size_t nparts, parts_capacity;
    uint64_t low, high; /* two of one class, as two locks for a request; or 0 */
    /* Which process of a run took one lock under another. */
    struct lh_idmap orders;
    /* Threads for what a relative of their process does the other way round,
     * and whether the present request is such. */
    struct lh_idmap contrary;
    bool is_contrary;
};

/* One file may lie in the folders of many runs, and many may come to lie in
 * one: by its build and name, if the build has an id. */
static uint64_t program_of(const struct lh_crossing *c, size_t process)
{
    const struct lh_model_process *p = c->processes[process];
    const char *slash = strrchr(p->exe, '/');
    if (!*p->build_id)
        return lh_idmap_text(p->exe);
    return lh_idmap_mix(lh_idmap_text(p->build_id),
                        lh_idmap_text(slash ? slash + 1 : p->exe));
}

/* The main threads of a program are one. */
static uint32_t main_thread(struct lh_crossing *c, size_t process)
{
    uint64_t key = lh_idmap_mix(program_of(c, process), 0);
    uint32_t number = lh_crossing_number(&c->threads.numbers, key);
    return number ? number
                  : lh_crossing_add_thread(c, key, process, MAIN_THREAD, 0);
}

static uint32_t thread_of(struct lh_crossing *c, size_t process, uint64_t id)
{
    struct runs *r = (struct runs *)c;
    uint32_t creator = main_thread(c, process);
    if (id == MAIN_THREAD && !r->is_contrary)
        return creator;
    uint64_t key = lh_crossing_key(process, id);
    if (r->is_contrary)
        key = lh_idmap_mix(key, CONTRARY);
    uint32_t number = lh_crossing_number(&c->threads.numbers, key);
    if (number)
        return number;
    number = lh_crossing_add_thread(c, key, process, id, creator);
    if (r->is_contrary)
        lh_crossing_set_number(&r->contrary, number, 1);
    return number;
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
    if (l && (lh_model_has_siblings(p, l) || lh_findings_is_any_build(p, id)))
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
    return a != b && r->roots[a] == r->roots[b];
}

static bool is_contrary(const struct runs *r, uint32_t thread)
{
    return lh_crossing_number(&r->contrary, thread);
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
    return t->id == MAIN_THREAD && low && !is_contrary(r, s.thread)
               ? r->parts[low - 1].process
               : t->process;
}

static bool are_apart(void *ctx, struct lh_segment a, struct lh_segment b)
{
    const struct runs *r = ctx;
    size_t process = process_in(r, a), other = process_in(r, b);
    return are_relatives(r, process, other) ||
           (r->roles[process] != r->roles[other] &&
            (is_contrary(r, a.thread) || is_contrary(r, b.thread)));
}

/* Not all in one process, and none apart from another: of these there is
 * nothing to tell. */
static bool is_across(struct runs *r, const struct lh_ring *ring)
{
    const struct lh_crossing *c = &r->crossing;
    bool across = false;
    for (size_t i = 1; i < ring->nsides; i++) {
        const struct lh_side *side = &ring->sides[i];
        across |= process_of(c, side) != process_of(c, &ring->sides[0]);
        for (size_t j = 0; j < i; j++)
            if (are_apart(r, side->segment, ring->sides[j].segment))
                return false;
    }
    return across;
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

static uint64_t order_key(struct runs *r, size_t process, uint64_t holds,
                          uint64_t wants)
{
    struct lh_crossing *c = &r->crossing;
    uint64_t key =
        lh_idmap_mix(r->roots[process], c->lock_of(c, process, holds));
    return lh_idmap_mix(key, c->lock_of(c, process, wants));
}

/* By which process of the run, or by several. The locks get their numbers in
 * any case. */
static void note_orders(struct runs *r, size_t process,
                        const struct lh_model_dependency *d)
{
    size_t several = r->crossing.nprocesses + 1;
    for (size_t i = 0; i < d->nholds; i++) {
        uint64_t key = order_key(r, process, d->holds[i].lock, d->wants);
        if (!r->has_relatives[process])
            continue;
        uint32_t by = lh_crossing_number(&r->orders, key);
        lh_crossing_set_number(
            &r->orders, key, !by || by == process + 1 ? process + 1 : several);
    }
}

/* A run of a parent and its child that have contrary orders tells nothing more
 * when it is run again: each has its part again. Of those with one role it
 * does. */
static bool is_done_by_relative(struct runs *r, size_t process,
                                const struct lh_model_dependency *d)
{
    struct lh_crossing *c = &r->crossing;
    for (size_t i = 0; i < d->nholds; i++) {
        uint64_t held = d->holds[i].lock;
        uint32_t by = lh_crossing_number(&r->orders,
                                         order_key(r, process, d->wants, held));
        if (by && by != process + 1 &&
            c->lock_of(c, process, held) != c->lock_of(c, process, d->wants))
            return true;
    }
    return false;
}

static void learn(struct runs *r, enum pass pass, size_t process,
                  const struct lh_model_dependency *d)
{
    struct lh_crossing *c = &r->crossing;
    if (pass == NAMES) {
        note_orders(r, process, d);
        return;
    }
    r->is_contrary =
        r->has_relatives[process] && is_done_by_relative(r, process, d);
    if (pass == THREADS)
        c->thread_of(c, process, d->thread);
    else
        lh_crossing_request(c, process, d);
    r->is_contrary = false;
}

/* Locks of one class that are nested in each other: upwards is one order,
 * downwards the contrary one. */
static void learn_nested(struct runs *r, enum pass pass, size_t process,
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
        learn(r, pass, process, d);
        r->low = r->high = 0;
    }
}

static void request(struct runs *r, enum pass pass, size_t process,
                    const struct lh_model_dependency *d, bool alone)
{
    if (!is_ours(r->crossing.processes[process], d))
        return;
    if (pass == NAMES)
        add_shown(r, process, d->thread);
    if (pass == NAMES || pass == THREADS || alone == (pass == ALONE)) {
        learn(r, pass, process, d);
        learn_nested(r, pass, process, d);
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

static void find_relatives(struct runs *r)
{
    struct lh_crossing *c = &r->crossing;
    const size_t *parents =
        lh_lineage_parents(&c->pool, c->processes, c->nprocesses);
    r->roots = lh_pool_array(&c->pool, c->nprocesses, sizeof *r->roots);
    r->has_relatives =
        lh_pool_array(&c->pool, c->nprocesses, sizeof *r->has_relatives);
    for (size_t i = 0; i < c->nprocesses; i++) {
        size_t root = lh_lineage_root(parents, c->nprocesses, i);
        r->roots[i] = root;
        if (root != i)
            r->has_relatives[i] = r->has_relatives[root] = true;
    }
    r->roles = lh_lineage_roles(&c->pool, c->processes, parents, c->nprocesses);
}

static void note_several_builds(struct lh_model_process *p)
{
    struct lh_model_note note = {
        "builds", lh_pool_format(&p->pool,
                                 "there are records of several builds of %s, "
                                 "whose orders are not compared",
                                 p->exe)
    };
    lh_model_add_note(p, note);
}

/* Each has locks of its own, which is easily missed where a store has all. Said
 * once of a file, whose number is no process then. */
static void note_builds(const struct lh_crossing *c)
{
    size_t said = c->nprocesses + 1;
    struct lh_idmap files = { 0 };
    for (size_t i = 0; i < c->nprocesses; i++) {
        struct lh_model_process *p = c->processes[i];
        uint64_t file = lh_idmap_text(p->exe);
        size_t first = lh_crossing_number(&files, file);
        if (!*p->build_id || first == said)
            continue;
        if (!first) {
            lh_crossing_set_number(&files, file, i + 1);
        } else if (strcmp(c->processes[first - 1]->build_id, p->build_id) !=
                   0) {
            lh_crossing_set_number(&files, file, said);
            note_several_builds(p);
        }
    }
    lh_idmap_free(&files);
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
    find_relatives(&r);
    note_builds(&r.crossing);
    lh_crossing_begin(&r.crossing, on_ring);
    lh_merged_of_runs(&r.crossing.merged);
    lh_segments_keep_apart(r.crossing.segments, are_apart, &r);
    for (enum pass pass = NAMES; pass < NPASSES; pass++)
        replay_all(&r, pass);
    lh_order_settle(r.crossing.order);
    free(r.parts);
    free(r.shown.list);
    lh_idmap_free(&r.shown.numbers);
    lh_idmap_free(&r.orders);
    lh_idmap_free(&r.contrary);
    lh_crossing_end(&r.crossing);
    return lh_merged_end(&r.crossing.merged, findings);
}
