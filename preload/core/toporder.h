/* SPDX-License-Identifier: MIT
 *
 * toporder.h - components of a graph and the topological order over them.
 *
 * Source:   D. J. Pearce and P. H. J. Kelly, "A Dynamic Topological Sort
 *           Algorithm for Directed Acyclic Graphs", ACM JEA 11 (2006), here
 *           over components; D. J. Pearce, "A space-efficient algorithm for
 *           finding strongly connected components", IPL 116 (2016).
 */
#ifndef LH_CORE_TOPORDER_H
#define LH_CORE_TOPORDER_H

#include "graph.h"

/* Orders a new node, alone in its component, behind all others. */
void lh_toporder_add_node(struct lh_graph *g, lh_node node);

/*
 * Makes the order agree with an edge from -> to that is about to be added;
 * components on a ring that it closes become one.
 * Returns 0; ENOMEM and nothing is changed; or EAGAIN when finding out would
 * have cost too much: then the order does not hold for this edge, and what
 * rings it closes shows after lh_toporder_rebuild() only.
 */
int lh_toporder_add_edge(struct lh_graph *g, lh_node from, lh_node to);

/* Computes components and order afresh, in no memory but the nodes' own. */
void lh_toporder_rebuild(struct lh_graph *g);

#endif
