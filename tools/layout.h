/* SPDX-License-Identifier: MIT
 *
 * layout.h - a graph laid out by Graphviz: its program dot, which is given
 * numbers alone, so that no text of ours can be misread there.
 *
 * Lengths are in points, from the upper left corner.
 */
#ifndef LH_TOOLS_LAYOUT_H
#define LH_TOOLS_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lh_pool;

struct lh_layout_node {
    double width, height; /* given */
    double x, y;          /* found: its middle */
};

struct lh_layout_edge {
    size_t from, to; /* given: indices of nodes; each pair once */
    uint64_t label;  /* given; 0: none */
    double *points;  /* found: x and y of each; a start, then three for each
                      * curve; NULL: it was not drawn */
    size_t npoints;
    double label_x, label_y; /* found */
};

struct lh_layout {
    struct lh_layout_node *nodes;
    struct lh_layout_edge *edges;
    size_t nnodes, nedges;
    double width, height; /* found */
};

/* False where there is no dot, or where that takes too long. */
bool lh_layout_find(struct lh_layout *l, struct lh_pool *pool);

#endif
