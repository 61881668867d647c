/* SPDX-License-Identifier: MIT
 * ordergraph.c - the locks of a report, and the orders in which they were
 * taken. */
#include "ordergraph.h"

#include <stdlib.h>

#include "content.h"
#include "explain.h"
#include "findings.h"
#include "naming.h"

/* The next place of a class in its process: 1 and up. */
static uintptr_t place_in_class(struct lh_ordergraph *g,
                                const struct lh_model_process *p,
                                uint64_t class)
{
    uint64_t key = lh_idmap_mix((uintptr_t)p, class);
    uintptr_t n = (uintptr_t)lh_idmap_get(&g->class_counts, key) + 1;
    lh_idmap_put(&g->class_counts, key, (void *)n);
    return n;
}

static struct lh_ordergraph_lock *new_lock(struct lh_ordergraph *g,
                                           const struct lh_model_process *p,
                                           uint64_t lock)
{
    struct lh_ordergraph_lock *l = lh_pool_alloc(&g->pool, sizeof *l);
    *l = (struct lh_ordergraph_lock){ .number = g->nlocks + 1,
                                      .process = p,
                                      .lock = lock };
    g->locks = lh_pool_grow(g->locks, g->nlocks, &g->locks_capacity, sizeof(l));
    g->locks[g->nlocks++] = l;
    return l;
}

static struct lh_ordergraph_lock *lock_of(struct lh_ordergraph *g,
                                          const struct lh_model_process *p,
                                          uint64_t lock)
{
    uint64_t key = lh_idmap_mix((uintptr_t)p, lock);
    struct lh_ordergraph_lock *l = lh_idmap_get(&g->by_lock, key);
    if (l)
        return l;
    uint64_t class = lh_findings_class(p, lock);
    uint64_t place = lh_idmap_mix(class, place_in_class(g, p, class));
    l = class ? lh_idmap_get(&g->by_class, place) : NULL;
    if (!l) {
        l = new_lock(g, p, lock);
        lh_idmap_put(&g->by_class, place, l);
    }
    lh_idmap_put(&g->by_lock, key, l);
    return l;
}

static struct lh_ordergraph_order *order_of(struct lh_ordergraph *g,
                                            struct lh_ordergraph_lock *holds,
                                            struct lh_ordergraph_lock *wants)
{
    uint64_t key = lh_idmap_mix(holds->number, wants->number);
    struct lh_ordergraph_order *o = lh_idmap_get(&g->by_pair, key);
    if (o)
        return o;
    o = lh_pool_alloc(&g->pool, sizeof *o);
    *o = (struct lh_ordergraph_order){ .holds = holds, .wants = wants };
    g->orders =
        lh_pool_grow(g->orders, g->norders, &g->orders_capacity, sizeof(o));
    g->orders[g->norders++] = o;
    lh_idmap_put(&g->by_pair, key, o);
    return o;
}

/* What both a record and a side of a finding tell counts once. */
static struct lh_ordergraph_order *add(struct lh_ordergraph *g,
                                       const struct lh_model_process *p,
                                       struct lh_model_edge edge,
                                       uint64_t times)
{
    struct lh_ordergraph_lock *held = lock_of(g, p, edge.holds);
    struct lh_ordergraph_order *o =
        order_of(g, held, lock_of(g, p, edge.wants));
    uint64_t key = lh_idmap_mix((uintptr_t)p, edge.dependency);
    key = lh_idmap_mix(lh_idmap_mix(key, edge.holds), edge.wants);
    if (!o->process) {
        o->process = p;
        o->witness = edge;
    }
    if (p->is_merged || !edge.dependency || lh_idmap_get(&g->counted, key))
        return o;
    lh_idmap_put(&g->counted, key, o);
    /* Of some processes, or requests, it would be a number of nothing. */
    o->is_uncounted |= times == 0;
    o->times = o->is_uncounted ? 0 : o->times + times;
    return o;
}

static void is_in(struct lh_ordergraph_findings *in,
                  const struct lh_findings_item *item)
{
    in->n += in->last != item;
    in->last = item;
    if (!in->gravest || item->finding->grade > in->gravest->finding->grade)
        in->gravest = item;
}

static void add_finding(struct lh_ordergraph *g,
                        const struct lh_findings_item *item,
                        const struct lh_findings_part *part)
{
    const struct lh_model_finding *f = part->finding;
    for (size_t i = 0; i < f->nsides; i++) {
        const struct lh_model_side *s = &f->sides[i];
        struct lh_ordergraph_order *o =
            add(g, part->process,
                (struct lh_model_edge){ s->dependency, s->holds, s->wants,
                                        s->thread, s->holds_stack,
                                        s->wants_stack, 0 },
                lh_model_seen(part->process, s).times);
        is_in(&o->in, item);
        is_in(&o->holds->in, item);
        is_in(&o->wants->in, item);
    }
    if (f->nsides == 0 && f->lock)
        is_in(&lock_of(g, part->process, f->lock)->in, item);
}

static void add_records(struct lh_ordergraph *g,
                        const struct lh_model_process *p)
{
    for (size_t i = 0; i < p->nedges; i++) {
        const struct lh_model_edge *e = &p->edges[i];
        struct lh_model_side side = { .dependency = e->dependency };
        struct lh_ordergraph_order *o =
            add(g, p, *e, lh_model_seen(p, &side).times);
        o->nprocesses += o->last != p;
        o->last = p;
    }
}

void lh_ordergraph_make(struct lh_ordergraph *g, const struct lh_content *c)
{
    for (size_t i = 0; i < c->findings->n; i++) {
        const struct lh_findings_item *item = c->findings->items[i];
        for (size_t j = 0;
             lh_findings_is_wanted(item, c->all) && j < item->nparts; j++)
            add_finding(g, item, &item->parts[j]);
    }
    for (size_t i = 0; i < c->nprocesses; i++)
        add_records(g, c->processes[i]);
}

void lh_ordergraph_name(const struct lh_ordergraph *g,
                        const struct lh_content *c)
{
    static const struct lh_model_finding none;
    for (size_t i = 0; i < g->nlocks; i++) {
        struct lh_pool pool = { 0 };
        struct lh_explain e;
        lh_explain_begin(&e, &pool, c->symbols, c->names, g->locks[i]->process,
                         &none);
        lh_naming_add(&e, g->locks[i]->lock);
        lh_pool_free(&pool);
    }
}

const struct lh_ordergraph_lock *
lh_ordergraph_find(const struct lh_ordergraph *g,
                   const struct lh_model_process *p, uint64_t lock)
{
    return lh_idmap_get(&g->by_lock, lh_idmap_mix((uintptr_t)p, lock));
}

void lh_ordergraph_free(struct lh_ordergraph *g)
{
    lh_idmap_free(&g->by_lock);
    lh_idmap_free(&g->by_class);
    lh_idmap_free(&g->by_pair);
    lh_idmap_free(&g->counted);
    lh_idmap_free(&g->class_counts);
    free(g->locks);
    free(g->orders);
    lh_pool_free(&g->pool);
}
