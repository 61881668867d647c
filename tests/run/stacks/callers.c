/* SPDX-License-Identifier: MIT
 *
 * callers.c - one lock site, reached at the same stack depth by two callers in
 * turn, a hundred times; then each side of an inversion happens once.
 *
 * argv[1]: "nesting" nests all the while, so that the site's stacks are taken
 * through the cache that compares words; "leaf" does not nest until the end,
 * when the site is long known to be a leaf.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t common = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t late = PTHREAD_MUTEX_INITIALIZER;

#define KEEP __attribute__((noinline, noclone))

static KEEP void take(pthread_mutex_t *outer, pthread_mutex_t *inner)
{
    pthread_mutex_lock(outer); /* the site */
    if (inner) {
        pthread_mutex_lock(inner);
        pthread_mutex_unlock(inner);
    }
    pthread_mutex_unlock(outer);
    __asm__ volatile("");
}

static KEEP void alpha(pthread_mutex_t *inner)
{
    take(&first, inner);
    __asm__ volatile("");
}

static KEEP void beta(pthread_mutex_t *inner)
{
    take(&second, inner);
    __asm__ volatile("");
}

/* A hint that gives up: it orders nothing, but keeps this run from hanging. */
static atomic_int other_is_done;

static void *other(void *arg)
{
    pthread_mutex_lock(&late);
    pthread_mutex_lock(&second);
    pthread_mutex_unlock(&second);
    pthread_mutex_unlock(&late);
    atomic_store_explicit(&other_is_done, 1, memory_order_relaxed);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_mutex_t *inner =
        argc > 1 && !strcmp(argv[1], "nesting") ? &common : NULL;
    pthread_t t;

    pthread_create(&t, NULL, other, NULL);
    for (int i = 0; i < 100; i++) {
        alpha(inner);
        beta(inner);
    }
    for (long i = 0; i < 10000000; i++) {
        if (atomic_load_explicit(&other_is_done, memory_order_relaxed))
            break;
        sched_yield();
    }
    beta(&late);
    pthread_join(t, NULL);
    return 0;
}
