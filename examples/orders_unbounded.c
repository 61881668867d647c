/* SPDX-License-Identifier: MIT
 *
 * orders_unbounded.c - the first version: a list, and a consumer that polls.
 *
 * It works, and that is the trouble: nothing holds the producer back, so the
 * list is as long as there are orders, and the consumer burns a processor to
 * find out that there is nothing yet. order_queue.c is the one to copy.
 */
#include <ord/base.h>
#include <stdio.h>

enum { ORDERS = 1000 };

static struct ord_mutex lock = ORD_MUTEX_INIT;
static int list[ORDERS], nproduced, nprocessed, peak; /* under lock */

static void *producer(void *unused)
{
    for (int i = 0; i < ORDERS; i++) {
        ord_mutex_lock(&lock);
        list[nproduced++] = i;
        if (nproduced - nprocessed > peak)
            peak = nproduced - nprocessed;
        ord_mutex_unlock(&lock);
    }
    return unused;
}

static int process_one(void)
{
    int left;

    ord_mutex_lock(&lock);
    if (nprocessed < nproduced)
        nprocessed += list[nprocessed] >= 0;
    left = ORDERS - nprocessed;
    ord_mutex_unlock(&lock);
    return left;
}

int main(void)
{
    pthread_t t;

    /* The consumer is slow: it starts when all has been produced. */
    pthread_create(&t, NULL, producer, NULL);
    pthread_join(t, NULL);
    while (process_one() > 0)
        ;
    printf("%d produced, %d processed, peak depth %d\n", nproduced, nprocessed,
           peak);
    return 0;
}
