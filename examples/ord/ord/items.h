/* SPDX-License-Identifier: MIT
 *
 * ord/items.h - the items of a queue, kept in the order they are to leave in.
 *
 * First in, first out and last in, first out are a ring, so constant time to
 * add and to take; by priority is a binary heap, logarithmic, in which equal
 * priorities leave in the order they came.
 *
 * Memory:   allocated by init, released by destroy, nothing between.
 * Threads:  no locking inside: the queue's lock protects it.
 * Errors:   EINVAL  an unknown order, or no capacity
 *           ENOMEM  no memory
 *           ENOENT  the item is not there
 */
#ifndef ORD_ITEMS_H
#define ORD_ITEMS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ord_order {
    ORD_FIFO,
    ORD_LIFO,
    ORD_PRIORITY, /* the highest priority first */
};

struct ord_item {
    void *value;
    int priority;
    uint64_t turn; /* how many came before it */
};

struct ord_items {
    struct ord_item *slots;
    enum ord_order order;
    size_t capacity;
    size_t n;
    size_t head; /* of the ring; 0 in a heap */
    uint64_t nturns;
};

int ord_items_init(struct ord_items *items, enum ord_order order,
                   size_t capacity); /* EINVAL, ENOMEM */
void ord_items_destroy(struct ord_items *items);

/* The caller has made sure that there is room. */
void ord_items_add(struct ord_items *items, void *value, int priority);

/* The next item to leave, or the one to do without: the oldest of a ring, the
 * last to leave of a heap, for which it looks at each. It may not be empty. */
void *ord_items_take(struct ord_items *items);
void *ord_items_displace(struct ord_items *items);

/* Takes the first such item out, wherever it stands; looks at each. */
int ord_items_remove(struct ord_items *items, const void *value); /* ENOENT */

#ifdef __cplusplus
}
#endif

#endif
