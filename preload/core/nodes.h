/* SPDX-License-Identifier: MIT
 *
 * nodes.h - what is known about each lock but its edges.
 *
 * A lock's number is its node in the graph.
 */
#ifndef LH_CORE_NODES_H
#define LH_CORE_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph.h"
#include "mem.h"
#include "order.h"

/* FREE -> ALIVE by lh_nodes_add(); ALIVE -> DEAD, or FREE when it has no
 * edges, by lh_nodes_end(); DEAD -> FREE by lh_nodes_sweep(). */
enum lh_nodes_state { LH_NODES_FREE, LH_NODES_ALIVE, LH_NODES_DEAD };

struct lh_nodes_lock {
    uint64_t class_key;
    uint32_t state : 2; /* enum lh_nodes_state */
    uint32_t is_queue : 1;
    uint32_t is_withheld : 1; /* alive, but no part of a ring yet */
    uint32_t is_doubtful : 1; /* lh_order_doubt_lock() */
    uint32_t other : 27; /* of a queue, its lock; of a lock, its queue or 0 */
    uint32_t stamp; /* of the owner's latest pass over a held set; of a free
                       lock that keeps its node: the next one */
};

struct lh_nodes {
    struct lh_mem mem;
    struct lh_graph *graph;
    struct lh_nodes_lock *at; /* [0] is none */
    size_t capacity;
    uint32_t stamp;
    lh_lock spare; /* first of the free ones that keep their nodes */
    size_t ndead;
};

/* Returns 0 and the number, or ENOMEM. */
int lh_nodes_add(struct lh_nodes *l, uint64_t class_key, lh_lock *lock);

/* The queue of a lock that is alive (order.h), made if need be. Returns 0 and
 * its number, or ENOMEM. */
int lh_nodes_queue(struct lh_nodes *l, lh_lock lock, lh_lock *queue);

/* Ends a lock that is alive, and its queue; others stay as they are. */
void lh_nodes_end(struct lh_nodes *l, lh_lock lock);

/* Takes the locks that are not alive, with their edges, out of the graph. */
void lh_nodes_sweep(struct lh_nodes *l);

/* Starts a pass: a lock's stamp equals l->stamp once it was set to it. */
void lh_nodes_new_stamp(struct lh_nodes *l);

static inline bool lh_nodes_alive(const struct lh_nodes *l, lh_lock lock)
{
    return lock < l->capacity && l->at[lock].state == LH_NODES_ALIVE;
}

static inline bool lh_nodes_is_queue(const struct lh_nodes *l, lh_lock lock)
{
    return l->at[lock].is_queue;
}

/* The lock itself, or that which it is the queue of. */
static inline lh_lock lh_nodes_shown(const struct lh_nodes *l, lh_lock lock)
{
    return l->at[lock].is_queue ? l->at[lock].other : lock;
}

/* A lock, or the queue of one, that may be two locks in turn. */
static inline bool lh_nodes_doubtful(const struct lh_nodes *l, lh_lock lock)
{
    return l->at[lh_nodes_shown(l, lock)].is_doubtful;
}

/* Can it be part of a ring? */
static inline bool lh_nodes_counts(const struct lh_nodes *l, lh_lock lock)
{
    return lh_nodes_alive(l, lock) && !l->at[lock].is_withheld;
}

void lh_nodes_free(struct lh_nodes *l);

#endif
