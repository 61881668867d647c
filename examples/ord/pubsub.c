/* SPDX-License-Identifier: MIT
 * pubsub.c - publish and subscribe. */
#include "ord/pubsub.h"

#include <errno.h>
#include <stdbool.h>

void ord_topic_init(struct ord_topic *topic)
{
    ord_mutex_init(&topic->lock);
    topic->first = NULL;
    topic->closed = 0;
}

int ord_topic_destroy(struct ord_topic *topic)
{
    bool busy;

    ord_mutex_lock(&topic->lock);
    busy = topic->first != NULL;
    ord_mutex_unlock(&topic->lock);
    return busy ? EBUSY : ord_mutex_destroy(&topic->lock);
}

/* A dropping queue never waits, so the topic's lock may be held: that gives all
 * subscribers one order. */
int ord_topic_publish(struct ord_topic *topic, void *message, size_t *ndropped)
{
    int rc = 0;

    ord_mutex_lock(&topic->lock);
    if (topic->closed) {
        rc = EPIPE;
    } else {
        *ndropped = 0;
        for (struct ord_subscription *s = topic->first; s; s = s->next) {
            void *dropped;
            if (ord_dropqueue_put(&s->queue, message, &dropped) == EAGAIN)
                ++*ndropped;
        }
    }
    ord_mutex_unlock(&topic->lock);
    return rc;
}

void ord_topic_close(struct ord_topic *topic)
{
    ord_mutex_lock(&topic->lock);
    topic->closed = 1;
    for (struct ord_subscription *s = topic->first; s; s = s->next)
        ord_dropqueue_close(&s->queue);
    ord_mutex_unlock(&topic->lock);
}

int ord_subscribe(struct ord_topic *topic, struct ord_subscription *sub,
                  size_t capacity, enum ord_drop which)
{
    int rc = ord_dropqueue_init(&sub->queue, which, capacity);

    if (rc != 0)
        return rc;
    sub->topic = topic;
    ord_mutex_lock(&topic->lock);
    if (topic->closed) {
        rc = EPIPE;
    } else {
        sub->next = topic->first;
        topic->first = sub;
    }
    ord_mutex_unlock(&topic->lock);
    if (rc != 0)
        ord_dropqueue_destroy(&sub->queue);
    return rc;
}

/* The link that points to the subscription, or the last, which is NULL. Called
 * with the topic's lock held. */
static struct ord_subscription **link_to(const struct ord_subscription *sub)
{
    struct ord_subscription **link = &sub->topic->first;

    while (*link && *link != sub)
        link = &(*link)->next;
    return link;
}

int ord_unsubscribe(struct ord_subscription *sub)
{
    struct ord_subscription **link;
    int rc = ENOENT;

    ord_mutex_lock(&sub->topic->lock);
    link = link_to(sub);
    if (*link) {
        *link = sub->next;
        ord_dropqueue_close(&sub->queue);
        rc = 0;
    }
    ord_mutex_unlock(&sub->topic->lock);
    return rc;
}

int ord_subscription_get(struct ord_subscription *sub, void **message,
                         ord_ns deadline)
{
    return ord_dropqueue_get(&sub->queue, message, deadline);
}

uint64_t ord_subscription_ndropped(const struct ord_subscription *sub)
{
    return ord_dropqueue_ndropped(&sub->queue);
}

int ord_subscription_destroy(struct ord_subscription *sub)
{
    bool subscribed;

    ord_mutex_lock(&sub->topic->lock);
    subscribed = *link_to(sub) != NULL;
    ord_mutex_unlock(&sub->topic->lock);
    return subscribed ? EBUSY : ord_dropqueue_destroy(&sub->queue);
}
