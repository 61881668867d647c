/* SPDX-License-Identifier: MIT
 *
 * nodes.c - what is known about each lock but its edges.
 */
#include "nodes.h"

#include <errno.h>

#include "array.h"
#include "mix.h"

/* There is no memory for more locks than these bits count. */
enum { OTHER_BITS = (1 << 27) - 1 };

static lh_lock take_spare(struct lh_nodes *l)
{
    lh_lock lock = l->spare;
    l->spare = l->at[lock].stamp;
    return lock;
}

int lh_nodes_add(struct lh_nodes *l, uint64_t class_key, lh_lock *lock)
{
    lh_node node;
    /* Its number is at most one above those given out so far. */
    if (lh_array_reserve(l->mem, &l->at, &l->capacity, sizeof *l->at,
                         lh_graph_nnodes(l->graph) + 2) != 0)
        return ENOMEM;
    if (l->spare)
        node = take_spare(l);
    else if (lh_graph_add_node(l->graph, &node) != 0)
        return ENOMEM;
    l->at[node] = (struct lh_nodes_lock){
        .class_key = class_key,
        .state = LH_NODES_ALIVE,
    };
    *lock = node;
    return 0;
}

int lh_nodes_queue(struct lh_nodes *l, lh_lock lock, lh_lock *queue)
{
    *queue = l->at[lock].other;
    if (*queue)
        return 0;
    if (lh_nodes_add(l, lh_mix64(l->at[lock].class_key, 'q'), queue) != 0)
        return ENOMEM;
    l->at[*queue].is_queue = true;
    l->at[*queue].other = lock & OTHER_BITS;
    l->at[lock].other = *queue & OTHER_BITS;
    return 0;
}

static void end_one(struct lh_nodes *l, lh_lock lock)
{
    if (lh_graph_first_out(l->graph, lock) ||
        lh_graph_first_in(l->graph, lock)) {
        l->at[lock].state = LH_NODES_DEAD;
        l->ndead++;
        return;
    }
    l->at[lock].state = LH_NODES_FREE;
    l->at[lock].stamp = l->spare;
    l->spare = lock;
}

void lh_nodes_end(struct lh_nodes *l, lh_lock lock)
{
    if (!lh_nodes_alive(l, lock))
        return;
    if (l->at[lock].other)
        end_one(l, l->at[lock].other);
    end_one(l, lock);
}

static bool is_over(void *ctx, lh_node node)
{
    struct lh_nodes *l = ctx;
    if (l->at[node].state == LH_NODES_ALIVE)
        return false;
    l->at[node].state = LH_NODES_FREE;
    return true;
}

void lh_nodes_sweep(struct lh_nodes *l)
{
    lh_graph_sweep(l->graph, is_over, l);
    l->spare = 0;
    l->ndead = 0;
}

void lh_nodes_new_stamp(struct lh_nodes *l)
{
    if (++l->stamp != 0)
        return;
    for (size_t i = 0; i < l->capacity; i++) {
        if (l->at[i].state != LH_NODES_FREE)
            l->at[i].stamp = 0;
    }
    l->stamp = 1;
}

void lh_nodes_free(struct lh_nodes *l)
{
    lh_array_free(l->mem, l->at, l->capacity, sizeof *l->at);
    l->at = NULL;
}
