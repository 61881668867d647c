/* SPDX-License-Identifier: MIT
 * event.c - a flag that threads wait for. */
#include "ord/event.h"

#include "retire.h"

void ord_event_init(struct ord_event *event)
{
    ord_mutex_init(&event->mutex);
    ord_cond_init(&event->changed);
    event->is_set = 0;
    event->nsets = 0;
}

int ord_event_destroy(struct ord_event *event)
{
    return retire(&event->mutex, &event->changed);
}

void ord_event_set(struct ord_event *event)
{
    ord_mutex_lock(&event->mutex);
    event->is_set = 1;
    event->nsets++;
    ord_cond_broadcast(&event->changed);
    ord_mutex_unlock(&event->mutex);
}

void ord_event_clear(struct ord_event *event)
{
    ord_mutex_lock(&event->mutex);
    event->is_set = 0;
    ord_mutex_unlock(&event->mutex);
}

struct waiter {
    const struct ord_event *event;
    uint64_t nsets; /* when it came */
};

static int is_released(void *arg)
{
    const struct waiter *waiter = arg;

    return waiter->event->is_set || waiter->event->nsets != waiter->nsets;
}

int ord_event_timedwait(struct ord_event *event, ord_ns deadline)
{
    struct waiter waiter = { .event = event };
    int rc;

    ord_mutex_lock(&event->mutex);
    waiter.nsets = event->nsets;
    rc = ord_cond_timedwait(&event->changed, &event->mutex, is_released,
                            &waiter, deadline);
    ord_mutex_unlock(&event->mutex);
    return rc;
}

void ord_event_wait(struct ord_event *event)
{
    ord_event_timedwait(event, ORD_NEVER);
}

int ord_event_is_set(struct ord_event *event)
{
    int is_set;

    ord_mutex_lock(&event->mutex);
    is_set = event->is_set;
    ord_mutex_unlock(&event->mutex);
    return is_set;
}
