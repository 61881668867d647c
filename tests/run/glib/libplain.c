/* SPDX-License-Identifier: MIT
 * libplain.c - a plugin in C: two locks in both orders. */
#include "../guest/guest.h"

static mutex_t a = MUTEX, b = MUTEX;
static int is_first_done;

static __attribute__((noinline)) void take_both(mutex_t *outer, mutex_t *inner)
{
    pthread_mutex_lock(outer); /* outer */
    pthread_mutex_lock(inner); /* inner */
    pthread_mutex_unlock(inner);
    pthread_mutex_unlock(outer);
}

static void *first(void *unused)
{
    take_both(&a, &b); /* first */
    set_flag(&is_first_done);
    return unused;
}

static void *second(void *unused)
{
    wait_flag(&is_first_done);
    take_both(&b, &a); /* second */
    return unused;
}

void plugin_run(void);
void plugin_run(void)
{
    pthread_t t = go(first, NULL), u = go(second, NULL);

    join(t);
    join(u);
}
