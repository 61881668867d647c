/* SPDX-License-Identifier: MIT
 *
 * order_pool.c - eight orders are priced by three workers over a queue of four.
 *
 * A task that fails says so through its future and does not take its worker
 * with it; shutting down runs what is queued and refuses the rest.
 */
#include <errno.h>
#include <ord/pool.h>
#include <stdint.h>
#include <stdio.h>

enum { ORDERS = 8, WORKERS = 3, QUEUE = 4, DECLINED = 5 };

static int price_order(void *number, void **result)
{
    intptr_t n = (intptr_t)number;

    if (n == DECLINED)
        return EACCES;
    *result = (void *)(50 + 25 * n);
    return 0;
}

/* Returns whether it succeeded. */
static int print(int number, struct ord_future *future)
{
    void *price;
    int error;

    ord_future_wait(future, ORD_NEVER);
    ord_future_result(future, &error, &price);
    if (error)
        printf("order %d: card declined\n", number);
    else
        printf("order %d: %d\n", number, (int)(intptr_t)price);
    return error == 0;
}

int main(void)
{
    struct ord_future futures[ORDERS], late;
    struct ord_pool *pool;
    int nfinished = 0, nsucceeded = 0;
    size_t n;

    if (ord_pool_create(&pool, WORKERS, QUEUE) != 0)
        return 1;
    for (intptr_t i = 0; i < ORDERS; i++) {
        ord_future_init(&futures[i]);
        ord_pool_submit(pool, &futures[i], price_order, (void *)(i + 1),
                        ORD_NEVER);
    }
    for (int i = 0; i < ORDERS; i++) {
        nsucceeded += print(i + 1, &futures[i]);
        nfinished++;
    }
    printf("%d succeeded\n", nsucceeded);
    printf("finished %d of %d with %u threads\n", nfinished, ORDERS,
           ord_pool_nworkers(pool));
    ord_pool_shutdown(pool, ORD_DRAIN, &n);
    ord_future_init(&late);
    printf("submit after shutdown: %s\n",
           ord_pool_submit(pool, &late, price_order, NULL, ORD_NEVER) == EPIPE
               ? "refused"
               : "accepted");
    ord_pool_destroy(pool);
    return 0;
}
