/* SPDX-License-Identifier: MIT
 *
 * locks.h - what is known about each lock but its edges.
 *
 * A lock's number is its node in the graph.
 */
#ifndef LH_CORE_LOCKS_H
#define LH_CORE_LOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph.h"
#include "mem.h"
#include "order.h"

/* FREE -> ALIVE by lh_locks_add(); ALIVE -> DEAD, or FREE when it has no
 * edges, by lh_locks_end(); DEAD -> FREE by lh_locks_swept(). */
enum lh_lock_state { LH_LOCK_FREE, LH_LOCK_ALIVE, LH_LOCK_DEAD };

struct lh_lock_record {
    uint64_t class_key;
    uint32_t state; /* enum lh_lock_state */
    uint32_t stamp; /* of the owner's latest pass over a held set; of a free
                       lock that keeps its node: the next one */
};

struct lh_locks {
    struct lh_mem mem;
    struct lh_graph *graph;
    struct lh_lock_record *at; /* [0] is none */
    size_t capacity;
    uint32_t stamp;
    lh_lock spare; /* first of the free ones that keep their nodes */
    size_t ndead;
};

/* Returns 0 and the number, or ENOMEM. */
int lh_locks_add(struct lh_locks *l, uint64_t class_key, lh_lock *lock);

/* Ends a lock that is alive; others stay as they are. */
void lh_locks_end(struct lh_locks *l, lh_lock lock);

/* Takes the locks that are not alive, with their edges, out of the graph. */
void lh_locks_sweep(struct lh_locks *l);

/* Starts a pass: a lock's stamp equals l->stamp once it was set to it. */
void lh_locks_new_stamp(struct lh_locks *l);

static inline bool lh_locks_alive(const struct lh_locks *l, lh_lock lock)
{
    return lock < l->capacity && l->at[lock].state == LH_LOCK_ALIVE;
}

void lh_locks_free(struct lh_locks *l);

#endif
