/* SPDX-License-Identifier: MIT
 *
 * restock_with_timeout.c - broken_restock.c, repaired: give up and try again.
 *
 * cancel() waits for its second lock for a while only; then it lets go of the
 * first and starts over. For when the order cannot be changed, as in a library
 * that calls back. The ring is still there, and heals itself: lockhound lists
 * it as conditional.
 */
#include <ord/base.h>
#include <stdio.h>

#include "pace.h"

static struct ord_mutex orders_lock = ORD_MUTEX_INIT;
static struct ord_mutex inventory_lock = ORD_MUTEX_INIT;
static int stock = 10, ordered;

static void reserve(int n)
{
    ord_mutex_lock(&inventory_lock);
    pace_meet(2);
    stock -= n;
    ord_mutex_lock(&orders_lock);
    ordered += n;
    ord_mutex_unlock(&orders_lock);
    ord_mutex_unlock(&inventory_lock);
}

static void cancel(int n)
{
    for (;;) {
        ord_mutex_lock(&orders_lock);
        if (ord_mutex_timedlock(&inventory_lock,
                                ord_deadline_after(10 * ORD_MS)) == 0)
            break;
        ord_mutex_unlock(&orders_lock);
    }
    ordered -= n;
    stock += n;
    ord_mutex_unlock(&inventory_lock);
    ord_mutex_unlock(&orders_lock);
}

static void *customer(void *unused)
{
    reserve(3);
    pace_set(0);
    return unused;
}

static void *clerk(void *unused)
{
    pace_wait(0);
    cancel(1);
    return unused;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, customer, NULL);
    pthread_create(&b, NULL, clerk, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("stock %d, ordered %d\n", stock, ordered);
    return 0;
}
