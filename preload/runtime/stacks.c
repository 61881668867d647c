/* SPDX-License-Identifier: MIT
 * stacks.c - call stacks: kept once, each frame resolved when first seen. */
#include "runtime/stacks.h"

#include <string.h>

#include "runtime/arena.h"
#include "runtime/modules.h"
#include "runtime/rawlock.h"
#include "runtime/unwind.h"

/* Parents that are no nodes: what is said about the outermost frame kept. */
enum { ROOT_COMPLETE, ROOT_PARTIAL, ROOT_TRUNCATED, FIRST_NODE };

struct node {
    uint64_t pc;
    uint32_t parent; /* the caller's node, or a ROOT_ */
    uint32_t module;
};

/* All under this lock. */
static struct lh_rawlock tree_lock;
static struct node *nodes;
static size_t nnodes = FIRST_NODE, nodes_capacity;
static uint32_t *table; /* open addressing; 0 is empty */
static size_t table_size;
static uint8_t *recorded; /* a bit for each node */
static size_t recorded_capacity;

static size_t hash(uint64_t pc, uint32_t parent)
{
    uint64_t h = (pc ^ (uint64_t)parent << 32) * UINT64_C(0x9e3779b97f4a7c15);

    return (size_t)(h ^ h >> 29);
}

static bool is_gone(const struct node *node)
{
    return node->module && lh_module_get(node->module)->gone;
}

/* Nodes in modules that are gone are not to be found again. */
static void fill(uint32_t *fresh, size_t n)
{
    for (uint32_t id = FIRST_NODE; id < nnodes; id++) {
        size_t i = hash(nodes[id].pc, nodes[id].parent) & (n - 1);
        if (is_gone(&nodes[id]))
            continue;
        while (fresh[i])
            i = (i + 1) & (n - 1);
        fresh[i] = id;
    }
}

static bool grow_table(void)
{
    size_t n = table_size ? table_size * 2 : 1024;
    uint32_t *fresh = lh_arena_resize(NULL, NULL, 0, n * sizeof *fresh);

    if (!fresh)
        return false;
    fill(fresh, n);
    if (table)
        lh_arena_resize(NULL, table, table_size * sizeof *table, 0);
    table = fresh;
    table_size = n;
    return true;
}

/* The node for a frame, made if need be; 0 when memory is short. */
static uint32_t intern(uint32_t parent, uint64_t pc)
{
    void *array = nodes;
    size_t i;

    if (2 * nnodes >= table_size && !grow_table())
        return 0;
    i = hash(pc, parent) & (table_size - 1);
    for (; table[i]; i = (i + 1) & (table_size - 1))
        if (nodes[table[i]].pc == pc && nodes[table[i]].parent == parent)
            return table[i];
    if (lh_arena_reserve(&array, &nodes_capacity, sizeof *nodes, nnodes + 1))
        return 0;
    nodes = array;
    nodes[nnodes] = (struct node){ .pc = pc,
                                   .parent = parent,
                                   .module = lh_module_find(pc - 1) };
    table[i] = (uint32_t)nnodes;
    return (uint32_t)nnodes++;
}

static uint32_t intern_all(const struct lh_return *frames, size_t n,
                           uint32_t root)
{
    uint32_t node = root;

    lh_rawlock_take(&tree_lock);
    while (n > 0 && (node >= FIRST_NODE || node == root)) {
        node = intern(node, frames[--n].pc);
        if (node == 0)
            break;
    }
    lh_rawlock_give(&tree_lock);
    return node;
}

uint32_t lh_stack_take(struct lh_thread *t, void *pc, uintptr_t cfa)
{
    struct lh_unwound u;
    uint32_t stack;

    if (!lh_unwind(t, pc, cfa, &u))
        return lh_stack_of_pc(pc);
    stack =
        intern_all(u.frames, u.n, u.truncated ? ROOT_TRUNCATED : ROOT_COMPLETE);
    lh_unwind_remember(t, &u, stack);
    return stack;
}

uint32_t lh_stack_of_pc(const void *pc)
{
    struct lh_return one = { .pc = (uintptr_t)pc };

    return intern_all(&one, 1, ROOT_PARTIAL);
}

uint32_t lh_stack_site(uint32_t stack)
{
    uint32_t site = 0;

    lh_rawlock_take(&tree_lock);
    if (stack >= FIRST_NODE && stack < nnodes)
        site = is_gone(&nodes[stack]) ? stack
                                      : intern(ROOT_PARTIAL, nodes[stack].pc);
    lh_rawlock_give(&tree_lock);
    return site;
}

void lh_stack_trace(uint32_t stack, struct lh_trace *trace)
{
    trace->nframes = 0;
    trace->partial = trace->truncated = false;
    lh_rawlock_take(&tree_lock);
    while (stack >= FIRST_NODE && stack < nnodes &&
           trace->nframes < LH_MAX_FRAMES) {
        const struct node *node = &nodes[stack];
        struct lh_frame *frame = &trace->frames[trace->nframes++];
        frame->module = node->module;
        frame->pc = node->pc;
        frame->offset = node->pc - lh_module_base(node->module);
        stack = node->parent;
    }
    trace->partial = stack == ROOT_PARTIAL;
    trace->truncated = stack == ROOT_TRUNCATED;
    lh_rawlock_give(&tree_lock);
}

bool lh_stack_claim_record(uint32_t stack)
{
    void *array = recorded;
    bool first = false;

    lh_rawlock_take(&tree_lock);
    if (stack >= FIRST_NODE &&
        lh_arena_reserve(&array, &recorded_capacity, 1, stack / 8 + 1) == 0) {
        uint8_t bit = (uint8_t)(1u << (stack % 8));
        recorded = array;
        first = !(recorded[stack / 8] & bit);
        recorded[stack / 8] |= bit;
    }
    lh_rawlock_give(&tree_lock);
    return first;
}

bool lh_stacks_drop_unloaded(void)
{
    bool any;

    lh_rawlock_take(&tree_lock);
    any = lh_modules_drop_unloaded();
    if (any && table) {
        memset(table, 0, table_size * sizeof *table);
        fill(table, table_size);
    }
    lh_rawlock_give(&tree_lock);
    return any;
}

bool lh_stacks_take_unloaded(uintptr_t *low, uintptr_t *high)
{
    const struct lh_module *m;

    lh_rawlock_take(&tree_lock);
    m = lh_module_take_gone();
    if (m) {
        *low = m->low;
        *high = m->high;
    }
    lh_rawlock_give(&tree_lock);
    return m;
}

void lh_stacks_know_module(uintptr_t address)
{
    lh_rawlock_take(&tree_lock);
    lh_module_find(address);
    lh_rawlock_give(&tree_lock);
}

bool lh_stack_is_stale(uint32_t stack)
{
    bool stale = false;

    lh_rawlock_take(&tree_lock);
    for (; stack >= FIRST_NODE && stack < nnodes && !stale;
         stack = nodes[stack].parent)
        stale = is_gone(&nodes[stack]);
    lh_rawlock_give(&tree_lock);
    return stale;
}

void lh_stacks_lock(void)
{
    lh_rawlock_take(&tree_lock);
}

void lh_stacks_unlock(void)
{
    lh_rawlock_give(&tree_lock);
}

void lh_stacks_after_fork(void)
{
    lh_rawlock_reset(&tree_lock);
    if (recorded)
        memset(recorded, 0, recorded_capacity);
    lh_modules_after_fork();
}
