/* SPDX-License-Identifier: MIT
 *
 * graph_private.h - what graph.c and toporder.c share about a graph.
 */
#ifndef LH_CORE_GRAPH_PRIVATE_H
#define LH_CORE_GRAPH_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph.h"
#include "mem.h"
#include "table.h"

/* A component is named by one of its nodes, its root. */
struct lh_graph_node {
    lh_edge first_out, first_in;
    lh_node parent;      /* towards the root; of a free node: the next free */
    lh_node next_member; /* circular list of the component's nodes */
    uint32_t order;      /* of a root: edges go from lower to higher */
    uint32_t size;       /* of a root: number of members; 0: a free node */
    uint32_t mark;       /* of a root: the search that reached it last */
};

struct lh_graph_edge {
    lh_node from, to; /* from is 0 in a free edge, to the next free one */
    lh_edge next_out, next_in, next_hash;
    uint32_t word;
};

struct lh_graph_list { /* scratch: components as order << 32 | root */
    uint64_t *items;
    size_t n, capacity;
};

struct lh_graph {
    struct lh_mem mem;
    struct lh_graph_node *nodes; /* [0] is none */
    size_t node_capacity;
    uint32_t nodes_end; /* first number never used */
    lh_node free_node;
    uint32_t nnodes;
    struct lh_graph_edge *edges; /* [0] is none */
    size_t edge_capacity;
    uint32_t edges_end;
    lh_edge free_edge;
    uint32_t nedges;
    struct lh_table table;
    uint32_t first_order, last_order; /* all orders lie between */
    uint32_t mark;
    struct lh_graph_list forward, backward;
    uint32_t steps;   /* that searches may still take */
    uint32_t granted; /* to each edge */
    lh_edge *pending;
    size_t npending, pending_capacity;
};

/* The root of a node's component. */
static inline lh_node lh_graph_root(const struct lh_graph *g, lh_node node)
{
    while (g->nodes[node].parent != node)
        node = g->nodes[node].parent;
    return node;
}

#endif
