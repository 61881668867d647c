/* SPDX-License-Identifier: MIT
 *
 * libbundle.c - a plugin that has a GLib of its own inside, as some are linked,
 * without the library's name: two locks in both orders.
 */
#include "../guest/guest.h"

typedef struct {
    int word, unused;
} GMutex;

void g_mutex_lock(GMutex *mutex);
void g_mutex_unlock(GMutex *mutex);

static int ncalls;

void g_mutex_lock(GMutex *mutex)
{
    while (__atomic_exchange_n(&mutex->word, 1, __ATOMIC_ACQUIRE))
        sched_yield();
    __atomic_fetch_add(&ncalls, 1, __ATOMIC_RELAXED);
}

void g_mutex_unlock(GMutex *mutex)
{
    __atomic_store_n(&mutex->word, 0, __ATOMIC_RELEASE);
}

static GMutex a, b;
static int is_first_done;

static __attribute__((noinline)) void take_both(GMutex *outer, GMutex *inner)
{
    g_mutex_lock(outer);
    g_mutex_lock(inner);
    g_mutex_unlock(inner);
    g_mutex_unlock(outer);
}

static void *first(void *unused)
{
    take_both(&a, &b);
    set_flag(&is_first_done);
    return unused;
}

static void *second(void *unused)
{
    wait_flag(&is_first_done);
    take_both(&b, &a);
    return unused;
}

void plugin_run(void);
void plugin_run(void)
{
    pthread_t t = go(first, NULL), u = go(second, NULL);

    join(t);
    join(u);
    CHECK(ncalls == 4);
}
