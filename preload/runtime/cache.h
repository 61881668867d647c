/* SPDX-License-Identifier: MIT
 *
 * cache.h - a thread's table of the requests it need not learn again.
 *
 * Set-associative: four entries of 16 bytes, a cache line, are one set. It
 * starts small and doubles while it fills; at its largest size new entries
 * push out old ones. An entry counts how often it was hit, which is how often
 * the dependency was seen.
 *
 * Threads:  changed by its own thread only; others read the counts, roughly.
 * Signals:  changed with signals blocked, but for the counts. A table that was
 *           outgrown stays mapped until the thread is gone, as a handler may
 *           have outgrown it in the middle of a look-up.
 */
#ifndef LH_RUNTIME_CACHE_H
#define LH_RUNTIME_CACHE_H

#include <stddef.h>
#include <stdint.h>

struct lh_entry {
    uint64_t probe;      /* a chain key, which is odd; 0: empty */
    uint32_t dependency; /* slot in core/order.h, 0: none; and the bit below */
    uint32_t times;
};

/* The site was seen holding while another lock was asked for: its stacks are
 * wanted at every acquisition. */
#define LH_ENTRY_NESTING 0x80000000u

enum { LH_WAYS = 4 };

struct lh_cache {
    struct lh_entry *entries;
    unsigned shift; /* 64 - log2(number of sets) */
    size_t nused;
    struct lh_outgrown *outgrown;
};

/*
 * The set of a probe. shift is read before entries (volatile keeps the order):
 * when a signal handler or, for lh_cache_each(), the owner doubles the table in
 * between, the old shift still points into the new, larger table.
 */
static inline struct lh_entry *lh_cache_set(const struct lh_cache *cache,
                                            uint64_t probe)
{
    unsigned shift = *(const volatile unsigned *)&cache->shift;
    struct lh_entry *entries =
        *(struct lh_entry *const volatile *)&cache->entries;

    return entries + (size_t)(probe >> shift) * LH_WAYS;
}

static inline struct lh_entry *lh_cache_find(const struct lh_cache *cache,
                                             uint64_t probe)
{
    struct lh_entry *e = lh_cache_set(cache, probe);

    if (__builtin_expect(e[0].probe == probe, 1))
        return &e[0];
    for (unsigned way = 1; way < LH_WAYS; way++)
        if (e[way].probe == probe)
            return &e[way];
    return NULL;
}

static inline void lh_cache_prefetch(const struct lh_cache *cache,
                                     uint64_t probe)
{
    __builtin_prefetch(lh_cache_set(cache, probe), 1);
}

/* Makes a table of the first size. Returns 0 or ENOMEM. */
int lh_cache_init(struct lh_cache *cache);

/* Frees everything; only for a thread that is gone. */
void lh_cache_free(struct lh_cache *cache);

/* Forgets all entries, of a thread that is gone, and keeps a table of the first
 * size for the next one. */
void lh_cache_shrink(struct lh_cache *cache);

/* Forgets all entries. */
void lh_cache_clear(struct lh_cache *cache);

/* Called with entries whose counts would be lost. */
typedef void (*lh_cache_spill_fn)(void *ctx, const struct lh_entry *entry);

/* Adds an entry; one that it pushes out goes to spill. */
void lh_cache_add(struct lh_cache *cache, uint64_t probe, uint32_t dependency,
                  lh_cache_spill_fn spill, void *ctx);

/* Calls fn for every entry that has a dependency and a count. */
void lh_cache_each(const struct lh_cache *cache, lh_cache_spill_fn fn,
                   void *ctx);

#endif
