/* SPDX-License-Identifier: MIT
 *
 * ordergraph.h - the locks of a report, and the orders in which they were
 * taken.
 *
 * Locks of several processes are one where they are of one class; of a class
 * with several locks in a process, the first is one with the first of another
 * process, and so on.
 */
#ifndef LH_TOOLS_ORDERGRAPH_H
#define LH_TOOLS_ORDERGRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "idmap.h"
#include "model.h"
#include "pool.h"

struct lh_content;
struct lh_findings_item;

/* The findings that something is in. */
struct lh_ordergraph_findings {
    const struct lh_findings_item *gravest; /* NULL if none */
    const struct lh_findings_item *last;
    size_t n;
};

struct lh_ordergraph_lock {
    size_t number; /* in the graph: 1 and up */
    const struct lh_model_process *process;
    uint64_t lock;
    struct lh_ordergraph_findings in;
};

/* One was held, the other requested. */
struct lh_ordergraph_order {
    struct lh_ordergraph_lock *holds, *wants;
    const struct lh_model_process *process; /* of the witness */
    struct lh_model_edge witness;           /* one request in this order */
    uint64_t times;                         /* 0: not known */
    bool is_uncounted;                      /* where a part is not known */
    size_t nprocesses;                      /* with a record of it */
    const struct lh_model_process *last;    /* of these */
    struct lh_ordergraph_findings in;
};

struct lh_ordergraph {
    struct lh_pool pool;
    struct lh_ordergraph_lock **locks; /* those of findings first */
    struct lh_ordergraph_order **orders;
    size_t nlocks, norders, locks_capacity, orders_capacity;
    struct lh_idmap by_lock, by_class, by_pair, counted, class_counts;
};

/* Zeroed before. Belongs to the content, which must stay. */
void lh_ordergraph_make(struct lh_ordergraph *g, const struct lh_content *c);
/* Names all locks: before the first is shown, so that no name has to change on
 * the way. */
void lh_ordergraph_name(const struct lh_ordergraph *g,
                        const struct lh_content *c);
/* The lock of a process in the graph, or NULL. */
const struct lh_ordergraph_lock *
lh_ordergraph_find(const struct lh_ordergraph *g,
                   const struct lh_model_process *p, uint64_t lock);
void lh_ordergraph_free(struct lh_ordergraph *g);

#endif
