/* SPDX-License-Identifier: MIT
 *
 * restock_release_first.c - broken_restock.c, repaired: never two at a time.
 *
 * Each step lets go of its lock before the next one takes its own. In between
 * the goods are neither in stock nor ordered, which the program must be able to
 * live with: whoever adds the two up sees them missing.
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
    stock -= n;
    ord_mutex_unlock(&inventory_lock);
    ord_mutex_lock(&orders_lock);
    ordered += n;
    ord_mutex_unlock(&orders_lock);
}

static void cancel(int n)
{
    ord_mutex_lock(&orders_lock);
    ordered -= n;
    ord_mutex_unlock(&orders_lock);
    ord_mutex_lock(&inventory_lock);
    stock += n;
    ord_mutex_unlock(&inventory_lock);
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
