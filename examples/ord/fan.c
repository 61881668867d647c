/* SPDX-License-Identifier: MIT
 * fan.c - one producer's side of several queues. */
#include "ord/fan.h"

#include <errno.h>

int ord_fan_init(struct ord_fan *fan, struct ord_queue *queues, size_t nqueues)
{
    if (!queues || nqueues == 0)
        return EINVAL;
    fan->queues = queues;
    fan->nqueues = nqueues;
    fan->turn = 0;
    return 0;
}

/* Relaxed: two producers need different turns, and nothing else of each other.
 */
static size_t next_turn(struct ord_fan *fan)
{
    return __atomic_fetch_add(&fan->turn, 1, __ATOMIC_RELAXED) % fan->nqueues;
}

static struct ord_queue *queue_at(const struct ord_fan *fan, size_t turn)
{
    return &fan->queues[turn % fan->nqueues];
}

int ord_fan_put(struct ord_fan *fan, void *item, ord_ns deadline)
{
    size_t turn = next_turn(fan);
    int rc = EPIPE;

    for (size_t i = 0; i < fan->nqueues && rc == EPIPE; i++)
        rc = ord_queue_put(queue_at(fan, turn + i), item, deadline);
    return rc;
}

int ord_fan_offer(struct ord_fan *fan, void *item)
{
    size_t turn = next_turn(fan);
    int rc = EPIPE;

    for (size_t i = 0; i < fan->nqueues; i++) {
        int refused = ord_queue_offer(queue_at(fan, turn + i), item);

        if (refused == 0)
            return 0;
        if (refused == EAGAIN)
            rc = EAGAIN;
    }
    return rc;
}

int ord_fan_broadcast(struct ord_fan *fan, void *item, ord_ns deadline,
                      size_t *ntakers)
{
    int late = 0;

    *ntakers = 0;
    for (size_t i = 0; i < fan->nqueues; i++) {
        int rc = ord_queue_put(&fan->queues[i], item, deadline);

        if (rc == 0)
            ++*ntakers;
        else if (rc == ETIMEDOUT)
            late = ETIMEDOUT;
    }
    if (late == 0 && *ntakers == 0)
        return EPIPE;
    return late;
}

void ord_fan_close(struct ord_fan *fan)
{
    for (size_t i = 0; i < fan->nqueues; i++)
        ord_queue_close(&fan->queues[i]);
}
