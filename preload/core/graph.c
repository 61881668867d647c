/* SPDX-License-Identifier: MIT
 *
 * graph.c - nodes and edges of the lock-order graph, and how they are found.
 */
#include "graph.h"

#include <errno.h>
#include <string.h>

#include "array.h"
#include "graph_private.h"
#include "mix.h"
#include "toporder.h"

/*
 * What keeping the order may cost: a step is an edge looked at, 5 to 50 ns.
 * Without large components an edge takes a few dozen; around the point where
 * random edges form a giant component it would take all of them.
 */
enum { MAX_STEPS = 2000000, STEPS_AN_EDGE = 200 };

static uint32_t hash_ends(lh_node from, lh_node to)
{
    return (uint32_t)lh_mix64(from, to);
}

static uint32_t hash_edge(const void *owner, uint32_t edge)
{
    const struct lh_graph *g = owner;
    return hash_ends(g->edges[edge].from, g->edges[edge].to);
}

static uint32_t *next_hash(void *owner, uint32_t edge)
{
    struct lh_graph *g = owner;
    return &g->edges[edge].next_hash;
}

static const struct lh_table_owner table_owner = { hash_edge, next_hash };

void lh_graph_take_steps(struct lh_graph *g)
{
    g->steps = g->granted = 0;
}

struct lh_graph *lh_graph_new(struct lh_mem mem)
{
    struct lh_graph *g = mem.resize(mem.ctx, NULL, 0, sizeof *g);
    if (!g)
        return NULL;
    g->mem = mem;
    g->nodes_end = g->edges_end = 1;
    if (lh_table_init(&g->table, mem, &table_owner, g) != 0) {
        lh_graph_free(g);
        return NULL;
    }
    lh_toporder_rebuild(g); /* of nothing: sets the first order */
    g->granted = STEPS_AN_EDGE;
    g->steps = MAX_STEPS;
    return g;
}

void lh_graph_free(struct lh_graph *g)
{
    if (!g)
        return;
    struct lh_mem mem = g->mem;
    lh_array_free(mem, g->nodes, g->node_capacity, sizeof *g->nodes);
    lh_array_free(mem, g->edges, g->edge_capacity, sizeof *g->edges);
    lh_array_free(mem, g->forward.items, g->forward.capacity,
                  sizeof *g->forward.items);
    lh_array_free(mem, g->backward.items, g->backward.capacity,
                  sizeof *g->backward.items);
    lh_array_free(mem, g->pending, g->pending_capacity, sizeof *g->pending);
    lh_table_free(&g->table);
    (void)mem.resize(mem.ctx, g, sizeof *g, 0);
}

int lh_graph_add_node(struct lh_graph *g, lh_node *node)
{
    lh_node new = g->free_node;
    if (new) {
        g->free_node = g->nodes[new].parent;
    } else {
        if (g->nodes_end >= UINT32_C(1) << 30 ||
            lh_array_reserve(g->mem, &g->nodes, &g->node_capacity,
                             sizeof *g->nodes, (size_t)g->nodes_end + 1) != 0)
            return ENOMEM;
        new = g->nodes_end++;
    }
    lh_toporder_add_node(g, new);
    g->nnodes++;
    *node = new;
    return 0;
}

lh_edge lh_graph_find_edge(const struct lh_graph *g, lh_node from, lh_node to)
{
    lh_edge e = lh_table_first(&g->table, hash_ends(from, to));
    while (e && (g->edges[e].from != from || g->edges[e].to != to))
        e = g->edges[e].next_hash;
    return e;
}

static void link_edge(struct lh_graph *g, lh_edge e)
{
    struct lh_graph_edge *edge = &g->edges[e];
    edge->next_out = g->nodes[edge->from].first_out;
    g->nodes[edge->from].first_out = e;
    edge->next_in = g->nodes[edge->to].first_in;
    g->nodes[edge->to].first_in = e;
    lh_table_insert(&g->table, e, hash_ends(edge->from, edge->to));
}

static int reserve_edge(struct lh_graph *g)
{
    if (lh_table_reserve(&g->table) != 0)
        return ENOMEM;
    if (g->free_edge)
        return 0;
    if (g->edges_end >= UINT32_C(1) << 31)
        return ENOMEM;
    return lh_array_reserve(g->mem, &g->edges, &g->edge_capacity,
                            sizeof *g->edges, (size_t)g->edges_end + 1);
}

static int reserve_pending(struct lh_graph *g)
{
    return lh_array_reserve(g->mem, &g->pending, &g->pending_capacity,
                            sizeof *g->pending, g->npending + 1);
}

int lh_graph_add_edge(struct lh_graph *g, lh_node from, lh_node to,
                      lh_edge *edge)
{
    lh_edge e = lh_graph_find_edge(g, from, to);
    if (e) {
        *edge = e;
        return 0;
    }
    if (reserve_edge(g) != 0 || reserve_pending(g) != 0)
        return ENOMEM;
    if (g->steps < MAX_STEPS)
        g->steps += g->granted;
    int rc = lh_toporder_add_edge(g, from, to);
    if (rc == ENOMEM)
        return ENOMEM;
    e = g->free_edge;
    if (e)
        g->free_edge = g->edges[e].to;
    else
        e = g->edges_end++;
    g->edges[e] = (struct lh_graph_edge){ .from = from, .to = to };
    link_edge(g, e);
    g->nedges++;
    if (rc == EAGAIN)
        g->pending[g->npending++] = e;
    *edge = e;
    return 0;
}

bool lh_graph_wants_settling(const struct lh_graph *g)
{
    return g->npending > 1000 && g->npending >= g->nedges / 8;
}

void lh_graph_settle(struct lh_graph *g)
{
    if (g->npending > 0)
        lh_toporder_rebuild(g);
}

const lh_edge *lh_graph_pending(const struct lh_graph *g, size_t *n)
{
    *n = g->npending;
    return g->pending;
}

void lh_graph_forget_pending(struct lh_graph *g)
{
    g->npending = 0;
}

static void free_edge(struct lh_graph *g, lh_edge e)
{
    g->edges[e] = (struct lh_graph_edge){ .to = g->free_edge };
    g->free_edge = e;
    g->nedges--;
}

static void sweep_nodes(struct lh_graph *g,
                        bool (*dead)(void *ctx, lh_node node), void *ctx)
{
    for (lh_node node = 1; node < g->nodes_end; node++) {
        struct lh_graph_node *n = &g->nodes[node];
        if (n->size == 0)
            continue;
        n->first_out = n->first_in = 0;
        if (!dead(ctx, node))
            continue;
        n->size = 0;
        n->parent = g->free_node;
        g->free_node = node;
        g->nnodes--;
    }
}

void lh_graph_sweep(struct lh_graph *g, bool (*dead)(void *ctx, lh_node node),
                    void *ctx)
{
    sweep_nodes(g, dead, ctx);
    lh_table_clear(&g->table);
    for (lh_edge e = 1; e < g->edges_end; e++) {
        const struct lh_graph_edge *edge = &g->edges[e];
        if (!edge->from)
            continue;
        if (g->nodes[edge->from].size && g->nodes[edge->to].size)
            link_edge(g, e);
        else
            free_edge(g, e);
    }
    g->npending = 0;
    lh_toporder_rebuild(g);
}

bool lh_graph_same_component(const struct lh_graph *g, lh_node a, lh_node b)
{
    return lh_graph_root(g, a) == lh_graph_root(g, b);
}

lh_edge lh_graph_first_out(const struct lh_graph *g, lh_node node)
{
    return g->nodes[node].first_out;
}

lh_edge lh_graph_next_out(const struct lh_graph *g, lh_edge edge)
{
    return g->edges[edge].next_out;
}

lh_edge lh_graph_first_in(const struct lh_graph *g, lh_node node)
{
    return g->nodes[node].first_in;
}

lh_edge lh_graph_next_in(const struct lh_graph *g, lh_edge edge)
{
    return g->edges[edge].next_in;
}

lh_node lh_graph_edge_from(const struct lh_graph *g, lh_edge edge)
{
    return g->edges[edge].from;
}

lh_node lh_graph_edge_to(const struct lh_graph *g, lh_edge edge)
{
    return g->edges[edge].to;
}

uint32_t *lh_graph_edge_word(struct lh_graph *g, lh_edge edge)
{
    return &g->edges[edge].word;
}

size_t lh_graph_nnodes(const struct lh_graph *g)
{
    return g->nnodes;
}

size_t lh_graph_nedges(const struct lh_graph *g)
{
    return g->nedges;
}

/* A component's list has its size and leads back to its root. */
static bool check_component(const struct lh_graph *g, lh_node root)
{
    uint32_t n = 0;
    lh_node member = root;
    do {
        if (lh_graph_root(g, member) != root || ++n > g->nnodes)
            return false;
        member = g->nodes[member].next_member;
    } while (member != root);
    return n == g->nodes[root].size && g->nodes[root].order <= g->last_order &&
           g->nodes[root].order >= g->first_order;
}

static bool check_edges(const struct lh_graph *g, lh_node node, size_t *nout,
                        size_t *nin)
{
    for (lh_edge e = g->nodes[node].first_out; e; e = g->edges[e].next_out) {
        lh_node from = lh_graph_root(g, node);
        lh_node to = lh_graph_root(g, g->edges[e].to);
        if (g->edges[e].from != node || ++*nout > g->nedges ||
            lh_graph_find_edge(g, node, g->edges[e].to) != e)
            return false;
        if (from != to && g->nodes[from].order >= g->nodes[to].order)
            return false;
    }
    for (lh_edge e = g->nodes[node].first_in; e; e = g->edges[e].next_in) {
        if (g->edges[e].to != node || ++*nin > g->nedges)
            return false;
    }
    return true;
}

bool lh_graph_check(const struct lh_graph *g)
{
    size_t nout = 0, nin = 0, nmembers = 0, nnodes = 0;
    for (lh_node node = 1; node < g->nodes_end; node++) {
        if (g->nodes[node].size == 0)
            continue;
        nnodes++;
        if (!check_edges(g, node, &nout, &nin))
            return false;
        if (g->nodes[node].parent != node)
            continue;
        if (!check_component(g, node))
            return false;
        nmembers += g->nodes[node].size;
    }
    return nout == g->nedges && nin == g->nedges && nnodes == g->nnodes &&
           nmembers == nnodes && g->table.nentries == g->nedges;
}
