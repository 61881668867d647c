/* SPDX-License-Identifier: MIT
 *
 * broken_dining.c - five philosophers, five forks, the left one first.
 *
 * What is wrong: when all five have their left fork, each waits for the right
 * one for ever. The repair: fixed_dining.c.
 */
#include <ord/base.h>
#include <stdint.h>
#include <stdio.h>

#include "pace.h"

enum { N = 5, MEALS = 20 };

static struct ord_mutex fork_[N];
static int eaten[N];

static void eat(int me)
{
    ord_mutex_lock(&fork_[me]);
    pace_meet(N);
    ord_mutex_lock(&fork_[(me + 1) % N]);
    eaten[me]++;
    ord_mutex_unlock(&fork_[(me + 1) % N]);
    ord_mutex_unlock(&fork_[me]);
}

static void *philosopher(void *seat)
{
    int me = (int)(intptr_t)seat;

    if (me > 0)
        pace_wait(me - 1);
    for (int i = 0; i < MEALS; i++)
        eat(me);
    pace_set(me);
    return NULL;
}

int main(void)
{
    pthread_t t[N];
    int sum = 0;

    for (int i = 0; i < N; i++)
        ord_mutex_init(&fork_[i]);
    for (int i = 0; i < N; i++)
        pthread_create(&t[i], NULL, philosopher, (void *)(intptr_t)i);
    for (int i = 0; i < N; i++) {
        pthread_join(t[i], NULL);
        sum += eaten[i];
    }
    printf("%d philosophers ate %d times\n", N, sum);
    return 0;
}
