/* SPDX-License-Identifier: MIT
 * lineage.c - which of several processes forked which. */
#include "lineage.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "idmap.h"
#include "model.h"
#include "pool.h"

/* Those of one number. */
struct namesake {
    size_t process;
    struct namesake *next;
};

static bool is_in_one_folder(const char *file, const char *other)
{
    const char *end = strrchr(file, '/'), *other_end = strrchr(other, '/');
    size_t n = end ? (size_t)(end - file) : 0;
    return n == (other_end ? (size_t)(other_end - other) : 0) &&
           strncmp(file, other, n) == 0;
}

static bool fits(const struct lh_model_process *parent,
                 const struct lh_model_process *child)
{
    return parent != child && parent->start_s <= child->start_s &&
           strcmp(parent->exe, child->exe) == 0;
}

static bool is_nearer(const struct lh_model_process *parent,
                      const struct lh_model_process *other,
                      const struct lh_model_process *child)
{
    if (parent->start_s != other->start_s)
        return parent->start_s > other->start_s;
    return is_in_one_folder(parent->file, child->file) &&
           !is_in_one_folder(other->file, child->file);
}

static size_t parent_of(const struct lh_idmap *by_pid,
                        struct lh_model_process *const *processes, size_t child)
{
    const struct lh_model_process *p = processes[child];
    size_t parent = child;
    const struct namesake *s =
        p->forked_from ? lh_idmap_get(by_pid, p->forked_from) : NULL;
    for (; s; s = s->next)
        if (fits(processes[s->process], p) &&
            (parent == child ||
             is_nearer(processes[s->process], processes[parent], p)))
            parent = s->process;
    return parent;
}

size_t *lh_lineage_parents(struct lh_pool *pool,
                           struct lh_model_process *const *processes, size_t n)
{
    struct lh_idmap by_pid = { 0 };
    size_t *parents = lh_pool_array(pool, n, sizeof *parents);
    for (size_t i = 0; i < n; i++) {
        struct namesake *s = lh_pool_alloc(pool, sizeof *s);
        if (!processes[i]->started)
            continue;
        *s = (struct namesake){ i, lh_idmap_get(&by_pid, processes[i]->pid) };
        lh_idmap_put(&by_pid, processes[i]->pid, s);
    }
    for (size_t i = 0; i < n; i++)
        parents[i] =
            processes[i]->started ? parent_of(&by_pid, processes, i) : i;
    lh_idmap_free(&by_pid);
    return parents;
}

struct child {
    size_t parent, process;
    uint64_t start_s, pid;
};

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_birth(const void *one, const void *other)
{
    const struct child *a = one, *b = other;
    if (a->parent != b->parent)
        return compare(a->parent, b->parent);
    if (a->start_s != b->start_s)
        return compare(a->start_s, b->start_s);
    return compare(a->pid, b->pid);
}

/* The which-th child of its parent each one is, from 1. */
static const size_t *ranks(struct lh_pool *pool,
                           struct lh_model_process *const *processes,
                           const size_t *parents, size_t n)
{
    struct child *children = lh_pool_array(pool, n, sizeof *children);
    size_t *ranks = lh_pool_array(pool, n, sizeof *ranks);
    size_t nchildren = 0, rank = 0;
    for (size_t i = 0; i < n; i++)
        if (parents[i] != i)
            children[nchildren++] =
                (struct child){ parents[i], i, processes[i]->start_s,
                                processes[i]->pid };
    qsort(children, nchildren, sizeof *children, by_birth);
    for (size_t i = 0; i < nchildren; i++) {
        bool first = i == 0 || children[i].parent != children[i - 1].parent;
        rank = first ? 1 : rank + 1;
        ranks[children[i].process] = rank;
    }
    return ranks;
}

uint64_t *lh_lineage_roles(struct lh_pool *pool,
                           struct lh_model_process *const *processes,
                           const size_t *parents, size_t n)
{
    const size_t *rank = ranks(pool, processes, parents, n);
    uint64_t *roles = lh_pool_array(pool, n, sizeof *roles);
    for (size_t i = 0; i < n; i++) {
        size_t process = i;
        for (size_t k = 0; k < n && parents[process] != process; k++) {
            roles[i] = lh_idmap_mix(roles[i], rank[process]);
            process = parents[process];
        }
    }
    return roles;
}

/* Damaged records may make two the parents of each other. */
size_t lh_lineage_root(const size_t *parents, size_t n, size_t process)
{
    for (size_t steps = 0; steps < n && parents[process] != process; steps++)
        process = parents[process];
    return process;
}
