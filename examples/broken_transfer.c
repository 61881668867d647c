/* SPDX-License-Identifier: MIT
 *
 * broken_transfer.c - two accounts, each transfer locks its source first.
 *
 * What is wrong: a transfer from A to B holds A and asks for B; one from B to A
 * holds B and asks for A. When both are halfway, both wait for ever.
 *
 * This program never hangs, because the second clerk is likely to start after
 * the first has finished: a hint that orders nothing. That is how such a bug
 * passes every test and hangs in production, as it does here with ORD_HANG=1.
 *
 * The repair: lock the account with the lower number first, whichever way the
 * money goes.
 *
 *     $ lockhound run -- ./broken_transfer
 */
#include <pthread.h>
#include <stdio.h>

#include "pace.h"

struct account {
    pthread_mutex_t lock;
    long balance;
};

static struct account savings = { PTHREAD_MUTEX_INITIALIZER, 300 };
static struct account checking = { PTHREAD_MUTEX_INITIALIZER, 300 };

static void transfer(struct account *from, struct account *to, long amount)
{
    pthread_mutex_lock(&from->lock);
    pace_meet(2);
    pthread_mutex_lock(&to->lock);
    from->balance -= amount;
    to->balance += amount;
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
}

static void *morning_clerk(void *unused)
{
    for (int i = 0; i < 100; i++)
        transfer(&savings, &checking, 1);
    pace_set(0);
    return unused;
}

static void *evening_clerk(void *unused)
{
    pace_wait(0); /* a hint, which gives up: it makes nothing impossible */
    transfer(&checking, &savings, 100);
    return unused;
}

int main(void)
{
    pthread_t morning, evening;

    pthread_create(&morning, NULL, morning_clerk, NULL);
    pthread_create(&evening, NULL, evening_clerk, NULL);
    pthread_join(morning, NULL);
    pthread_join(evening, NULL);
    printf("savings %ld, checking %ld\n", savings.balance, checking.balance);
    return 0;
}
