/* SPDX-License-Identifier: MIT
 * cache.c - a thread's table of the requests it need not learn again. */
#include "runtime/cache.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "runtime/arena.h"

/* 64 entries to start with (1 KiB, a thread that hardly locks); 256 Ki entries
 * (4 MiB) at most, beyond which a probe costs more than it saves. */
enum { FIRST_LOG2_SETS = 4, MOST_LOG2_SETS = 16 };

/* A table that a doubling left behind, chained through its own first bytes. Not
 * those of the first entry's count: a hook that was interrupted in the middle
 * of counting still adds to that. */
struct lh_outgrown {
    struct lh_outgrown *next;
    uint32_t size_bytes;
};
_Static_assert(((size_t)LH_WAYS << MOST_LOG2_SETS) * sizeof(struct lh_entry) <=
                       UINT32_MAX &&
                   sizeof(void *) + sizeof(uint32_t) <=
                       offsetof(struct lh_entry, times),
               "the size of a table lies before the first count");

static size_t nentries(const struct lh_cache *cache)
{
    return (size_t)LH_WAYS << (64 - cache->shift);
}

static struct lh_entry *new_table(unsigned log2_sets)
{
    return lh_arena_resize(NULL, NULL, 0,
                           ((size_t)LH_WAYS << log2_sets) *
                               sizeof(struct lh_entry));
}

int lh_cache_init(struct lh_cache *cache)
{
    *cache = (struct lh_cache){ .entries = new_table(FIRST_LOG2_SETS),
                                .shift = 64 - FIRST_LOG2_SETS };
    return cache->entries ? 0 : ENOMEM;
}

void lh_cache_clear(struct lh_cache *cache)
{
    memset(cache->entries, 0, nentries(cache) * sizeof *cache->entries);
    cache->nused = 0;
}

static void free_table(void *table, size_t size_bytes)
{
    lh_arena_resize(NULL, table, size_bytes, 0);
}

/* The table that was outgrown first, which is the smallest, stays if asked. */
static struct lh_entry *free_outgrown(struct lh_cache *cache, bool keep_first)
{
    struct lh_outgrown *o;

    while ((o = cache->outgrown)) {
        cache->outgrown = o->next;
        if (keep_first && !o->next)
            return (struct lh_entry *)(void *)o;
        free_table(o, o->size_bytes);
    }
    return NULL;
}

void lh_cache_free(struct lh_cache *cache)
{
    free_outgrown(cache, false);
    if (cache->entries)
        free_table(cache->entries, nentries(cache) * sizeof *cache->entries);
    *cache = (struct lh_cache){ 0 };
}

void lh_cache_shrink(struct lh_cache *cache)
{
    struct lh_entry *first = free_outgrown(cache, true);

    if (first) {
        free_table(cache->entries, nentries(cache) * sizeof *cache->entries);
        cache->entries = first;
        cache->shift = 64 - FIRST_LOG2_SETS;
    }
    lh_cache_clear(cache);
}

/* The entry to fill: an empty one of the set, or NULL. */
static struct lh_entry *find_empty(const struct lh_cache *cache, uint64_t probe)
{
    struct lh_entry *e = lh_cache_set(cache, probe);

    for (unsigned way = 0; way < LH_WAYS; way++)
        if (e[way].probe == 0)
            return &e[way];
    return NULL;
}

static void outgrow(struct lh_cache *cache, struct lh_entry *old,
                    size_t size_bytes)
{
    struct lh_outgrown *o = (struct lh_outgrown *)(void *)old;

    /* An interrupted look-up may still read it, and slots still point into
     * it: nothing is to be found. The first entry's words are no probe, as
     * probes are odd. */
    lh_arena_empty(old, size_bytes);
    o->next = cache->outgrown;
    o->size_bytes = (uint32_t)size_bytes;
    cache->outgrown = o;
}

static void grow(struct lh_cache *cache, lh_cache_spill_fn spill, void *ctx)
{
    size_t n = nentries(cache);
    struct lh_entry *old = cache->entries;
    struct lh_entry *fresh = new_table(64 - cache->shift + 1);

    if (!fresh)
        return;
    cache->entries = fresh; /* before shift: see lh_cache_set() */
    atomic_thread_fence(memory_order_release);
    cache->shift--;
    cache->nused = 0;
    for (size_t i = 0; i < n; i++) {
        struct lh_entry *to;
        if (old[i].probe == 0)
            continue;
        to = find_empty(cache, old[i].probe);
        if (to) {
            *to = old[i];
            cache->nused++;
        } else {
            spill(ctx, &old[i]);
        }
    }
    outgrow(cache, old, n * sizeof *old);
}

static bool is_due_to_grow(const struct lh_cache *cache)
{
    return cache->nused >= nentries(cache) / 2 &&
           64 - cache->shift < MOST_LOG2_SETS;
}

void lh_cache_add(struct lh_cache *cache, uint64_t probe, uint32_t dependency,
                  lh_cache_spill_fn spill, void *ctx)
{
    struct lh_entry *e;

    if (is_due_to_grow(cache))
        grow(cache, spill, ctx);
    e = find_empty(cache, probe);
    if (!e) {
        e = lh_cache_set(cache, probe) + (probe >> 1) % LH_WAYS;
        spill(ctx, e);
        cache->nused--;
    }
    e->dependency = dependency;
    e->times = 0;
    e->probe = probe;
    cache->nused++;
}

void lh_cache_each(const struct lh_cache *cache, lh_cache_spill_fn fn,
                   void *ctx)
{
    size_t n = nentries(cache);
    const struct lh_entry *e = lh_cache_set(cache, 0);

    for (size_t i = 0; i < n; i++)
        if (e[i].probe && e[i].times)
            fn(ctx, &e[i]);
}
