/* SPDX-License-Identifier: MIT
 *
 * fixed_cache.c - a cache that asks its store with no lock held.
 *
 * A miss lets go of the cache's lock, reads, and takes it again; what was
 * forgotten meanwhile stays forgotten, by a count of forgettings. The store
 * tells the cache after it has let go of its own lock.
 */
#include <ord/base.h>
#include <stdio.h>

#include "pace.h"

static struct ord_mutex cache_lock = ORD_MUTEX_INIT;
static struct ord_mutex store_lock = ORD_MUTEX_INIT;
static int cached = -1, stored = 7;
static unsigned nforgotten; /* under cache_lock */

static int store_read(void)
{
    ord_mutex_lock(&store_lock);
    int value = stored;
    ord_mutex_unlock(&store_lock);
    return value;
}

static int cache_get(void)
{
    ord_mutex_lock(&cache_lock);
    int value = cached;
    unsigned before = nforgotten;
    ord_mutex_unlock(&cache_lock);
    if (value >= 0)
        return value;
    value = store_read();
    ord_mutex_lock(&cache_lock);
    if (nforgotten == before)
        cached = value;
    ord_mutex_unlock(&cache_lock);
    return value;
}

static void cache_forget(void)
{
    ord_mutex_lock(&cache_lock);
    cached = -1;
    nforgotten++;
    ord_mutex_unlock(&cache_lock);
}

static void store_write(int value)
{
    ord_mutex_lock(&store_lock);
    stored = value;
    ord_mutex_unlock(&store_lock);
    cache_forget();
}

static void *reader(void *result)
{
    *(int *)result = cache_get();
    pace_set(0);
    return NULL;
}

static void *writer(void *unused)
{
    pace_wait(0);
    store_write(8);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    int first = 0;

    pthread_create(&a, NULL, reader, &first);
    pthread_create(&b, NULL, writer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("then %d, now %d\n", first, cache_get());
    return 0;
}
