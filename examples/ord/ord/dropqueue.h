/* SPDX-License-Identifier: MIT
 *
 * ord/dropqueue.h - a bounded queue whose producers never wait: it drops.
 *
 * When it is full, either the item that comes is dropped or the oldest that
 * waits, by the choice made at init. Each drop is counted and handed to the
 * producer who caused it, who alone then owns the item:
 *
 *     if (ord_dropqueue_put(&queue, item, &dropped) == EAGAIN)
 *         free(dropped);
 *
 * Consumers use it as they would an ord_queue. Once all is quiet,
 * put in = taken out + dropped + still there.
 *
 * Memory:   allocated by init; destroy releases it.
 * Threads:  all may run at once, but init and destroy run alone.
 * Errors:   EINVAL     an argument is out of its range
 *           ENOMEM     no memory
 *           EAGAIN     an item was dropped
 *           EPIPE      closed, and for a consumer empty too
 *           ETIMEDOUT  the deadline passed
 *           EBUSY      a thread waits, or items are left
 */
#ifndef ORD_DROPQUEUE_H
#define ORD_DROPQUEUE_H

#include "ord/queue.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ord_drop {
    ORD_DROP_NEWEST,
    ORD_DROP_OLDEST,
};

struct ord_dropqueue {
    struct ord_queue queue; /* FIFO */
    enum ord_drop which;
    uint64_t ndropped; /* atomic */
};

int ord_dropqueue_init(struct ord_dropqueue *queue, enum ord_drop which,
                       size_t capacity);                /* EINVAL, ENOMEM */
int ord_dropqueue_destroy(struct ord_dropqueue *queue); /* EBUSY */

/* EAGAIN says that *dropped received an item, perhaps the one that came;
 * otherwise *dropped is untouched. After EPIPE the item is not in. */
int ord_dropqueue_put(struct ord_dropqueue *queue, void *item, void **dropped);
/* EAGAIN, EPIPE */
int ord_dropqueue_get(struct ord_dropqueue *queue, void **item,
                      ord_ns deadline); /* EPIPE, ETIMEDOUT */
size_t ord_dropqueue_close(struct ord_dropqueue *queue);
uint64_t ord_dropqueue_ndropped(const struct ord_dropqueue *queue);

#ifdef __cplusplus
}
#endif

#endif
