/* SPDX-License-Identifier: MIT
 *
 * broken_callback.c - a listener that is called with the lock held.
 *
 * What is wrong: publish() calls its listener under the topic's lock, and the
 * listener takes its own lock; another thread reads the topic with that lock
 * in hand. Who calls a function that he does not know must not hold a lock.
 * The repair: fixed_callback.c.
 */
#include <ord/base.h>
#include <stdio.h>

#include "pace.h"

static struct ord_mutex topic_lock = ORD_MUTEX_INIT;
static struct ord_mutex window_lock = ORD_MUTEX_INIT;
static int price = 50, shown;
static void (*listener)(int price);

static void publish(int new_price)
{
    ord_mutex_lock(&topic_lock);
    pace_meet(2);
    price = new_price;
    listener(new_price);
    ord_mutex_unlock(&topic_lock);
}

static int current_price(void)
{
    ord_mutex_lock(&topic_lock);
    int now = price;
    ord_mutex_unlock(&topic_lock);
    return now;
}

static void show(int new_price)
{
    ord_mutex_lock(&window_lock);
    shown = new_price;
    ord_mutex_unlock(&window_lock);
}

static void redraw(void)
{
    ord_mutex_lock(&window_lock);
    pace_meet(2);
    shown = current_price();
    ord_mutex_unlock(&window_lock);
}

static void *feed(void *unused)
{
    publish(55);
    pace_set(0);
    return unused;
}

static void *display(void *unused)
{
    pace_wait(0);
    redraw();
    return unused;
}

int main(void)
{
    pthread_t a, b;

    listener = show;
    pthread_create(&a, NULL, feed, NULL);
    pthread_create(&b, NULL, display, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("price %d, shown %d\n", price, shown);
    return 0;
}
