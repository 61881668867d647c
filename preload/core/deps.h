/* SPDX-License-Identifier: MIT
 *
 * deps.h - dependencies, each known once, and who was seen with them.
 *
 * Two requests are the same dependency when they want the same lock in the same
 * mode, wait in the same way, and hold the same locks in the same modes, in
 * whatever order those were taken. A witness is a thread that made it.
 *
 * Memory:   48 bytes a dependency, 8 a held lock; 24 a witness and 8 more for
 *           each held lock. Blocks are used again after lh_deps_sweep().
 * Threads:  no locking inside.
 */
#ifndef LH_CORE_DEPS_H
#define LH_CORE_DEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph.h"
#include "mem.h"
#include "nodes.h"
#include "order.h"
#include "table.h"
#include "words.h"

/* Slots are numbers; 0 is none. Their order is that of their serials. */
typedef uint32_t lh_dep_slot;

struct lh_dep {
    uint64_t times;
    uint32_t hash;
    uint32_t next_hash;
    uint32_t serial;
    lh_lock wanted;
    uint32_t held;    /* offset of nheld pairs of words, room for `room` */
    uint32_t witness; /* offset of the first of a list, by age */
    uint16_t nheld;
    uint16_t room; /* what the blocks of held locks and witnesses are made for:
                      a sweep lowers nheld only */
    uint8_t mode, wait;
    uint8_t nwitnesses; /* up to LH_MAX_WITNESSES */
};

/* The words of a witness; from the last on, the stack of the request and
 * then of each held lock, in the dependency's order. */
enum {
    LH_WITNESS_THREAD,
    LH_WITNESS_FIRST,  /* index of the first segment */
    LH_WITNESS_NEWEST, /* index of the newest segment */
    LH_WITNESS_NEXT,   /* offset of the next witness, or 0 */
    LH_WITNESS_GONE,   /* a bit for each held lock that has ended since and was
                          taken out: a gate that two sides had in common still
                          counts. By a hash, so that now and then two that differ
                          are taken for one until it is seen without */
    LH_WITNESS_PLACES
};

struct lh_deps {
    struct lh_mem mem;
    struct lh_graph *graph;
    struct lh_nodes *nodes;
    struct lh_words words;
    struct lh_dep *at; /* [0] is none */
    size_t capacity;
    uint32_t ndeps;
    uint32_t last_serial;
    uint32_t epoch; /* grows when slots change */
    struct lh_table table;
    struct lh_held *held; /* scratch: held locks without repetitions */
    size_t held_capacity;
};

int lh_deps_init(struct lh_deps *d, struct lh_mem mem, struct lh_graph *graph,
                 struct lh_nodes *nodes);
void lh_deps_free(struct lh_deps *d);

enum lh_news {
    LH_NEWS_NONE,
    LH_NEWS_SEGMENT,    /* a known thread in another segment */
    LH_NEWS_THREAD,     /* a thread not known to have made it */
    LH_NEWS_DEPENDENCY, /* all new */
};

/*
 * Finds or adds the dependency of a request, with its edges and its witness,
 * and counts it once. Held locks that are listed twice or have ended do not
 * count; without any left, or when the lock wanted is held or has ended, there
 * is nothing to learn and the slot is 0.
 * Returns 0, or ENOMEM, and then no dependency or witness was added.
 */
int lh_deps_take(struct lh_deps *d, const struct lh_request *request,
                 lh_dep_slot *slot, enum lh_news *news);

/*
 * Forgets what can not be part of a ring any more as its locks have ended, and
 * takes ended locks out of the graph. Dependencies that held other locks, too,
 * go on without the ended ones.
 */
void lh_deps_sweep(struct lh_deps *d);

/* The dependency that differs from this one in the lock wanted only; or 0. */
lh_dep_slot lh_deps_find_like(const struct lh_deps *d, const struct lh_dep *dep,
                              lh_lock wanted);

/* Calls fn for each dependency that wants or holds a lock, as its first witness
 * made it. What request points to is valid during the call only. */
void lh_deps_each_of(struct lh_deps *d, lh_lock lock, lh_request_fn fn,
                     void *ctx);

/* The slot of a serial, or 0. */
lh_dep_slot lh_deps_find_serial(const struct lh_deps *d, uint32_t serial);

/* The first dependency that holds `from` and wants `to`, and those after. */
static inline lh_dep_slot lh_deps_first_on(const struct lh_deps *d,
                                           lh_edge edge)
{
    return *lh_graph_edge_word(d->graph, edge);
}
lh_dep_slot lh_deps_next_on(const struct lh_deps *d, lh_dep_slot slot,
                            lh_lock from);

static inline lh_lock lh_deps_held_lock(const struct lh_deps *d,
                                        const struct lh_dep *dep, size_t i)
{
    return d->words.at[dep->held + 2 * i] >> 1;
}

static inline uint8_t lh_deps_held_mode(const struct lh_deps *d,
                                        const struct lh_dep *dep, size_t i)
{
    return d->words.at[dep->held + 2 * i] & 1;
}

/* Which of the held locks it is; nheld when none. */
size_t lh_deps_held_index(const struct lh_deps *d, const struct lh_dep *dep,
                          lh_lock lock);

/* Words of a witness: lh_deps_witness(d, w)[LH_WITNESS_THREAD] etc. */
static inline const uint32_t *lh_deps_witness(const struct lh_deps *d,
                                              uint32_t witness)
{
    return &d->words.at[witness];
}

/* Where a witness made the request, and where it took its ith held lock. */
static inline uint32_t lh_witness_wants_stack(const uint32_t *witness)
{
    return witness[LH_WITNESS_PLACES];
}
static inline uint32_t lh_witness_held_stack(const uint32_t *witness, size_t i)
{
    return witness[LH_WITNESS_PLACES + 1 + i];
}

#endif
