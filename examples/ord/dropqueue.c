/* SPDX-License-Identifier: MIT
 * dropqueue.c - a queue that drops, and counts what it dropped. */
#include "ord/dropqueue.h"

#include <errno.h>

int ord_dropqueue_init(struct ord_dropqueue *queue, enum ord_drop which,
                       size_t capacity)
{
    if (which != ORD_DROP_NEWEST && which != ORD_DROP_OLDEST)
        return EINVAL;
    queue->which = which;
    queue->ndropped = 0;
    return ord_queue_init(&queue->queue, ORD_FIFO, capacity);
}

int ord_dropqueue_destroy(struct ord_dropqueue *queue)
{
    return ord_queue_destroy(&queue->queue);
}

static int put_dropping_newest(struct ord_queue *queue, void *item,
                               void **dropped)
{
    int rc = ord_queue_offer(queue, item);

    if (rc == EAGAIN)
        *dropped = item;
    return rc;
}

static int put_dropping_oldest(struct ord_queue *queue, void *item,
                               void **dropped)
{
    size_t ndropped = 0;
    int rc = ord_queue_displace(queue, item, dropped, &ndropped);

    return ndropped > 0 ? EAGAIN : rc;
}

int ord_dropqueue_put(struct ord_dropqueue *queue, void *item, void **dropped)
{
    int rc = queue->which == ORD_DROP_NEWEST
                 ? put_dropping_newest(&queue->queue, item, dropped)
                 : put_dropping_oldest(&queue->queue, item, dropped);

    /* Relaxed: a count alone, that orders nothing else. */
    if (rc == EAGAIN)
        __atomic_fetch_add(&queue->ndropped, 1, __ATOMIC_RELAXED);
    return rc;
}

int ord_dropqueue_get(struct ord_dropqueue *queue, void **item, ord_ns deadline)
{
    return ord_queue_get(&queue->queue, item, deadline);
}

size_t ord_dropqueue_close(struct ord_dropqueue *queue)
{
    return ord_queue_close(&queue->queue);
}

uint64_t ord_dropqueue_ndropped(const struct ord_dropqueue *queue)
{
    return __atomic_load_n(&queue->ndropped, __ATOMIC_RELAXED);
}
