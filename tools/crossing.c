/* SPDX-License-Identifier: MIT
 * crossing.c - requests of several processes in one search for rings. */
#include "crossing.h"

#include <stdlib.h>
#include <string.h>

#include "diag.h"
#include "findings.h"

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

uint32_t lh_crossing_number(const struct lh_idmap *map, uint64_t key)
{
    return (uint32_t)(uintptr_t)lh_idmap_get(map, key);
}

void lh_crossing_set_number(struct lh_idmap *map, uint64_t key, size_t number)
{
    lh_idmap_put(map, key, (void *)(uintptr_t)number);
}

uint64_t lh_crossing_key(size_t process, uint64_t id)
{
    return lh_idmap_mix(process + 1, id);
}

void lh_crossing_add(struct lh_crossing_things *t, uint64_t key, size_t process,
                     uint64_t id)
{
    t->list = lh_pool_grow(t->list, t->n, &t->capacity, sizeof *t->list);
    t->list[t->n++] = (struct lh_merged_thing){ process, id };
    lh_crossing_set_number(&t->numbers, key, t->n);
}

uint32_t lh_crossing_add_thread(struct lh_crossing *c, uint64_t key,
                                size_t process, uint64_t id, uint32_t creator)
{
    uint32_t number;
    if (lh_segments_add(c->segments, creator, &number) != 0)
        lh_diag_fail("out of memory");
    lh_crossing_add(&c->threads, key, process, id);
    return number;
}

uint32_t lh_crossing_add_lock(struct lh_crossing *c, uint64_t key,
                              uint64_t class_key, size_t process, uint64_t id)
{
    uint32_t number;
    if (lh_order_add_lock(c->order, class_key, &number) != 0)
        lh_diag_fail("out of memory");
    lh_crossing_add(&c->locks, key, process, id);
    return number;
}

static uint32_t stack_of(struct lh_crossing *c, size_t process, uint64_t id)
{
    uint64_t key = lh_crossing_key(process, id);
    if (!lh_crossing_number(&c->stacks.numbers, key))
        lh_crossing_add(&c->stacks, key, process, id);
    return lh_crossing_number(&c->stacks.numbers, key);
}

static uint32_t site_of(void *ctx, uint32_t stack)
{
    struct lh_crossing *c = ctx;
    const struct lh_merged_thing *s = &c->stacks.list[stack - 1];
    uint64_t place = lh_findings_place(c->processes[s->process], s->id);
    if (!lh_crossing_number(&c->sites, place))
        lh_crossing_set_number(&c->sites, place, c->sites.n + 1);
    return lh_crossing_number(&c->sites, place);
}

void lh_crossing_request(struct lh_crossing *c, size_t process,
                         const struct lh_model_dependency *d)
{
    struct lh_held *held = lh_pool_array(&c->pool, d->nholds, sizeof *held);
    for (size_t i = 0; i < d->nholds; i++)
        held[i] = (struct lh_held){
            .lock = c->lock_of(c, process, d->holds[i].lock),
            .stack = stack_of(c, process, d->holds[i].stack),
            .mode = d->holds[i].shared ? LH_SHARED : LH_EXCLUSIVE,
        };
    struct lh_request r = {
        .lock = c->lock_of(c, process, d->wants),
        .stack = stack_of(c, process, d->stack),
        .mode = d->shared ? LH_SHARED : LH_EXCLUSIVE,
        .wait = (uint8_t)d->wait,
        .segment =
            lh_segments_now(c->segments, c->thread_of(c, process, d->thread)),
        .held = held,
        .nheld = d->nholds,
    };
    struct lh_learned learned;
    if (d->nholds && lh_order_request(c->order, &r, &learned) != 0)
        lh_diag_fail("out of memory");
}

void lh_crossing_begin(struct lh_crossing *c, lh_ring_fn on_ring)
{
    struct lh_mem mem = { resize, NULL };
    lh_merged_begin(&c->merged, c->processes);
    c->segments = lh_segments_new(mem);
    if (c->segments)
        c->order = lh_order_new(mem, c->segments, on_ring, site_of, c);
    if (!c->order)
        lh_diag_fail("out of memory");
}

void lh_crossing_end(struct lh_crossing *c)
{
    struct lh_crossing_things *things[] = { &c->threads, &c->locks,
                                            &c->stacks };
    for (size_t i = 0; i < sizeof things / sizeof *things; i++) {
        free(things[i]->list);
        lh_idmap_free(&things[i]->numbers);
    }
    lh_order_free(c->order);
    lh_segments_free(c->segments);
    lh_idmap_free(&c->sites);
    lh_pool_free(&c->pool);
}
