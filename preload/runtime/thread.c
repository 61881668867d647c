/* SPDX-License-Identifier: MIT
 * thread.c - what is kept for each thread of the target. */
#include "runtime/thread.h"

#include <errno.h>
#include <string.h>

#include "runtime/arena.h"
#include "runtime/held.h"
#include "runtime/lockcheck.h"
#include "runtime/onces.h"
#include "runtime/published.h"
#include "runtime/sys.h"

_Thread_local struct lh_thread *lh_self;

/* All under the detector's lock. */
static struct lh_thread *in_use, *unused;
static size_t nin_use, nin_use_at_sweep;

/* By handle: buckets of states, chained through an index of their own. Open
 * addressing over pointers; a released state is replaced by a tombstone. */
static struct lh_thread **buckets;
static size_t nbuckets, nfilled; /* filled counts tombstones */
static struct lh_thread tombstone;

static size_t bucket_of(pthread_t handle)
{
    return (size_t)((uint64_t)handle * UINT64_C(0x9e3779b97f4a7c15) >> 20) &
           (nbuckets - 1);
}

static struct lh_thread *new_state(void)
{
    struct lh_thread *t = lh_arena_small(sizeof *t);

    if (!t)
        return NULL;
    t->chunk = lh_arena_resize(NULL, NULL, 0, sizeof *t->chunk);
    if (!t->chunk || lh_cache_init(&t->cache) != 0)
        return NULL;
    return t;
}

/*
 * Makes a state look new, but for the memory it has. Remembered stacks stay,
 * too: glibc gives the same stacks out again, and their words are compared
 * before they are believed.
 */
static void renew(struct lh_thread *t)
{
    struct lh_thread old = *t;

    memset(t, 0, sizeof *t);
    t->chunk = old.chunk;
    t->cache = old.cache;
    t->stacks = old.stacks;
    t->onces = old.onces;
    atomic_store_explicit(&t->stack_lock, UINTPTR_MAX, memory_order_relaxed);
    atomic_store_explicit(&t->chunk->slots[0].state, LH_BASE,
                          memory_order_relaxed);
    t->top = t->chunk->slots + 1;
    t->end = t->chunk->slots + LH_CHUNK_SLOTS + 1;
}

static void link_in(struct lh_thread *t)
{
    t->next = in_use;
    t->link = &in_use;
    if (in_use)
        in_use->link = &t->next;
    in_use = t;
    nin_use++;
}

static void unlink_from(struct lh_thread *t)
{
    *t->link = t->next;
    if (t->next)
        t->next->link = t->link;
    nin_use--;
}

struct lh_thread *lh_thread_new(void)
{
    struct lh_thread *t;

    if (nin_use >= 16 && nin_use >= 2 * nin_use_at_sweep) {
        lh_thread_sweep();
        nin_use_at_sweep = nin_use > 8 ? nin_use : 8;
    }
    t = unused;
    if (t)
        unused = t->next;
    else if (!(t = new_state()))
        return NULL;
    renew(t);
    link_in(t);
    return t;
}

static void unregister(struct lh_thread *t)
{
    if (!t->registered)
        return;
    for (size_t i = bucket_of(t->handle); buckets[i];
         i = (i + 1) & (nbuckets - 1)) {
        if (buckets[i] == t) {
            buckets[i] = &tombstone;
            break;
        }
    }
    t->registered = false;
}

static void free_chunks(struct lh_chunk *chunk)
{
    while (chunk) {
        struct lh_chunk *above = chunk->above;
        lh_arena_resize(NULL, chunk, sizeof *chunk, 0);
        chunk = above;
    }
}

static void recycle(struct lh_thread *t)
{
    unregister(t);
    lh_cache_shrink(&t->cache);
    lh_once_forget_all(t);
    free_chunks(t->chunk->above);
    t->chunk->above = NULL;
    t->next = unused;
    unused = t;
}

void lh_thread_release(struct lh_thread *t)
{
    unlink_from(t);
    recycle(t);
}

void lh_thread_sweep(void)
{
    long pid = lh_sys_getpid();

    for (struct lh_thread *t = in_use, *next; t; t = next) {
        next = t->next;
        /* One that can still be joined is kept: its end is an order. */
        if ((t->detached || !t->registered) && t->tid && t != lh_self &&
            !lh_sys_thread_exists(pid, t->tid)) {
            lh_lockcheck_thread_ended(t);
            lh_thread_release(t);
        }
    }
}

void lh_thread_publish_all(void)
{
    lh_publish(&in_use);
}

struct lh_thread *lh_thread_first(void)
{
    return in_use;
}

struct lh_thread *lh_thread_numbered(uint32_t number)
{
    for (struct lh_thread *t = in_use; t; t = t->next)
        if (t->number == number)
            return t;
    return NULL;
}

struct lh_thread *lh_thread_find(pthread_t handle)
{
    if (nbuckets == 0)
        return NULL;
    for (size_t i = bucket_of(handle); buckets[i]; i = (i + 1) & (nbuckets - 1))
        if (buckets[i] != &tombstone && buckets[i]->handle == handle)
            return buckets[i];
    return NULL;
}

static void insert(struct lh_thread *t)
{
    size_t i = bucket_of(t->handle);

    while (buckets[i] && buckets[i] != &tombstone)
        i = (i + 1) & (nbuckets - 1);
    nfilled += !buckets[i];
    buckets[i] = t;
    t->registered = true;
}

/* A table twice as large as the live entries need; drops tombstones. */
static int rehash(void)
{
    size_t n = 256;
    struct lh_thread **old = buckets;
    size_t nold = nbuckets;

    while (n < 4 * nin_use)
        n *= 2;
    buckets = lh_arena_resize(NULL, NULL, 0, n * sizeof(struct lh_thread *));
    if (!buckets) {
        buckets = old;
        return ENOMEM;
    }
    nbuckets = n;
    nfilled = 0;
    for (size_t i = 0; i < nold; i++)
        if (old[i] && old[i] != &tombstone)
            insert(old[i]);
    if (old)
        lh_arena_resize(NULL, old, nold * sizeof(struct lh_thread *), 0);
    return 0;
}

void lh_thread_register(struct lh_thread *t, pthread_t handle)
{
    struct lh_thread *stale;

    if (t->registered)
        return;
    if (nfilled + 1 > nbuckets / 2 && rehash() != 0)
        return;
    /* A handle is given out again only after its thread is gone. */
    stale = lh_thread_find(handle);
    if (stale)
        unregister(stale);
    t->handle = handle;
    insert(t);
}

void lh_thread_keep_only(struct lh_thread *self)
{
    struct lh_thread *t = in_use;

    in_use = NULL;
    while (t) {
        struct lh_thread *next = t->next;
        if (t != self)
            recycle(t);
        t = next;
    }
    nin_use = nin_use_at_sweep = 0;
    if (self)
        link_in(self);
}
