/* SPDX-License-Identifier: MIT
 *
 * rings.h - finds the rings of dependencies that one dependency closes.
 *
 * A ring is D1..Dn, n >= 2, where each Di wants a lock that Di+1 holds and Dn
 * wants one that D1 holds, all of these locks are different and count, and no
 * link is shared against shared. Where several hold shared what Di wants, only
 * the shortest ring counts. Shorter rings come first.
 *
 * Memory:   scratch from the lh_mem given, kept and used again.
 * Source:   R. E. Korf, "Depth-First Iterative-Deepening", Artificial
 *           Intelligence 27 (1985), guided by the exact distance in the graph.
 */
#ifndef LH_CORE_RINGS_H
#define LH_CORE_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "deps.h"
#include "mem.h"
#include "order.h"

/* One dependency of a ring, and the lock by which it is part of it: held, and
 * wanted by the dependency before. */
struct lh_link {
    lh_dep_slot dep;
    lh_lock holds;
};

/* Called for each ring found; links are valid during the call. False ends the
 * search. */
typedef bool (*lh_rings_fn)(void *ctx, const struct lh_link *links, size_t n);

struct lh_rings_place {  /* what a search knows about a lock */
    uint32_t stamp;      /* the search that distance belongs to */
    uint32_t distance;   /* edges from here to a lock that the start holds */
    uint32_t nshared;    /* dependencies on the path that hold it shared, */
    uint32_t nexclusive; /* and that hold it exclusively */
    bool on_path;        /* wanted by one of them */
};

struct lh_rings_frame {
    struct lh_link link;
    lh_lock wanted;
    lh_edge edge;     /* out of wanted, looked at now */
    lh_dep_slot next; /* next dependency on that edge to look at */
};

struct lh_rings {
    struct lh_mem mem;
    struct lh_deps *deps;
    struct lh_rings_place *places; /* by lock */
    size_t nplaces;
    uint32_t stamp;
    lh_lock *queue;
    size_t queue_capacity;
    struct lh_rings_frame *path;
    size_t path_capacity, npath;
    struct lh_link *links; /* the path as the caller sees it */
    size_t links_capacity;
    /* What the search under way wants. */
    bool strict;
    bool is_over;
    bool is_cut;
    bool is_measure_cut;
    uint32_t *steps;
    lh_rings_fn on_ring;
    void *ctx;
    size_t limit;    /* on the length of rings in this round */
    size_t reported; /* rings up to this length were found before */
    size_t beyond;   /* least length above the limit that was met */
};

struct lh_rings_query {
    lh_dep_slot start;
    bool strict;     /* only rings without limited waits, doubtful locks, gates,
                        and two sides that only one and the same thread was
                        seen with */
    uint32_t *steps; /* what may be spent; the rest is left there */
};

/*
 * Reports the rings through a dependency. Returns false when the search ended
 * for want of steps or memory, so that rings may be missing.
 */
bool lh_rings_search(struct lh_rings *r, const struct lh_rings_query *query,
                     lh_rings_fn on_ring, void *ctx);

/* True if the dependency lies on a ring of edges. */
bool lh_rings_possible(const struct lh_deps *d, lh_dep_slot slot);

void lh_rings_free(struct lh_rings *r);

#endif
