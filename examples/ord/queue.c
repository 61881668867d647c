/* SPDX-License-Identifier: MIT
 * queue.c - the bounded queue. */
#include "ord/queue.h"

#include <errno.h>
#include <stdbool.h>

int ord_queue_init(struct ord_queue *queue, enum ord_order order,
                   size_t capacity)
{
    int rc = ord_items_init(&queue->items, order, capacity);

    if (rc != 0)
        return rc;
    ord_mutex_init(&queue->lock);
    ord_cond_init(&queue->not_full);
    ord_cond_init(&queue->not_empty);
    ord_cond_init(&queue->all_done);
    queue->nunfinished = 0;
    queue->max_depth = 0;
    queue->closed = 0;
    return 0;
}

int ord_queue_destroy(struct ord_queue *queue)
{
    bool busy;

    ord_mutex_lock(&queue->lock);
    busy = queue->items.n > 0 || queue->not_full.nwaiting > 0 ||
           queue->not_empty.nwaiting > 0 || queue->all_done.nwaiting > 0;
    ord_mutex_unlock(&queue->lock);
    if (busy)
        return EBUSY;
    ord_cond_destroy(&queue->not_full);
    ord_cond_destroy(&queue->not_empty);
    ord_cond_destroy(&queue->all_done);
    ord_items_destroy(&queue->items);
    return ord_mutex_destroy(&queue->lock);
}

/* The rest of the static functions are called with the lock held. */

static bool is_full(const struct ord_queue *queue)
{
    return queue->items.n == queue->items.capacity;
}

static int producer_may_go(void *arg)
{
    const struct ord_queue *queue = arg;

    return queue->closed || !is_full(queue);
}

static int consumer_may_go(void *arg)
{
    const struct ord_queue *queue = arg;

    return queue->closed || queue->items.n > 0;
}

static int nothing_unfinished(void *arg)
{
    const struct ord_queue *queue = arg;

    return queue->nunfinished == 0;
}

static void add(struct ord_queue *queue, void *item, int priority)
{
    ord_items_add(&queue->items, item, priority);
    queue->nunfinished++;
    if (queue->items.n > queue->max_depth)
        queue->max_depth = queue->items.n;
    if (queue->not_empty.nwaiting > 0)
        ord_cond_signal(&queue->not_empty);
}

static void made_room(struct ord_queue *queue)
{
    if (queue->not_full.nwaiting > 0)
        ord_cond_signal(&queue->not_full);
}

static void finish_one(struct ord_queue *queue)
{
    if (--queue->nunfinished == 0)
        ord_cond_broadcast(&queue->all_done);
}

int ord_queue_put_priority(struct ord_queue *queue, void *item, int priority,
                           ord_ns deadline)
{
    int rc;

    ord_mutex_lock(&queue->lock);
    rc = ord_cond_timedwait(&queue->not_full, &queue->lock, producer_may_go,
                            queue, deadline);
    if (rc == 0 && queue->closed)
        rc = EPIPE;
    if (rc == 0)
        add(queue, item, priority);
    ord_mutex_unlock(&queue->lock);
    return rc;
}

int ord_queue_put(struct ord_queue *queue, void *item, ord_ns deadline)
{
    return ord_queue_put_priority(queue, item, 0, deadline);
}

int ord_queue_offer(struct ord_queue *queue, void *item)
{
    int rc = 0;

    ord_mutex_lock(&queue->lock);
    if (queue->closed)
        rc = EPIPE;
    else if (is_full(queue))
        rc = EAGAIN;
    else
        add(queue, item, 0);
    ord_mutex_unlock(&queue->lock);
    return rc;
}

int ord_queue_displace(struct ord_queue *queue, void *item, void **displaced,
                       size_t *ndisplaced)
{
    int rc = 0;

    ord_mutex_lock(&queue->lock);
    if (queue->closed) {
        rc = EPIPE;
    } else {
        *ndisplaced = is_full(queue);
        if (*ndisplaced)
            *displaced = ord_items_displace(&queue->items);
        add(queue, item, 0);
        if (*ndisplaced)
            finish_one(queue);
    }
    ord_mutex_unlock(&queue->lock);
    return rc;
}

int ord_queue_get(struct ord_queue *queue, void **item, ord_ns deadline)
{
    int rc;

    ord_mutex_lock(&queue->lock);
    rc = ord_cond_timedwait(&queue->not_empty, &queue->lock, consumer_may_go,
                            queue, deadline);
    if (rc == 0 && queue->items.n == 0)
        rc = EPIPE;
    if (rc == 0) {
        *item = ord_items_take(&queue->items);
        made_room(queue);
    }
    ord_mutex_unlock(&queue->lock);
    return rc;
}

int ord_queue_poll(struct ord_queue *queue, void **item)
{
    int rc = ord_queue_get(queue, item, 0);

    return rc == ETIMEDOUT ? EAGAIN : rc;
}

int ord_queue_remove(struct ord_queue *queue, const void *item)
{
    int rc;

    ord_mutex_lock(&queue->lock);
    rc = ord_items_remove(&queue->items, item);
    if (rc == 0) {
        made_room(queue);
        finish_one(queue);
    }
    ord_mutex_unlock(&queue->lock);
    return rc;
}

size_t ord_queue_close(struct ord_queue *queue)
{
    size_t nleft;

    ord_mutex_lock(&queue->lock);
    queue->closed = 1;
    nleft = queue->items.n;
    ord_cond_broadcast(&queue->not_full);
    ord_cond_broadcast(&queue->not_empty);
    ord_mutex_unlock(&queue->lock);
    return nleft;
}

int ord_queue_task_done(struct ord_queue *queue)
{
    int rc = 0;

    ord_mutex_lock(&queue->lock);
    if (queue->nunfinished == queue->items.n)
        rc = EINVAL;
    else
        finish_one(queue);
    ord_mutex_unlock(&queue->lock);
    return rc;
}

int ord_queue_join(struct ord_queue *queue, ord_ns deadline)
{
    int rc;

    ord_mutex_lock(&queue->lock);
    rc = ord_cond_timedwait(&queue->all_done, &queue->lock, nothing_unfinished,
                            queue, deadline);
    ord_mutex_unlock(&queue->lock);
    return rc;
}

size_t ord_queue_depth(struct ord_queue *queue)
{
    size_t n;

    ord_mutex_lock(&queue->lock);
    n = queue->items.n;
    ord_mutex_unlock(&queue->lock);
    return n;
}

size_t ord_queue_max_depth(struct ord_queue *queue)
{
    size_t n;

    ord_mutex_lock(&queue->lock);
    n = queue->max_depth;
    ord_mutex_unlock(&queue->lock);
    return n;
}
