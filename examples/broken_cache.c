/* SPDX-License-Identifier: MIT
 *
 * broken_cache.c - a cache that asks its store with its own lock held.
 *
 * What is wrong: a miss reads the store under the cache's lock; a write to the
 * store tells the cache, under the store's lock, to forget the old value. Two
 * modules that lock for themselves, and call each other. The repair:
 * fixed_cache.c.
 */
#include <ord/base.h>
#include <stdio.h>

#include "pace.h"

static struct ord_mutex cache_lock = ORD_MUTEX_INIT;
static struct ord_mutex store_lock = ORD_MUTEX_INIT;
static int cached = -1, stored = 7;

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
    pace_meet(2);
    if (cached < 0)
        cached = store_read();
    int value = cached;
    ord_mutex_unlock(&cache_lock);
    return value;
}

static void cache_forget(void)
{
    ord_mutex_lock(&cache_lock);
    cached = -1;
    ord_mutex_unlock(&cache_lock);
}

static void store_write(int value)
{
    ord_mutex_lock(&store_lock);
    pace_meet(2);
    stored = value;
    cache_forget();
    ord_mutex_unlock(&store_lock);
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
