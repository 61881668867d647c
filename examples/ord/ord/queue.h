/* SPDX-License-Identifier: MIT
 *
 * ord/queue.h - the bounded queue, which can be closed and joined.
 *
 * put waits for room, offer refuses; get waits for an item. Once the queue is
 * closed, producers are refused at once, those that wait too; consumers get
 * what is left and only then EPIPE. So closing is the end marker, and as it
 * takes no slot it gets through a full queue.
 *
 * Who took an item may say when it is finished with ord_queue_task_done();
 * ord_queue_join() waits until this was said of every item that was put in.
 *
 * Items are pointers, never followed; NULL is an item like another. They stay
 * the producer's until they are in, and are the consumer's once they are out.
 *
 * Memory:   allocated by init; destroy releases it.
 * Threads:  all may run at once, but init and destroy run alone.
 * Errors:   EINVAL     an argument is out of its range
 *           ENOMEM     no memory
 *           EAGAIN     full or empty, and this call does not wait
 *           EPIPE      closed, and for a consumer empty too
 *           ETIMEDOUT  the deadline passed, and nothing was done
 *           ENOENT     the item is not in the queue
 *           EBUSY      a thread waits, or items are left
 */
#ifndef ORD_QUEUE_H
#define ORD_QUEUE_H

#include "ord/base.h"
#include "ord/items.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ord_queue {
    struct ord_mutex lock; /* protects the rest */
    struct ord_cond not_full;
    struct ord_cond not_empty;
    struct ord_cond all_done;
    struct ord_items items;
    size_t nunfinished; /* put in, and task_done has not been said */
    size_t max_depth;
    int closed;
};

int ord_queue_init(struct ord_queue *queue, enum ord_order order,
                   size_t capacity);            /* EINVAL, ENOMEM */
int ord_queue_destroy(struct ord_queue *queue); /* EBUSY */

/* A deadline that has passed, as 0, makes a try of it. Only a queue in order of
 * priority looks at the priority; that of ord_queue_put() is 0. */
int ord_queue_put(struct ord_queue *queue, void *item, ord_ns deadline);
int ord_queue_put_priority(struct ord_queue *queue, void *item, int priority,
                           ord_ns deadline);              /* EPIPE, ETIMEDOUT */
int ord_queue_offer(struct ord_queue *queue, void *item); /* EPIPE, EAGAIN */

/*
 * Puts the item in without waiting; if the queue is full, the oldest item goes
 * (by priority: the least urgent that waits), and counts as finished.
 *
 * displaced    receives the item that had to go, if one had to.
 * ndisplaced   receives 0 or 1.
 */
int ord_queue_displace(struct ord_queue *queue, void *item, void **displaced,
                       size_t *ndisplaced); /* EPIPE */

int ord_queue_get(struct ord_queue *queue, void **item, ord_ns deadline);
/* EPIPE, ETIMEDOUT */
int ord_queue_poll(struct ord_queue *queue, void **item); /* EPIPE, EAGAIN */

/* Takes back the first such item, which then counts as finished. */
int ord_queue_remove(struct ord_queue *queue, const void *item); /* ENOENT */

/* Closes it for good. Returns how many items are left to the consumers. */
size_t ord_queue_close(struct ord_queue *queue);

int ord_queue_task_done(struct ord_queue *queue);
/* EINVAL: said more often than items came */
int ord_queue_join(struct ord_queue *queue, ord_ns deadline); /* ETIMEDOUT */

/* The items in it now, and the most that there ever were. */
size_t ord_queue_depth(struct ord_queue *queue);
size_t ord_queue_max_depth(struct ord_queue *queue);

#ifdef __cplusplus
}
#endif

#endif
