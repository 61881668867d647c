/* SPDX-License-Identifier: MIT
 *
 * restock_one_order.c - broken_restock.c, repaired: one order for everybody.
 *
 * Orders before inventory, wherever both are needed. The shortest repair, when
 * one can see all the places.
 */
#include <ord/base.h>
#include <stdio.h>

#include "pace.h"

static struct ord_mutex orders_lock = ORD_MUTEX_INIT;
static struct ord_mutex inventory_lock = ORD_MUTEX_INIT;
static int stock = 10, ordered;

static void reserve(int n)
{
    ord_mutex_lock(&orders_lock);
    ord_mutex_lock(&inventory_lock);
    stock -= n;
    ordered += n;
    ord_mutex_unlock(&inventory_lock);
    ord_mutex_unlock(&orders_lock);
}

static void cancel(int n)
{
    ord_mutex_lock(&orders_lock);
    pace_meet(2);
    ordered -= n;
    ord_mutex_lock(&inventory_lock);
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
