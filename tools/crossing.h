/* SPDX-License-Identifier: MIT
 *
 * crossing.h - requests of several processes in one search for rings.
 *
 * The requests in their records go through the search and the judgement of the
 * preload (core/order.h) once more. Which locks, and which threads, of several
 * processes are one there is what its two users differ in: across.h and runs.h.
 */
#ifndef LH_TOOLS_CROSSING_H
#define LH_TOOLS_CROSSING_H

#include <stddef.h>
#include <stdint.h>

#include "core/order.h"
#include "idmap.h"
#include "merged.h"
#include "model.h"
#include "pool.h"

/* Numbers of the core, 1 and up, stand for a thing of a process. */
struct lh_crossing_things {
    struct lh_merged_thing *list; /* [0] is number 1 */
    size_t n, capacity;
    struct lh_idmap numbers; /* by a key: the number, as a pointer */
};

struct lh_crossing {
    struct lh_pool pool;
    struct lh_model_process *const *processes;
    size_t nprocesses;
    struct lh_segments *segments;
    struct lh_order *order;
    struct lh_crossing_things threads, locks, stacks;
    struct lh_idmap sites; /* the number of an innermost place */
    struct lh_merged merged;
    /* The number of a thing of a process, made where it is not known. */
    uint32_t (*thread_of)(struct lh_crossing *c, size_t process, uint64_t id);
    uint32_t (*lock_of)(struct lh_crossing *c, size_t process, uint64_t id);
};

/* The user has set processes and the two functions; the rest is zero. on_ring
 * is given c. */
void lh_crossing_begin(struct lh_crossing *c, lh_ring_fn on_ring);
void lh_crossing_end(struct lh_crossing *c);

/* Equal for one thing of one process only. */
uint64_t lh_crossing_key(size_t process, uint64_t id);

/* 0 if it is not there. */
uint32_t lh_crossing_number(const struct lh_idmap *map, uint64_t key);
void lh_crossing_set_number(struct lh_idmap *map, uint64_t key, size_t number);

/* Adds a thing, whose number is to be n + 1. */
void lh_crossing_add(struct lh_crossing_things *t, uint64_t key, size_t process,
                     uint64_t id);

/* A new thread; creator as for lh_segments_add(). */
uint32_t lh_crossing_add_thread(struct lh_crossing *c, uint64_t key,
                                size_t process, uint64_t id, uint32_t creator);
uint32_t lh_crossing_add_lock(struct lh_crossing *c, uint64_t key,
                              uint64_t class_key, size_t process, uint64_t id);

void lh_crossing_request(struct lh_crossing *c, size_t process,
                         const struct lh_model_dependency *d);

#endif
