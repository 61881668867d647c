/* SPDX-License-Identifier: MIT
 *
 * fixed_dining.c - five philosophers, the fork with the lower number first.
 *
 * The last philosopher takes the right fork before the left one, and so the
 * five can never all wait.
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
    int right = (me + 1) % N;
    int first = me < right ? me : right, second = me < right ? right : me;

    ord_mutex_lock(&fork_[first]);
    ord_mutex_lock(&fork_[second]);
    eaten[me]++;
    ord_mutex_unlock(&fork_[second]);
    ord_mutex_unlock(&fork_[first]);
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
