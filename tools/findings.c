/* SPDX-License-Identifier: MIT
 * findings.c - the findings of several processes, each told once. */
#include "findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"
#include "symbols.h"

static uint64_t frame_key(const struct lh_model_process *p,
                          struct lh_model_frame frame)
{
    const struct lh_model_module *m = lh_model_module(p, frame.module);
    return lh_idmap_mix(m ? m->key : 0, frame.offset);
}

uint64_t lh_findings_place(const struct lh_model_process *p, uint64_t stack)
{
    const struct lh_model_stack *s = lh_model_stack(p, stack);
    return s && s->nframes ? frame_key(p, s->frames[0]) : 0;
}

uint64_t lh_findings_stack(const struct lh_model_process *p, uint64_t stack)
{
    const struct lh_model_stack *s = lh_model_stack(p, stack);
    uint64_t h = 1;
    for (size_t i = 0; s && i < s->nframes; i++)
        h = lh_idmap_mix(h, frame_key(p, s->frames[i]));
    return h;
}

/* The class: where locks like this one are born. */
uint64_t lh_findings_class(const struct lh_model_process *p, uint64_t id)
{
    const struct lh_model_lock *l = lh_model_lock(p, id);
    if (!l)
        return 0;
    if (l->is_static)
        return frame_key(p, l->where);
    return lh_findings_stack(p, l->init ? l->init : l->first);
}

static bool has_build(const struct lh_model_process *p, uint64_t module)
{
    const struct lh_model_module *m = lh_model_module(p, module);
    return m && *m->build_id;
}

bool lh_findings_is_any_build(const struct lh_model_process *p, uint64_t id)
{
    const struct lh_model_lock *l = lh_model_lock(p, id);
    if (l && l->is_static)
        return !has_build(p, l->where.module);
    const struct lh_model_stack *s =
        l ? lh_model_stack(p, l->init ? l->init : l->first) : NULL;
    for (size_t i = 0; s && i < s->nframes; i++)
        if (!has_build(p, s->frames[i].module))
            return true;
    return false;
}

/* The class, where elements of a static array are of one: by the name without
 * its indices. */
static uint64_t array_class(struct lh_symbols *symbols,
                            const struct lh_model_process *p, uint64_t id)
{
    const struct lh_model_lock *l = lh_model_lock(p, id);
    const struct lh_model_module *m =
        l && l->is_static ? lh_model_module(p, l->where.module) : NULL;
    if (!m || !symbols)
        return lh_findings_class(p, id);
    const char *name =
        lh_symbols_data(lh_symbols_open(symbols, m), l->where.offset).name;
    if (!strchr(name, '['))
        return lh_findings_class(p, id);
    uint64_t h = m->key;
    for (; *name; name++) {
        if (*name == '[')
            name += strcspn(name, "]");
        h = lh_idmap_mix(h, (unsigned char)*name);
    }
    return h;
}

/* How exact a key is: the classes of locks, classes where arrays are one, or
 * only places in code. */
enum detail { CLASSES, ARRAYS, PLACES };

static uint64_t class_key(struct lh_symbols *symbols, enum detail detail,
                          const struct lh_model_process *p, uint64_t lock)
{
    return detail == CLASSES  ? lh_findings_class(p, lock)
           : detail == ARRAYS ? array_class(symbols, p, lock)
                              : 0;
}

/* The sides are added up, so that a ring may begin anywhere. */
static uint64_t finding_key(struct lh_symbols *symbols, enum detail detail,
                            const struct lh_model_process *p,
                            const struct lh_model_finding *f)
{
    uint64_t sides = 0;
    for (size_t i = 0; i < f->nsides; i++) {
        const struct lh_model_side *s = &f->sides[i];
        uint64_t h = lh_idmap_mix(class_key(symbols, detail, p, s->holds),
                                  class_key(symbols, detail, p, s->wants));
        h = lh_idmap_mix(h, lh_findings_place(p, s->holds_stack));
        sides += lh_idmap_mix(h, lh_findings_place(p, s->wants_stack));
    }
    uint64_t h = lh_idmap_mix(lh_idmap_text(f->kind), sides);
    h = lh_idmap_mix(h, class_key(symbols, detail, p, f->lock));
    if (f->nsides)
        return lh_idmap_mix(h, 0);
    h = lh_idmap_mix(h, lh_idmap_mix(class_key(symbols, detail, p, f->other),
                                     lh_idmap_text(f->detail)));
    return lh_idmap_mix(h, lh_findings_place(p, f->stack));
}

static uint64_t array_key(const struct lh_findings *list,
                          struct lh_findings_item *item)
{
    if (!item->array_key)
        item->array_key =
            finding_key(list->symbols, ARRAYS, item->process, item->finding);
    return item->array_key;
}

/* One that differs by elements of arrays only. Symbols are read for findings
 * whose places agree, which few do. */
static struct lh_findings_item *find_alike(const struct lh_findings *list,
                                           struct lh_findings_item *first,
                                           const struct lh_model_process *p,
                                           const struct lh_model_finding *f)
{
    uint64_t key = first ? finding_key(list->symbols, ARRAYS, p, f) : 0;
    struct lh_findings_item *item = first;
    while (item && array_key(list, item) != key)
        item = item->same_places;
    return item;
}

static struct lh_findings_item *new_item(struct lh_findings *list, uint64_t key,
                                         const struct lh_model_process *p,
                                         const struct lh_model_finding *f)
{
    struct lh_findings_item *item = lh_pool_heap(sizeof *item);
    *item = (struct lh_findings_item){ .key = key, .process = p, .finding = f };
    snprintf(item->id, sizeof item->id, "%.16s-%08x", f->kind, (unsigned)key);
    list->items =
        lh_pool_grow(list->items, list->n, &list->capacity, sizeof(item));
    list->items[list->n++] = item;
    lh_idmap_put(&list->by_key, key, item);
    return item;
}

static void add_pid(struct lh_findings_item *item, uint64_t pid)
{
    for (size_t i = 0; i < item->npids; i++)
        if (item->pids[i] == pid)
            return;
    item->pids = lh_pool_grow(item->pids, item->npids, &item->capacity,
                              sizeof *item->pids);
    item->pids[item->npids++] = pid;
}

static void add_part(struct lh_findings_item *item,
                     const struct lh_model_process *p,
                     const struct lh_model_finding *f)
{
    item->parts = lh_pool_grow(item->parts, item->nparts, &item->parts_capacity,
                               sizeof *item->parts);
    item->parts[item->nparts++] = (struct lh_findings_part){ p, f };
    if (!p->is_merged)
        add_pid(item, p->pid);
    for (size_t i = 0; p->is_merged && i < f->nsides; i++)
        add_pid(item, lh_model_thread(p, f->sides[i].thread)->pid);
}

/* The item that a finding seen for the first time is part of. */
static struct lh_findings_item *place(struct lh_findings *list,
                                      const struct lh_model_process *p,
                                      const struct lh_model_finding *f)
{
    uint64_t key = finding_key(NULL, CLASSES, p, f);
    struct lh_findings_item *item = lh_idmap_get(&list->by_key, key);
    if (item)
        return item;
    uint64_t places = finding_key(NULL, PLACES, p, f);
    struct lh_findings_item *first = lh_idmap_get(&list->by_places, places);
    item = find_alike(list, first, p, f);
    if (item) {
        lh_idmap_put(&list->by_key, key, item);
        return item;
    }
    item = new_item(list, key, p, f);
    item->same_places = first;
    lh_idmap_put(&list->by_places, places, item);
    return item;
}

const struct lh_findings_item *
lh_findings_equal(const struct lh_findings *list,
                  const struct lh_model_process *p,
                  const struct lh_model_finding *f)
{
    const struct lh_findings_item *item =
        lh_idmap_get(&list->by_key, finding_key(NULL, CLASSES, p, f));
    uint64_t places = finding_key(NULL, PLACES, p, f);
    return item
               ? item
               : find_alike(list, lh_idmap_get(&list->by_places, places), p, f);
}

struct lh_findings_item *lh_findings_add(struct lh_findings *list,
                                         const struct lh_model_process *p,
                                         const struct lh_model_finding *f)
{
    struct lh_findings_item *item =
        lh_idmap_get(&list->by_finding, (uintptr_t)f);
    if (!item) {
        item = place(list, p, f);
        lh_idmap_put(&list->by_finding, (uintptr_t)f, item);
        add_part(item, p, f);
    }
    if (f->grade > item->finding->grade) {
        item->process = p;
        item->finding = f;
    }
    return item;
}

uint64_t lh_findings_rings(const struct lh_findings_item *item)
{
    uint64_t rings = lh_model_rings(item->process, item->finding);
    for (size_t i = 0; i < item->nparts; i++) {
        const struct lh_findings_part *part = &item->parts[i];
        if (part->process != item->process || part->finding == item->finding)
            continue;
        uint64_t more = lh_model_rings(part->process, part->finding);
        rings = (rings ? rings : 1) + (more ? more : 1);
    }
    return rings;
}

bool lh_findings_is_wanted(const struct lh_findings_item *item, bool all)
{
    if (all)
        return item->standing != LH_FINDINGS_SUPPRESSED;
    return item->standing == LH_FINDINGS_COUNTS &&
           item->finding->grade != LH_MODEL_CONDITIONAL;
}

void lh_findings_sort(struct lh_findings *list)
{
    struct lh_findings_item **sorted =
        lh_pool_heap((list->n + 1) * sizeof *sorted);
    size_t n = 0;
    for (int grade = LH_MODEL_HAPPENED; grade >= LH_MODEL_CONDITIONAL; grade--)
        for (size_t i = 0; i < list->n; i++)
            if ((int)list->items[i]->finding->grade == grade)
                sorted[n++] = list->items[i];
    free(list->items);
    list->items = sorted;
    list->capacity = list->n + 1;
}

void lh_findings_free(struct lh_findings *list)
{
    for (size_t i = 0; i < list->n; i++) {
        free(list->items[i]->pids);
        free(list->items[i]->parts);
        free(list->items[i]);
    }
    free(list->items);
    lh_idmap_free(&list->by_key);
    lh_idmap_free(&list->by_finding);
    lh_idmap_free(&list->by_places);
    *list = (struct lh_findings){ 0 };
}
