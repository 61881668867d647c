/* SPDX-License-Identifier: MIT
 *
 * graph.h - the lock-order graph: what was requested while what was held.
 *
 * An edge a -> b says that b was requested by a thread that held a. Edges that
 * close a ring are kept: nodes on a ring are contracted into their strongly
 * connected component, and the incremental topological order is over
 * components.
 *
 * Memory:   from the lh_mem given; an edge costs about 30 bytes, a node 32.
 * Threads:  no locking inside; callers hold the detector's lock.
 * Source:   D. J. Pearce and P. H. J. Kelly, "A Dynamic Topological Sort
 *           Algorithm for Directed Acyclic Graphs", ACM JEA 11 (2006).
 */
#ifndef LH_CORE_GRAPH_H
#define LH_CORE_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mem.h"

struct lh_graph;

/* Nodes and edges are numbers; 0 is none. */
typedef uint32_t lh_node;
typedef uint32_t lh_edge;

/* Returns a new empty graph, or NULL when memory is short. */
struct lh_graph *lh_graph_new(struct lh_mem mem);
void lh_graph_free(struct lh_graph *g);

/* Adds a node without edges; numbers of removed nodes are used again.
 * Returns 0 or ENOMEM. */
int lh_graph_add_node(struct lh_graph *g, lh_node *node);

/*
 * Removes every node for which dead(ctx, node) is true, with its edges, and
 * computes components and order afresh: O(nodes + edges); no edge is pending
 * then, so settle and look at those before. Edge numbers of
 * survivors stay as they are; those of removed edges are used again.
 */
void lh_graph_sweep(struct lh_graph *g, bool (*dead)(void *ctx, lh_node node),
                    void *ctx);

/*
 * Adds from -> to (from != to), or finds it if it is there already.
 * Returns 0 and the edge, or ENOMEM and nothing is changed.
 */
int lh_graph_add_edge(struct lh_graph *g, lh_node from, lh_node to,
                      lh_edge *edge);

/*
 * In a graph that turns into one giant component, to know at once what each
 * edge closes would take time without bound. Edges are then left pending:
 * lh_graph_same_component() may be false for what they have joined until
 * lh_graph_settle() computes components and order afresh, in O(nodes + edges).
 * That is wanted when an eighth of the edges is pending.
 */
bool lh_graph_wants_settling(const struct lh_graph *g);
void lh_graph_settle(struct lh_graph *g);

/* The edges that were pending when it was settled last (before: those that
 * are), until the next change of the graph. */
const lh_edge *lh_graph_pending(const struct lh_graph *g, size_t *n);
void lh_graph_forget_pending(struct lh_graph *g);

/* The edge from -> to, or 0. */
lh_edge lh_graph_find_edge(const struct lh_graph *g, lh_node from, lh_node to);

/* True when both lie on a common ring of edges (or are one node). */
bool lh_graph_same_component(const struct lh_graph *g, lh_node a, lh_node b);

/* Walks the edges out of (into) a node: first, then next until 0. */
lh_edge lh_graph_first_out(const struct lh_graph *g, lh_node node);
lh_edge lh_graph_next_out(const struct lh_graph *g, lh_edge edge);
lh_edge lh_graph_first_in(const struct lh_graph *g, lh_node node);
lh_edge lh_graph_next_in(const struct lh_graph *g, lh_edge edge);
lh_node lh_graph_edge_from(const struct lh_graph *g, lh_edge edge);
lh_node lh_graph_edge_to(const struct lh_graph *g, lh_edge edge);

/* One 32-bit word that the caller keeps at an edge; 0 at first. */
uint32_t *lh_graph_edge_word(struct lh_graph *g, lh_edge edge);

size_t lh_graph_nnodes(const struct lh_graph *g); /* in use */
size_t lh_graph_nedges(const struct lh_graph *g);

/* For tests: from here on every edge that does not fit the order is pending. */
void lh_graph_take_steps(struct lh_graph *g);

/* For tests: true if order, components and lists are consistent. */
bool lh_graph_check(const struct lh_graph *g);

#endif
