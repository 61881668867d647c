/* SPDX-License-Identifier: MIT
 * across.c - rings whose sides are in several processes. */
#include "across.h"

#include <stdbool.h>
#include <stdlib.h>

#include "crossing.h"
#include "findings.h"
#include "idmap.h"
#include "lineage.h"
#include "merged.h"
#include "model.h"
#include "pool.h"

/* Where the replay of a process stands; it goes on when its child is done. */
struct frame {
    size_t process, at;
};

struct across {
    struct lh_crossing crossing; /* first, so that it can be told from it */
    bool *begun;
    size_t *parents;          /* of each process: lineage.h */
    struct lh_idmap children; /* by parent and fork: 1 + the process */
    struct frame *stack;
    size_t nstack, stack_capacity;
};

/* The thread that made it; 0 if none did that can come before it. */
static uint64_t creator_of(const struct lh_crossing *c, size_t process,
                           uint64_t id)
{
    const struct lh_model_thread *t =
        lh_model_thread(c->processes[process], id);
    return t && t->creator < id ? t->creator : 0;
}

static uint32_t known(const struct lh_crossing *c, size_t process, uint64_t id)
{
    return id ? lh_crossing_number(&c->threads.numbers,
                                   lh_crossing_key(process, id))
              : 0;
}

/* The number of a thread, after those that made it: as many as records say, so
 * that this is no place to recurse. */
static uint32_t thread_of(struct lh_crossing *c, size_t process, uint64_t id)
{
    uint64_t *unnumbered = NULL;
    size_t n = 0, capacity = 0;
    for (; id && !known(c, process, id); id = creator_of(c, process, id)) {
        unnumbered = lh_pool_grow(unnumbered, n, &capacity, sizeof *unnumbered);
        unnumbered[n++] = id;
    }
    uint32_t number = known(c, process, id);
    while (n) {
        id = unnumbered[--n];
        number = lh_crossing_add_thread(c, lh_crossing_key(process, id),
                                        process, id, number);
    }
    free(unnumbered);
    return number;
}

/* One that is shared is the same in all processes. */
static uint64_t lock_key(const struct lh_crossing *c, size_t process,
                         uint64_t id)
{
    const struct lh_model_lock *l = lh_model_lock(c->processes[process], id);
    if (!l || !l->is_shared)
        return lh_crossing_key(process, id);
    uint64_t k = lh_idmap_mix(l->device, l->inode);
    return lh_idmap_mix(lh_idmap_mix(k, l->offset), (unsigned char)*l->kind);
}

/* Of those that know a lock the one that initialized it is asked about it. */
static void prefer_maker(struct lh_crossing *c, uint32_t number, size_t process,
                         uint64_t id)
{
    struct lh_merged_thing *known = &c->locks.list[number - 1];
    const struct lh_model_lock *old =
        lh_model_lock(c->processes[known->process], known->id);
    const struct lh_model_lock *l = lh_model_lock(c->processes[process], id);
    if (l && l->init && old && !old->init)
        *known = (struct lh_merged_thing){ process, id };
}

static uint32_t lock_of(struct lh_crossing *c, size_t process, uint64_t id)
{
    uint64_t key = lock_key(c, process, id);
    uint32_t number = lh_crossing_number(&c->locks.numbers, key);
    if (number)
        prefer_maker(c, number, process, id);
    if (number)
        return number;
    return lh_crossing_add_lock(
        c, key, lh_findings_class(c->processes[process], id), process, id);
}

static bool is_across(const struct lh_crossing *c, const struct lh_ring *ring)
{
    const struct lh_merged_thing *threads = c->threads.list;
    size_t first = threads[ring->sides[0].segment.thread - 1].process;
    for (size_t i = 1; i < ring->nsides; i++)
        if (threads[ring->sides[i].segment.thread - 1].process != first)
            return true;
    return false;
}

static void on_ring(void *ctx, const struct lh_ring *ring)
{
    struct lh_crossing *c = ctx;
    if (is_across(c, ring))
        lh_merged_ring(&c->merged, ring, c->threads.list, c->locks.list,
                       c->stacks.list);
}

/* The process that a fork has made, if it has records; else -1. */
static size_t child_of(const struct across *a, size_t process, uint64_t fork)
{
    uint64_t key = lh_crossing_key(process, fork);
    return (size_t)lh_crossing_number(&a->children, key) - 1;
}

static void begin(struct across *a, size_t process)
{
    a->begun[process] = true;
    a->stack =
        lh_pool_grow(a->stack, a->nstack, &a->stack_capacity, sizeof *a->stack);
    a->stack[a->nstack++] = (struct frame){ process, 0 };
}

/* All that the child did comes before what the parent does now. */
static void reap(struct across *a, uint32_t parent, size_t child)
{
    for (size_t i = 0; i < a->crossing.threads.n; i++)
        if (a->crossing.threads.list[i].process == child)
            lh_segments_join(a->crossing.segments, parent, (uint32_t)i + 1);
}

static void replay_event(struct across *a, size_t process,
                         const struct lh_model_event *e)
{
    uint32_t thread = thread_of(&a->crossing, process, e->thread);
    size_t child;
    switch (e->kind) {
    case LH_MODEL_REQUEST:
        if (a->crossing.processes[process]->has_shared)
            lh_crossing_request(&a->crossing, process, e->dependency);
        break;
    case LH_MODEL_CREATED:
        thread_of(&a->crossing, process, e->number);
        break;
    case LH_MODEL_JOINED:
        lh_segments_join(a->crossing.segments, thread,
                         thread_of(&a->crossing, process, e->number));
        break;
    case LH_MODEL_FORK:
        child = child_of(a, process, e->number);
        if (child == (size_t)-1 || a->begun[child])
            break;
        lh_crossing_add_thread(&a->crossing, lh_crossing_key(child, 1), child,
                               1, thread);
        begin(a, child);
        break;
    case LH_MODEL_REAPED:
        child = child_of(a, process, e->number);
        if (child != (size_t)-1)
            reap(a, thread, child);
        break;
    }
}

/* A child is replayed as a whole where it was forked, so that all that it did
 * is known where it is waited for. What it is parallel to, it stays. */
static void replay(struct across *a, size_t process)
{
    begin(a, process);
    while (a->nstack) {
        struct frame *f = &a->stack[a->nstack - 1];
        const struct lh_model_process *p = a->crossing.processes[f->process];
        if (f->at == p->nevents)
            a->nstack--;
        else
            replay_event(a, f->process, &p->events[f->at++]);
    }
}

/* A fork that is not recorded has nothing to be ordered by. */
static bool has_parent(const struct across *a, size_t process)
{
    return a->crossing.processes[process]->fork &&
           a->parents[process] != process;
}

static void index_children(struct across *a)
{
    for (size_t i = 0; i < a->crossing.nprocesses; i++) {
        uint64_t fork = a->crossing.processes[i]->fork;
        if (has_parent(a, i))
            lh_crossing_set_number(&a->children,
                                   lh_crossing_key(a->parents[i], fork), i + 1);
    }
}

/* Those without a parent first, so that children are found by theirs. */
static void replay_all(struct across *a)
{
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < a->crossing.nprocesses; i++)
            if (!a->begun[i] && (pass == 1 || !has_parent(a, i)))
                replay(a, i);
    lh_order_settle(a->crossing.order);
}

static void end(struct across *a)
{
    lh_idmap_free(&a->children);
    free(a->stack);
    lh_crossing_end(&a->crossing);
}

static size_t count_sharing(struct lh_model_process *const *processes, size_t n)
{
    size_t sharing = 0;
    for (size_t i = 0; i < n; i++)
        sharing += processes[i]->has_shared;
    return sharing;
}

struct lh_model_process *
lh_across_find(struct lh_model_process *const *processes, size_t n,
               struct lh_findings *findings)
{
    struct across a = { .crossing = { .processes = processes,
                                      .nprocesses = n,
                                      .thread_of = thread_of,
                                      .lock_of = lock_of } };
    if (count_sharing(processes, n) < 2)
        return NULL;
    lh_crossing_begin(&a.crossing, on_ring);
    a.begun = lh_pool_array(&a.crossing.pool, n, sizeof *a.begun);
    a.parents = lh_lineage_parents(&a.crossing.pool, processes, n);
    index_children(&a);
    replay_all(&a);
    end(&a);
    return lh_merged_end(&a.crossing.merged, findings);
}
