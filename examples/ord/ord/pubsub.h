/* SPDX-License-Identifier: MIT
 *
 * ord/pubsub.h - publish and subscribe: each subscriber gets each message, and
 * a slow one loses some, which is counted, but never holds up the publisher.
 *
 * Every subscription is a dropping queue of its own. A message is seen by those
 * who were subscribed when it was published; two messages are seen in the same
 * order by all who see both.
 *
 * Messages are pointers with many readers, and belong to the publisher, who
 * keeps them in place for as long as a subscriber may look.
 *
 * Memory:   a topic has none of its own; a subscription allocates in subscribe,
 *           holding no lock, and releases in destroy.
 * Threads:  all may run at once, but init and destroy run alone.
 * Errors:   EINVAL     an argument is out of its range
 *           ENOMEM     no memory
 *           EPIPE      the topic is closed; get: it is, or unsubscribed, and
 *                      nothing is left
 *           ENOENT     not subscribed, or no longer
 *           ETIMEDOUT  the deadline passed
 *           EBUSY      still subscribed; messages are left; a thread waits
 */
#ifndef ORD_PUBSUB_H
#define ORD_PUBSUB_H

#include "ord/dropqueue.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ord_topic;

struct ord_subscription {
    struct ord_dropqueue queue;
    struct ord_subscription *next; /* under the topic's lock */
    struct ord_topic *topic;
};

struct ord_topic {
    struct ord_mutex lock; /* protects the rest; taken before a queue's */
    struct ord_subscription *first;
    int closed;
};
#define ORD_TOPIC_INIT                                                         \
    {                                                                          \
        ORD_MUTEX_INIT, NULL, 0                                                \
    }

void ord_topic_init(struct ord_topic *topic);
int ord_topic_destroy(struct ord_topic *topic); /* EBUSY: subscribers */

/* Never waits for a subscriber. ndropped receives how many messages, this one
 * or older, were dropped for it. */
int ord_topic_publish(struct ord_topic *topic, void *message, size_t *ndropped);
/* EPIPE */

/* The end reaches every subscriber after the messages that are left. */
void ord_topic_close(struct ord_topic *topic);

int ord_subscribe(struct ord_topic *topic, struct ord_subscription *sub,
                  size_t capacity, enum ord_drop which);
/* EINVAL, ENOMEM, EPIPE */

/* No message comes any more; those that are left can be got. */
int ord_unsubscribe(struct ord_subscription *sub); /* ENOENT */

int ord_subscription_get(struct ord_subscription *sub, void **message,
                         ord_ns deadline); /* EPIPE, ETIMEDOUT */
uint64_t ord_subscription_ndropped(const struct ord_subscription *sub);

/* After ord_unsubscribe(), with nothing left, and before the topic's. */
int ord_subscription_destroy(struct ord_subscription *sub); /* EBUSY */

#ifdef __cplusplus
}
#endif

#endif
