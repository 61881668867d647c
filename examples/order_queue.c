/* SPDX-License-Identifier: MIT
 *
 * order_queue.c - producers and consumers over a bounded queue.
 *
 * Two producers put orders 1 to 5 and 6 to 10, two consumers take them, and
 * the queue holds two: a fast producer waits instead of filling the memory.
 * Then: a queue of three refuses what it has no room for, and closing lets
 * consumers finish what is in it. orders_unbounded.c is what to avoid.
 */
#include <errno.h>
#include <ord/queue.h>
#include <stdint.h>
#include <stdio.h>

enum { CAPACITY = 2, EACH = 5 };

static struct ord_queue queue;
static struct ord_mutex taken_lock = ORD_MUTEX_INIT;
static int taken[2 * EACH], ntaken; /* as they left; under taken_lock */

static void *producer(void *first)
{
    for (intptr_t i = 0; i < EACH; i++)
        ord_queue_put(&queue, (void *)((intptr_t)first + i), ORD_NEVER);
    return NULL;
}

/* The order in which orders leave is the queue's only if taking one and writing
 * it down are one step. */
static int take_one(void)
{
    void *item;
    int rc;

    ord_mutex_lock(&taken_lock);
    rc = ord_queue_get(&queue, &item, ORD_NEVER);
    if (rc == 0)
        taken[ntaken++] = (int)(intptr_t)item;
    ord_mutex_unlock(&taken_lock);
    return rc;
}

static void *consumer(void *unused)
{
    while (take_one() == 0)
        ord_queue_task_done(&queue);
    return unused;
}

/* Do the orders from..from+EACH-1 leave in order? */
static int in_order(int from)
{
    int next = from;

    for (int i = 0; i < ntaken; i++)
        if (taken[i] >= from && taken[i] < from + EACH && taken[i] != next++)
            return 0;
    return next == from + EACH;
}

static void two_and_two(void)
{
    pthread_t p[2], c[2];

    ord_queue_init(&queue, ORD_FIFO, CAPACITY);
    for (intptr_t i = 0; i < 2; i++) {
        pthread_create(&p[i], NULL, producer, (void *)(1 + i * EACH));
        pthread_create(&c[i], NULL, consumer, NULL);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(p[i], NULL);
    ord_queue_close(&queue);
    for (int i = 0; i < 2; i++)
        pthread_join(c[i], NULL);
    printf("processed %d orders\n", ntaken);
    printf("depth %s above %d\n",
           ord_queue_max_depth(&queue) > CAPACITY ? "went" : "never", CAPACITY);
    printf("each producer's orders left in order: %s\n",
           in_order(1) && in_order(1 + EACH) ? "yes" : "no");
    ord_queue_destroy(&queue);
}

static void refuse_and_close(void)
{
    void *item;
    int ndrained = 0, rc;

    ord_queue_init(&queue, ORD_FIFO, 3);
    for (intptr_t i = 1; i <= 5; i++)
        printf("offer %d: %s\n", (int)i,
               ord_queue_offer(&queue, (void *)i) == 0 ? "accepted"
                                                       : "rejected");
    ord_queue_close(&queue);
    printf("put after close: %s\n",
           ord_queue_put(&queue, NULL, ORD_NEVER) == EPIPE ? "refused"
                                                           : "accepted");
    while ((rc = ord_queue_get(&queue, &item, ORD_NEVER)) == 0)
        ndrained++;
    printf("drained %d, then %s\n", ndrained,
           rc == EPIPE ? "closed" : "something else");
    ord_queue_destroy(&queue);
}

int main(void)
{
    two_and_two();
    refuse_and_close();
    return 0;
}
