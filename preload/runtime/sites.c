/* SPDX-License-Identifier: MIT
 * sites.c - places that take locks. */
#include "runtime/sites.h"

#include <stddef.h>

#include "runtime/arena.h"
#include "runtime/rawlock.h"

struct table {
    size_t size; /* a power of two */
    struct lh_site *_Atomic *sites;
};

static struct lh_rawlock add_lock;
static size_t nsites; /* under add_lock */

/* Published with release, read with acquire. A table that was outgrown stays:
 * a reader may still be in it, and the sites are shared between tables. */
static struct table *_Atomic current;

static size_t hash(uintptr_t pc)
{
    return (size_t)(pc * UINT64_C(0x9e3779b97f4a7c15) >> 24);
}

/* The place of pc in a table: its site, or the free place for it. */
static struct lh_site *_Atomic *place(const struct table *t, uintptr_t pc)
{
    for (size_t i = hash(pc);; i++) {
        struct lh_site *_Atomic *at = &t->sites[i & (t->size - 1)];
        struct lh_site *s = atomic_load_explicit(at, memory_order_acquire);
        if (!s || atomic_load_explicit(&s->pc, memory_order_relaxed) == pc)
            return at;
    }
}

struct lh_site *lh_site_find(const void *pc)
{
    struct table *t = atomic_load_explicit(&current, memory_order_acquire);

    return t ? atomic_load_explicit(place(t, (uintptr_t)pc),
                                    memory_order_acquire)
             : NULL;
}

static struct table *grow(struct table *old)
{
    size_t size = old ? 2 * old->size : 512;
    char *block = lh_arena_resize(
        NULL, NULL, 0, sizeof(struct table) + size * sizeof(struct lh_site *));
    struct table *t = (struct table *)(void *)block;

    if (!t)
        return NULL;
    t->size = size;
    t->sites = (struct lh_site * _Atomic *)(void *)(block + sizeof *t);
    for (size_t i = 0; old && i < old->size; i++) {
        struct lh_site *s =
            atomic_load_explicit(&old->sites[i], memory_order_relaxed);
        if (s)
            atomic_store_explicit(place(t, s->pc), s, memory_order_relaxed);
    }
    atomic_store_explicit(&current, t, memory_order_release);
    return t;
}

static struct lh_site *new_site(void)
{
    /* Under add_lock. */
    static struct lh_site *block;
    static size_t left;

    if (left == 0) {
        block = lh_arena_resize(NULL, NULL, 0, 4096);
        if (!block)
            return NULL;
        left = 4096 / sizeof *block;
    }
    left--;
    return block++;
}

static struct lh_site *add(const void *pc)
{
    struct table *t = atomic_load_explicit(&current, memory_order_relaxed);
    struct lh_site *_Atomic *at;
    struct lh_site *s;

    if ((!t || 2 * nsites >= t->size) && !(t = grow(t)))
        return NULL;
    at = place(t, (uintptr_t)pc);
    s = atomic_load_explicit(at, memory_order_relaxed);
    if (s || !(s = new_site()))
        return s;
    atomic_store_explicit(&s->pc, (uintptr_t)pc, memory_order_relaxed);
    atomic_store_explicit(at, s, memory_order_release);
    nsites++;
    return s;
}

struct lh_site *lh_site_add(const void *pc)
{
    struct lh_site *s = lh_site_find(pc);

    if (s)
        return s;
    lh_rawlock_take(&add_lock);
    s = add(pc);
    lh_rawlock_give(&add_lock);
    return s;
}

bool lh_site_is_cold(struct lh_site *site)
{
    if (atomic_load_explicit(&site->times, memory_order_relaxed) >=
        LH_COLD_TIMES)
        return false;
    atomic_fetch_add_explicit(&site->times, 1, memory_order_relaxed);
    return true;
}

void lh_sites_lock(void)
{
    lh_rawlock_take(&add_lock);
}

void lh_sites_unlock(void)
{
    lh_rawlock_give(&add_lock);
}

void lh_sites_after_fork(void)
{
    lh_rawlock_reset(&add_lock);
}
