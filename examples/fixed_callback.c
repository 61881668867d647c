/* SPDX-License-Identifier: MIT
 *
 * fixed_callback.c - a listener that is called after the lock was let go.
 *
 * publish() changes the price under its lock and calls the listener without
 * it. Two calls may then come in the other order, so the listener asks for the
 * present price instead of believing the one that it was given.
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
    price = new_price;
    ord_mutex_unlock(&topic_lock);
    listener(new_price);
}

static int current_price(void)
{
    ord_mutex_lock(&topic_lock);
    int now = price;
    ord_mutex_unlock(&topic_lock);
    return now;
}

static void redraw(void)
{
    ord_mutex_lock(&window_lock);
    shown = current_price();
    ord_mutex_unlock(&window_lock);
}

static void show(int new_price)
{
    (void)new_price;
    redraw();
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
