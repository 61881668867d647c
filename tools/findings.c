/* SPDX-License-Identifier: MIT
 * findings.c - the findings of several processes, each told once. */
#include "findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"

static uint64_t text_key(const char *text)
{
    uint64_t h = 0;
    for (; *text; text++)
        h = lh_idmap_mix(h, (unsigned char)*text);
    return h;
}

static uint64_t frame_key(const struct lh_model_process *p,
                          struct lh_model_frame frame)
{
    const struct lh_model_module *m = lh_model_module(p, frame.module);
    uint64_t module = 0;
    if (m)
        module = text_key(*m->build_id ? m->build_id : m->path);
    return lh_idmap_mix(module, frame.offset);
}

uint64_t lh_findings_place(const struct lh_model_process *p, uint64_t stack)
{
    const struct lh_model_stack *s = lh_model_stack(p, stack);
    return s && s->nframes ? frame_key(p, s->frames[0]) : 0;
}

static uint64_t stack_key(const struct lh_model_process *p, uint64_t stack)
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
    return stack_key(p, l->init ? l->init : l->first);
}

static uint64_t side_key(const struct lh_model_process *p,
                         const struct lh_model_side *s)
{
    uint64_t h = lh_idmap_mix(lh_findings_class(p, s->holds),
                              lh_findings_class(p, s->wants));
    h = lh_idmap_mix(h, lh_findings_place(p, s->holds_stack));
    return lh_idmap_mix(h, lh_findings_place(p, s->wants_stack));
}

/* The sides are added up, so that a ring may begin anywhere. */
static uint64_t finding_key(const struct lh_model_process *p,
                            const struct lh_model_finding *f)
{
    uint64_t sides = 0;
    for (size_t i = 0; i < f->nsides; i++)
        sides += side_key(p, &f->sides[i]);
    uint64_t h = lh_idmap_mix(text_key(f->kind), sides);
    h = lh_idmap_mix(h, lh_findings_class(p, f->lock));
    if (f->nsides)
        return lh_idmap_mix(h, 0);
    h = lh_idmap_mix(
        h, lh_idmap_mix(lh_findings_class(p, f->other), text_key(f->detail)));
    return lh_idmap_mix(h, lh_findings_place(p, f->stack));
}

static struct lh_findings_item *new_item(struct lh_findings *list, uint64_t key,
                                         const struct lh_model_process *p,
                                         const struct lh_model_finding *f)
{
    struct lh_findings_item *item = lh_pool_heap(sizeof *item);
    *item = (struct lh_findings_item){ key, .process = p, .finding = f };
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

struct lh_findings_item *lh_findings_add(struct lh_findings *list,
                                         const struct lh_model_process *p,
                                         const struct lh_model_finding *f)
{
    struct lh_findings_item *item =
        lh_idmap_get(&list->by_finding, (uintptr_t)f);
    if (!item) {
        uint64_t key = finding_key(p, f);
        item = lh_idmap_get(&list->by_key, key);
        if (!item)
            item = new_item(list, key, p, f);
        lh_idmap_put(&list->by_finding, (uintptr_t)f, item);
        if (!p->is_merged)
            add_pid(item, p->pid);
        for (size_t i = 0; p->is_merged && i < f->nsides; i++)
            add_pid(item, lh_model_thread(p, f->sides[i].thread)->pid);
    }
    if (f->grade > item->finding->grade) {
        item->process = p;
        item->finding = f;
    }
    return item;
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
        free(list->items[i]);
    }
    free(list->items);
    lh_idmap_free(&list->by_key);
    lh_idmap_free(&list->by_finding);
    *list = (struct lh_findings){ 0 };
}
