/* SPDX-License-Identifier: MIT
 *
 * toporder.c - components of a graph and the topological order over them.
 */
#include "toporder.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "graph_private.h"
#include "sort.h"

/* Orders start in the middle: nodes are put in front of all others, too. */
#define MIDDLE (UINT32_C(1) << 31)

/* The marks of one search: reached forward, backward, or both. */
enum { FORWARD = 1, BACKWARD = 2, BOTH = 3, MARKS = 4 };

/* As lh_graph_root(), and shortens the way for the next time. */
static lh_node find_root(struct lh_graph *g, lh_node node)
{
    struct lh_graph_node *nodes = g->nodes;
    while (nodes[node].parent != node) {
        nodes[node].parent = nodes[nodes[node].parent].parent;
        node = nodes[node].parent;
    }
    return node;
}

void lh_toporder_add_node(struct lh_graph *g, lh_node node)
{
    if (g->last_order == UINT32_MAX)
        lh_toporder_rebuild(g);
    g->nodes[node] = (struct lh_graph_node){
        .parent = node,
        .next_member = node,
        .size = 1,
        .order = ++g->last_order,
    };
}

/* Starts a search; its marks differ from all earlier ones. */
static void new_marks(struct lh_graph *g)
{
    if (g->mark > UINT32_MAX - 2 * MARKS) {
        for (lh_node node = 1; node < g->nodes_end; node++)
            g->nodes[node].mark = 0;
        g->mark = 0;
    }
    g->mark += MARKS;
}

static bool has_mark(const struct lh_graph *g, lh_node root, uint32_t mark)
{
    uint32_t has = g->nodes[root].mark;
    return has > g->mark && ((has - g->mark) & mark) == mark;
}

static void set_mark(struct lh_graph *g, lh_node root, uint32_t mark)
{
    uint32_t *has = &g->nodes[root].mark;
    *has = *has > g->mark ? *has | mark : g->mark + mark;
}

static int visit(struct lh_graph *g, struct lh_graph_list *list, lh_node root,
                 uint32_t mark)
{
    if (lh_array_reserve(g->mem, &list->items, &list->capacity,
                         sizeof *list->items, list->n + 1) != 0)
        return ENOMEM;
    set_mark(g, root, mark);
    list->items[list->n++] = (uint64_t)g->nodes[root].order << 32 | root;
    return 0;
}

static bool spend_step(struct lh_graph *g)
{
    if (g->steps == 0)
        return false;
    g->steps--;
    return true;
}

/* Visits what the members of a component lead to, up to an order. */
static int visit_successors(struct lh_graph *g, lh_node root, uint32_t last)
{
    lh_node member = root;
    do {
        lh_edge e = g->nodes[member].first_out;
        if (!spend_step(g))
            return EAGAIN;
        for (; e; e = g->edges[e].next_out) {
            if (!spend_step(g))
                return EAGAIN;
            lh_node next = find_root(g, g->edges[e].to);
            if (g->nodes[next].order > last || has_mark(g, next, FORWARD))
                continue;
            if (visit(g, &g->forward, next, FORWARD) != 0)
                return ENOMEM;
        }
        member = g->nodes[member].next_member;
    } while (member != root);
    return 0;
}

/* Visits what leads to the members of a component, down to an order. */
static int visit_predecessors(struct lh_graph *g, lh_node root, uint32_t first)
{
    lh_node member = root;
    do {
        lh_edge e = g->nodes[member].first_in;
        if (!spend_step(g))
            return EAGAIN;
        for (; e; e = g->edges[e].next_in) {
            if (!spend_step(g))
                return EAGAIN;
            lh_node next = find_root(g, g->edges[e].from);
            if (g->nodes[next].order < first || has_mark(g, next, BACKWARD))
                continue;
            if (visit(g, &g->backward, next, BACKWARD) != 0)
                return ENOMEM;
        }
        member = g->nodes[member].next_member;
    } while (member != root);
    return 0;
}

/* Fills the lists with the affected region of from -> to, each in order. */
static int find_region(struct lh_graph *g, lh_node from, lh_node to)
{
    uint32_t first = g->nodes[to].order, last = g->nodes[from].order;
    struct lh_graph_list *forward = &g->forward, *backward = &g->backward;
    new_marks(g);
    forward->n = backward->n = 0;
    if (visit(g, forward, to, FORWARD) != 0 ||
        visit(g, backward, from, BACKWARD) != 0)
        return ENOMEM;
    int rc = 0;
    for (size_t i = 0; i < forward->n && rc == 0; i++)
        rc = visit_successors(g, (lh_node)forward->items[i], last);
    for (size_t i = 0; i < backward->n && rc == 0; i++)
        rc = visit_predecessors(g, (lh_node)backward->items[i], first);
    if (rc != 0)
        return rc;
    lh_sort_u64(forward->items, forward->n);
    lh_sort_u64(backward->items, backward->n);
    return 0;
}

/* Makes one component of two; returns its root. */
static lh_node unite(struct lh_graph *g, lh_node a, lh_node b)
{
    struct lh_graph_node *nodes = g->nodes;
    if (nodes[a].size < nodes[b].size) {
        lh_node smaller = a;
        a = b;
        b = smaller;
    }
    nodes[a].size += nodes[b].size;
    nodes[b].parent = a;
    lh_node next = nodes[a].next_member;
    nodes[a].next_member = nodes[b].next_member;
    nodes[b].next_member = next;
    return a;
}

/* Takes the components reached both ways out of the lists and makes them one;
 * returns its root, or 0 if there is none. */
static lh_node unite_ring(struct lh_graph *g)
{
    lh_node ring = 0;
    size_t kept = 0;
    for (size_t i = 0; i < g->backward.n; i++) {
        lh_node root = (lh_node)g->backward.items[i];
        if (!has_mark(g, root, BOTH))
            g->backward.items[kept++] = g->backward.items[i];
        else
            ring = ring ? unite(g, ring, root) : root;
    }
    g->backward.n = kept;
    return ring;
}

/* The order of the list's ith component, or the highest behind its end. */
static uint64_t order_at(const struct lh_graph_list *list, size_t i)
{
    return i < list->n ? list->items[i] >> 32 : UINT64_MAX;
}

/*
 * Hands out the orders of the region anew: what leads to `from` gets the
 * lowest, then comes the ring, and what follows from `to` gets the highest.
 * A ring leaves some unused. The lists keep the old orders while new ones are
 * written to the nodes; the ring's are in the forward list only.
 */
static void reorder(struct lh_graph *g, lh_node ring)
{
    struct lh_graph_list *forward = &g->forward, *backward = &g->backward;
    size_t nslots = forward->n + backward->n, nafter = 0;
    for (size_t i = 0; i < forward->n; i++)
        nafter += !has_mark(g, (lh_node)forward->items[i], BACKWARD);
    size_t f = 0, b = 0, after = 0;
    for (size_t slot = 0; slot < nslots; slot++) {
        bool from_forward = order_at(forward, f) < order_at(backward, b);
        uint32_t order = (uint32_t)(from_forward ? order_at(forward, f++)
                                                 : order_at(backward, b++));
        lh_node root = 0;
        if (slot < backward->n) {
            root = (lh_node)backward->items[slot];
        } else if (slot >= nslots - nafter) {
            while (has_mark(g, (lh_node)forward->items[after], BACKWARD))
                after++;
            root = (lh_node)forward->items[after++];
        } else if (slot == backward->n) {
            root = ring;
        }
        if (root)
            g->nodes[root].order = order;
    }
}

/* A node that leads nowhere can go last, and one that nothing leads to first:
 * whatever is locked for the first time is ordered at once. */
static bool move_to_end(struct lh_graph *g, lh_node from, lh_node to)
{
    struct lh_graph_node *nodes = g->nodes;
    if (nodes[to].size == 1 && !nodes[to].first_out &&
        g->last_order < UINT32_MAX) {
        nodes[to].order = ++g->last_order;
        return true;
    }
    if (nodes[from].size == 1 && !nodes[from].first_in && g->first_order > 1) {
        nodes[from].order = --g->first_order;
        return true;
    }
    return false;
}

int lh_toporder_add_edge(struct lh_graph *g, lh_node from, lh_node to)
{
    from = find_root(g, from);
    to = find_root(g, to);
    if (from == to || g->nodes[from].order < g->nodes[to].order)
        return 0;
    if (move_to_end(g, from, to))
        return 0;
    int rc = find_region(g, from, to);
    if (rc == 0)
        reorder(g, unite_ring(g));
    return rc;
}

/*
 * The state of a rebuild. While it runs, a node's mark is the number at which
 * it was met, or the lowest such number that it can reach; order is the edge
 * to follow next; parent is 1 until it is known not to be the first of its
 * component; next_member links the path from the start to the node at hand,
 * and then the nodes that wait for the first of their component.
 */
struct rebuild {
    lh_node path;
    lh_node waiting;
    uint32_t next_number;
    uint32_t next_order; /* components come out last first */
};

static void enter(struct lh_graph *g, struct rebuild *r, lh_node node)
{
    struct lh_graph_node *n = &g->nodes[node];
    n->mark = r->next_number++;
    n->order = n->first_out;
    n->parent = 1;
    n->size = 1;
    n->next_member = r->path;
    r->path = node;
}

/* Makes a component of a node and of those waiting for it. */
static void finish_component(struct lh_graph *g, struct rebuild *r,
                             lh_node root)
{
    struct lh_graph_node *nodes = g->nodes, *first = &nodes[root];
    first->next_member = first->parent = root;
    r->next_number--;
    while (r->waiting && first->mark <= nodes[r->waiting].mark) {
        lh_node member = r->waiting;
        r->waiting = nodes[member].next_member;
        nodes[member].mark = r->next_order;
        nodes[member].parent = root;
        nodes[member].next_member = first->next_member;
        first->next_member = member;
        first->size++;
        r->next_number--;
    }
    first->mark = r->next_order;
    first->order = r->next_order--;
}

static void leave(struct lh_graph *g, struct rebuild *r, lh_node node)
{
    r->path = g->nodes[node].next_member;
    if (g->nodes[node].parent) {
        finish_component(g, r, node);
    } else {
        g->nodes[node].next_member = r->waiting;
        r->waiting = node;
    }
}

/* Follows one edge of the node at the end of the path. */
static void step(struct lh_graph *g, struct rebuild *r)
{
    struct lh_graph_node *nodes = g->nodes, *node = &nodes[r->path];
    lh_edge e = node->order;
    if (!e) {
        leave(g, r, r->path);
        return;
    }
    struct lh_graph_node *to = &nodes[g->edges[e].to];
    if (to->mark == 0) { /* the edge is looked at again afterwards */
        enter(g, r, g->edges[e].to);
        return;
    }
    if (to->mark < node->mark) {
        node->mark = to->mark;
        node->parent = 0;
    }
    node->order = g->edges[e].next_out;
}

void lh_toporder_rebuild(struct lh_graph *g)
{
    struct rebuild r = { .next_number = 1, .next_order = MIDDLE };
    for (lh_node node = 1; node < g->nodes_end; node++)
        g->nodes[node].mark = 0;
    for (lh_node node = 1; node < g->nodes_end; node++) {
        if (g->nodes[node].size == 0 || g->nodes[node].mark != 0)
            continue;
        enter(g, &r, node);
        while (r.path)
            step(g, &r);
    }
    for (lh_node node = 1; node < g->nodes_end; node++)
        g->nodes[node].mark = 0;
    g->mark = 0;
    g->last_order = MIDDLE;
    g->first_order = r.next_order + 1;
}
