/* SPDX-License-Identifier: MIT
 * across.c - rings whose sides are in several processes. */
#include "across.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/order.h"
#include "diag.h"
#include "findings.h"
#include "idmap.h"
#include "merged.h"
#include "model.h"
#include "pool.h"

/* Numbers of the core, 1 and up, stand for a thing of a process. */
struct things {
    struct lh_merged_thing *list; /* [0] is number 1 */
    size_t n, capacity;
    struct lh_idmap numbers; /* by key(): the number, as a pointer */
};

/* Where the replay of a process stands; it goes on when its child is done. */
struct frame {
    size_t process, at;
};

struct across {
    struct lh_pool pool;
    struct lh_model_process *const *processes;
    size_t nprocesses;
    bool *begun;
    struct lh_idmap children; /* by parent and fork: a struct child */
    struct frame *stack;
    size_t nstack, stack_capacity;
    struct lh_segments *segments;
    struct lh_order *order;
    struct things threads, locks, stacks;
    struct lh_idmap sites; /* the number of an innermost place */
    struct lh_merged merged;
};

struct child {
    size_t process;
    struct child *next;
};

static void *resize(void *ctx, void *block, size_t old_bytes, size_t new_bytes)
{
    (void)ctx;
    if (!new_bytes) {
        free(block);
        return NULL;
    }
    char *fresh = realloc(block, new_bytes);
    if (fresh && new_bytes > old_bytes)
        memset(fresh + old_bytes, 0, new_bytes - old_bytes);
    return fresh;
}

static uint32_t number_of(const struct lh_idmap *map, uint64_t key)
{
    return (uint32_t)(uintptr_t)lh_idmap_get(map, key);
}

static void set_number(struct lh_idmap *map, uint64_t key, size_t number)
{
    lh_idmap_put(map, key, (void *)(uintptr_t)number);
}

static uint64_t key(size_t process, uint64_t id)
{
    return lh_idmap_mix(process + 1, id);
}

/* Adds a thing, whose number is to be n + 1. */
static void add_thing(struct things *t, uint64_t its_key, size_t process,
                      uint64_t id)
{
    t->list = lh_pool_grow(t->list, t->n, &t->capacity, sizeof *t->list);
    t->list[t->n++] = (struct lh_merged_thing){ process, id };
    set_number(&t->numbers, its_key, t->n);
}

static uint32_t add_thread(struct across *a, size_t process, uint64_t id,
                           uint32_t creator)
{
    uint32_t number;
    if (lh_segments_add(a->segments, creator, &number) != 0)
        lh_diag_fail("out of memory");
    add_thing(&a->threads, key(process, id), process, id);
    return number;
}

/* The thread that made it; 0 if none did that can come before it. */
static uint64_t creator_of(const struct across *a, size_t process, uint64_t id)
{
    const struct lh_model_thread *t =
        lh_model_thread(a->processes[process], id);
    return t && t->creator < id ? t->creator : 0;
}

/* The number of a thread, after those that made it: as many as records say, so
 * that this is no place to recurse. */
static uint32_t thread_of(struct across *a, size_t process, uint64_t id)
{
    uint64_t *unnumbered = NULL;
    size_t n = 0, capacity = 0;
    for (; id && !number_of(&a->threads.numbers, key(process, id));
         id = creator_of(a, process, id)) {
        unnumbered = lh_pool_grow(unnumbered, n, &capacity, sizeof *unnumbered);
        unnumbered[n++] = id;
    }
    uint32_t number = id ? number_of(&a->threads.numbers, key(process, id)) : 0;
    while (n)
        number = add_thread(a, process, unnumbered[--n], number);
    free(unnumbered);
    return number;
}

/* One that is shared is the same in all processes. */
static uint64_t lock_key(const struct across *a, size_t process, uint64_t id)
{
    const struct lh_model_lock *l = lh_model_lock(a->processes[process], id);
    if (!l || !l->is_shared)
        return key(process, id);
    uint64_t k = lh_idmap_mix(l->device, l->inode);
    return lh_idmap_mix(lh_idmap_mix(k, l->offset), (unsigned char)*l->kind);
}

/* Of those that know a lock the one that initialized it is asked about it. */
static void prefer_maker(struct across *a, uint32_t number, size_t process,
                         uint64_t id)
{
    struct lh_merged_thing *known = &a->locks.list[number - 1];
    const struct lh_model_lock *old =
        lh_model_lock(a->processes[known->process], known->id);
    const struct lh_model_lock *l = lh_model_lock(a->processes[process], id);
    if (l && l->init && old && !old->init)
        *known = (struct lh_merged_thing){ process, id };
}

static uint32_t lock_of(struct across *a, size_t process, uint64_t id)
{
    const struct lh_model_process *p = a->processes[process];
    uint64_t k = lock_key(a, process, id);
    uint32_t number = number_of(&a->locks.numbers, k);
    if (number)
        prefer_maker(a, number, process, id);
    if (number)
        return number;
    if (lh_order_add_lock(a->order, lh_findings_class(p, id), &number) != 0)
        lh_diag_fail("out of memory");
    add_thing(&a->locks, k, process, id);
    return number;
}

static uint32_t stack_of(struct across *a, size_t process, uint64_t id)
{
    uint64_t k = key(process, id);
    if (!number_of(&a->stacks.numbers, k))
        add_thing(&a->stacks, k, process, id);
    return number_of(&a->stacks.numbers, k);
}

static uint32_t site_of(void *ctx, uint32_t stack)
{
    struct across *a = ctx;
    const struct lh_merged_thing *s = &a->stacks.list[stack - 1];
    uint64_t place = lh_findings_place(a->processes[s->process], s->id);
    if (!number_of(&a->sites, place))
        set_number(&a->sites, place, a->sites.n + 1);
    return number_of(&a->sites, place);
}

static bool is_across(const struct across *a, const struct lh_ring *ring)
{
    size_t first = a->threads.list[ring->sides[0].segment.thread - 1].process;
    for (size_t i = 1; i < ring->nsides; i++) {
        uint32_t thread = ring->sides[i].segment.thread;
        if (a->threads.list[thread - 1].process != first)
            return true;
    }
    return false;
}

static void on_ring(void *ctx, const struct lh_ring *ring)
{
    struct across *a = ctx;
    if (is_across(a, ring))
        lh_merged_ring(&a->merged, ring, a->threads.list, a->locks.list,
                       a->stacks.list);
}

static void request(struct across *a, size_t process,
                    const struct lh_model_dependency *d)
{
    struct lh_held *held = lh_pool_array(&a->pool, d->nholds, sizeof *held);
    for (size_t i = 0; i < d->nholds; i++)
        held[i] = (struct lh_held){
            .lock = lock_of(a, process, d->holds[i].lock),
            .stack = stack_of(a, process, d->holds[i].stack),
            .mode = d->holds[i].shared ? LH_SHARED : LH_EXCLUSIVE,
        };
    struct lh_request r = {
        .lock = lock_of(a, process, d->wants),
        .stack = stack_of(a, process, d->stack),
        .mode = d->shared ? LH_SHARED : LH_EXCLUSIVE,
        .wait = (uint8_t)d->wait,
        .segment =
            lh_segments_now(a->segments, thread_of(a, process, d->thread)),
        .held = held,
        .nheld = d->nholds,
    };
    struct lh_learned learned;
    if (d->nholds && lh_order_request(a->order, &r, &learned) != 0)
        lh_diag_fail("out of memory");
}

/* The process that a fork has made, if it has records; else -1. */
static size_t child_of(const struct across *a, size_t process, uint64_t fork)
{
    const struct lh_model_process *p = a->processes[process];
    const struct child *c =
        lh_idmap_get(&a->children, lh_idmap_mix(p->pid, fork));
    /* Numbers of processes come again in other runs. */
    while (c && strcmp(a->processes[c->process]->exe, p->exe) != 0)
        c = c->next;
    return c ? c->process : (size_t)-1;
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
    for (size_t i = 0; i < a->threads.n; i++)
        if (a->threads.list[i].process == child)
            lh_segments_join(a->segments, parent, (uint32_t)i + 1);
}

static void replay_event(struct across *a, size_t process,
                         const struct lh_model_event *e)
{
    uint32_t thread = thread_of(a, process, e->thread);
    size_t child;
    switch (e->kind) {
    case LH_MODEL_REQUEST:
        if (a->processes[process]->has_shared)
            request(a, process, e->dependency);
        break;
    case LH_MODEL_CREATED:
        thread_of(a, process, e->number);
        break;
    case LH_MODEL_JOINED:
        lh_segments_join(a->segments, thread, thread_of(a, process, e->number));
        break;
    case LH_MODEL_FORK:
        child = child_of(a, process, e->number);
        if (child == (size_t)-1 || a->begun[child])
            break;
        add_thread(a, child, 1, thread);
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
        const struct lh_model_process *p = a->processes[f->process];
        if (f->at == p->nevents)
            a->nstack--;
        else
            replay_event(a, f->process, &p->events[f->at++]);
    }
}

static void index_children(struct across *a)
{
    for (size_t i = 0; i < a->nprocesses; i++) {
        const struct lh_model_process *p = a->processes[i];
        if (!p->forked_from || !p->fork)
            continue;
        uint64_t k = lh_idmap_mix(p->forked_from, p->fork);
        struct child *c = lh_pool_alloc(&a->pool, sizeof *c);
        *c = (struct child){ i, lh_idmap_get(&a->children, k) };
        lh_idmap_put(&a->children, k, c);
    }
}

static bool has_parent(const struct across *a, size_t process)
{
    const struct lh_model_process *p = a->processes[process];
    for (size_t i = 0; p->fork && i < a->nprocesses; i++)
        if (i != process && a->processes[i]->pid == p->forked_from &&
            strcmp(a->processes[i]->exe, p->exe) == 0)
            return true;
    return false;
}

/* Those without a parent first, so that children are found by theirs. */
static void replay_all(struct across *a)
{
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < a->nprocesses; i++)
            if (!a->begun[i] && (pass == 1 || !has_parent(a, i)))
                replay(a, i);
    lh_order_settle(a->order);
}

static void end(struct across *a)
{
    struct things *things[] = { &a->threads, &a->locks, &a->stacks };
    for (size_t i = 0; i < sizeof things / sizeof *things; i++) {
        free(things[i]->list);
        lh_idmap_free(&things[i]->numbers);
    }
    lh_order_free(a->order);
    lh_segments_free(a->segments);
    lh_idmap_free(&a->children);
    lh_idmap_free(&a->sites);
    free(a->stack);
    lh_pool_free(&a->pool);
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
    struct across a = { .processes = processes, .nprocesses = n };
    struct lh_mem mem = { resize, NULL };
    if (count_sharing(processes, n) < 2)
        return NULL;
    lh_merged_begin(&a.merged, processes);
    a.begun = lh_pool_array(&a.pool, n, sizeof *a.begun);
    a.segments = lh_segments_new(mem);
    if (a.segments)
        a.order = lh_order_new(mem, a.segments, on_ring, site_of, &a);
    if (!a.order)
        lh_diag_fail("out of memory");
    index_children(&a);
    replay_all(&a);
    end(&a);
    return lh_merged_end(&a.merged, findings);
}
