/* SPDX-License-Identifier: MIT
 * witness.c - in which other ways the order of a side of a ring was seen. */
#include "witness.h"

#include <stdlib.h>
#include <string.h>

#include "findings.h"
#include "idmap.h"
#include "pool.h"

struct list {
    struct lh_witness *ways; /* heap */
    size_t n, capacity;
    struct lh_idmap known; /* by the stacks */
};

/* Equal for the same stacks in all processes. */
static uint64_t key(const struct lh_model_process *p, uint64_t holds_stack,
                    uint64_t wants_stack)
{
    return lh_idmap_mix(lh_findings_stack(p, holds_stack),
                        lh_findings_stack(p, wants_stack));
}

static void add(struct list *l, struct lh_witness w)
{
    uint64_t k = key(w.process, w.holds_stack, w.wants_stack);
    if (lh_idmap_get(&l->known, k))
        return;
    lh_idmap_put(&l->known, k, l);
    l->ways = lh_pool_grow(l->ways, l->n, &l->capacity, sizeof *l->ways);
    l->ways[l->n++] = w;
}

/* The records of the order. */
static void add_records(struct list *l, const struct lh_findings_part *part,
                        const struct lh_model_side *side)
{
    const struct lh_model_process *p = part->process;
    size_t first = l->n;
    for (size_t i = lh_model_newest_edge(p, side->holds, side->wants); i;
         i = p->edges[i - 1].previous) {
        const struct lh_model_edge *e = &p->edges[i - 1];
        struct lh_model_side seen = { .dependency = e->dependency };
        if (e->dependency != side->dependency)
            add(l, (struct lh_witness){ p, part->finding, e->thread,
                                        e->holds_stack, e->wants_stack,
                                        lh_model_seen(p, &seen) });
    }
    /* They come newest first. */
    for (size_t i = first, j = l->n; i + 1 < j; i++) {
        struct lh_witness w = l->ways[--j];
        l->ways[j] = l->ways[i];
        l->ways[i] = w;
    }
}

static bool same_order(const struct lh_model_process *p,
                       const struct lh_model_side *side,
                       const struct lh_model_process *q,
                       const struct lh_model_side *other)
{
    return lh_findings_class(p, side->holds) ==
               lh_findings_class(q, other->holds) &&
           lh_findings_class(p, side->wants) ==
               lh_findings_class(q, other->wants);
}

static void add_part(struct list *l, const struct lh_findings_item *item,
                     const struct lh_model_side *shown,
                     const struct lh_findings_part *part)
{
    const struct lh_model_finding *f = part->finding;
    for (size_t i = 0; i < f->nsides; i++) {
        const struct lh_model_side *s = &f->sides[i];
        if (s != shown && f == item->finding)
            continue;
        if (!same_order(item->process, shown, part->process, s))
            continue;
        add(l, (struct lh_witness){ part->process, f, s->thread, s->holds_stack,
                                    s->wants_stack,
                                    lh_model_seen(part->process, s) });
        add_records(l, part, s);
    }
}

const struct lh_witness *lh_witness_list(struct lh_pool *pool,
                                         const struct lh_findings_item *item,
                                         size_t side, size_t *n)
{
    const struct lh_model_side *shown = &item->finding->sides[side];
    struct list l = { 0 };
    lh_idmap_put(&l.known,
                 key(item->process, shown->holds_stack, shown->wants_stack),
                 &l);
    for (size_t i = 0; i < item->nparts; i++)
        if (item->parts[i].finding == item->finding)
            add_part(&l, item, shown, &item->parts[i]);
    for (size_t i = 0; i < item->nparts; i++)
        if (item->parts[i].finding != item->finding)
            add_part(&l, item, shown, &item->parts[i]);
    struct lh_witness *kept = lh_pool_array(pool, l.n, sizeof *kept);
    if (l.n)
        memcpy(kept, l.ways, l.n * sizeof *kept);
    *n = l.n;
    free(l.ways);
    lh_idmap_free(&l.known);
    return kept;
}
