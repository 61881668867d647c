/* SPDX-License-Identifier: MIT
 *
 * book.c - an order book with a single writer.
 *
 * The book itself has no lock: one thread owns it and applies what is sent to
 * it. Four traders send into a mailbox, which has the only lock there is, and
 * which is never held while the book is changed. Where nothing is shared there
 * is nothing to lock in the wrong order.
 */
#include <ord/base.h>
#include <stdio.h>

enum { TRADERS = 4, EACH = 250, MAILBOX = 8 };

struct order {
    int price, quantity; /* quantity 0: no more from this trader */
};

static struct ord_mutex lock = ORD_MUTEX_INIT;
static struct ord_cond changed = ORD_COND_INIT;
static struct order mailbox[MAILBOX]; /* a ring; under lock, like the rest */
static unsigned nput, ntaken;

static int has_room(void *unused)
{
    (void)unused;
    return nput - ntaken < MAILBOX;
}

static int has_mail(void *unused)
{
    (void)unused;
    return nput != ntaken;
}

static void send(struct order order)
{
    ord_mutex_lock(&lock);
    ord_cond_wait(&changed, &lock, has_room, NULL);
    mailbox[nput++ % MAILBOX] = order;
    ord_cond_broadcast(&changed);
    ord_mutex_unlock(&lock);
}

static struct order receive(void)
{
    struct order order;

    ord_mutex_lock(&lock);
    ord_cond_wait(&changed, &lock, has_mail, NULL);
    order = mailbox[ntaken++ % MAILBOX];
    ord_cond_broadcast(&changed);
    ord_mutex_unlock(&lock);
    return order;
}

static void *trader(void *unused)
{
    for (int i = 0; i < EACH; i++)
        send((struct order){ 50 + i % 10, 1 });
    send((struct order){ 0, 0 });
    return unused;
}

int main(void)
{
    pthread_t t[TRADERS];
    int depth[100] = { 0 }, norders = 0, best = 0;

    for (int i = 0; i < TRADERS; i++)
        pthread_create(&t[i], NULL, trader, NULL);
    for (int ended = 0; ended < TRADERS;) {
        struct order order = receive();
        if (order.quantity == 0) {
            ended++;
            continue;
        }
        depth[order.price] += order.quantity;
        best = order.price > best ? order.price : best;
        norders++;
    }
    for (int i = 0; i < TRADERS; i++)
        pthread_join(t[i], NULL);
    printf("%d orders, best %d, %d at it\n", norders, best, depth[best]);
    return 0;
}
