/* SPDX-License-Identifier: MIT
 * lru.c - a cache that forgets what was not used for longest.
 *
 * All entries are in one ring at all times, those without a key behind those
 * with one: a new key always takes the entry at the back. The entry after the
 * last is the ring's head and has no key. Links are indices. */
#include "ord/lru.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NONE SIZE_MAX

struct ord_lru_entry {
    uint64_t key;
    bool used;            /* has a key */
    size_t before, after; /* in the ring; after the head comes the front */
    size_t chained;       /* the next of its bucket, or NONE */
};

static size_t head_of(const struct ord_lru *lru)
{
    return lru->capacity;
}

static void clear(struct ord_lru *lru)
{
    size_t n = lru->capacity + 1;

    for (size_t i = 0; i < n; i++) {
        lru->entries[i].before = (i + n - 1) % n;
        lru->entries[i].after = (i + 1) % n;
    }
    for (size_t i = 0; i < lru->nbuckets; i++)
        lru->buckets[i] = NONE;
}

int ord_lru_init(struct ord_lru *lru, size_t capacity, size_t value_bytes)
{
    if (capacity == 0 || value_bytes == 0)
        return EINVAL;
    if (capacity >= SIZE_MAX / 2)
        return ENOMEM;
    *lru = (struct ord_lru){ .capacity = capacity,
                             .value_bytes = value_bytes,
                             .nbuckets = 2 * capacity };
    lru->entries = calloc(capacity + 1, sizeof lru->entries[0]);
    lru->values = calloc(capacity, value_bytes);
    lru->buckets = calloc(lru->nbuckets, sizeof lru->buckets[0]);
    if (!lru->entries || !lru->values || !lru->buckets) {
        free(lru->entries);
        free(lru->values);
        free(lru->buckets);
        return ENOMEM;
    }
    clear(lru);
    ord_mutex_init(&lru->lock);
    return 0;
}

int ord_lru_destroy(struct ord_lru *lru)
{
    int rc = ord_mutex_destroy(&lru->lock);

    if (rc != 0)
        return rc;
    free(lru->entries);
    free(lru->values);
    free(lru->buckets);
    return 0;
}

/* Keys may be close to each other or have equal low bits: all bits of the key
 * reach the high half of the product (Knuth's multiplicative hash). */
static uint64_t hash(uint64_t key)
{
    return (key ^ key >> 32) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
}

/* The link that leads to the key's entry, or the NONE that ends its bucket. */
static size_t *link_to(struct ord_lru *lru, uint64_t key)
{
    size_t *link = &lru->buckets[hash(key) % lru->nbuckets];

    while (*link != NONE && lru->entries[*link].key != key)
        link = &lru->entries[*link].chained;
    return link;
}

static unsigned char *value_at(const struct ord_lru *lru, size_t i)
{
    return lru->values + i * lru->value_bytes;
}

static void move_behind(struct ord_lru *lru, size_t i, size_t place)
{
    struct ord_lru_entry *all = lru->entries;

    if (i == place)
        return;
    all[all[i].before].after = all[i].after;
    all[all[i].after].before = all[i].before;
    all[i].before = place;
    all[i].after = all[place].after;
    all[all[place].after].before = i;
    all[place].after = i;
}

static void move_to_front(struct ord_lru *lru, size_t i)
{
    move_behind(lru, i, head_of(lru));
}

static void move_to_back(struct ord_lru *lru, size_t i)
{
    move_behind(lru, i, lru->entries[head_of(lru)].before);
}

/* Takes the key from the entry that the link leads to. */
static void forget(struct ord_lru *lru, size_t *link)
{
    struct ord_lru_entry *entry = &lru->entries[*link];

    *link = entry->chained;
    entry->used = false;
    lru->figures.size--;
}

/* Gives the key the entry at the back, whoever had it. */
static size_t add(struct ord_lru *lru, uint64_t key)
{
    size_t i = lru->entries[head_of(lru)].before;
    struct ord_lru_entry *entry = &lru->entries[i];
    size_t *link;

    if (entry->used) {
        forget(lru, link_to(lru, entry->key));
        lru->figures.nforgotten++;
    }
    entry->key = key;
    entry->used = true;
    entry->chained = NONE;
    /* Looked up only now: forgetting may have moved the end of the bucket. */
    link = link_to(lru, key);
    *link = i;
    lru->figures.size++;
    return i;
}

int ord_lru_get(struct ord_lru *lru, uint64_t key, void *value)
{
    size_t i;

    ord_mutex_lock(&lru->lock);
    i = *link_to(lru, key);
    if (i == NONE) {
        lru->figures.nmisses++;
    } else {
        lru->figures.nhits++;
        move_to_front(lru, i);
        memcpy(value, value_at(lru, i), lru->value_bytes);
    }
    ord_mutex_unlock(&lru->lock);
    return i == NONE ? ENOENT : 0;
}

void ord_lru_put(struct ord_lru *lru, uint64_t key, const void *value)
{
    size_t i;

    ord_mutex_lock(&lru->lock);
    i = *link_to(lru, key);
    if (i == NONE)
        i = add(lru, key);
    move_to_front(lru, i);
    memcpy(value_at(lru, i), value, lru->value_bytes);
    ord_mutex_unlock(&lru->lock);
}

int ord_lru_remove(struct ord_lru *lru, uint64_t key)
{
    size_t *link;
    size_t i;

    ord_mutex_lock(&lru->lock);
    link = link_to(lru, key);
    i = *link;
    if (i != NONE) {
        forget(lru, link);
        move_to_back(lru, i);
    }
    ord_mutex_unlock(&lru->lock);
    return i == NONE ? ENOENT : 0;
}

void ord_lru_read(struct ord_lru *lru, struct ord_lru_figures *figures)
{
    ord_mutex_lock(&lru->lock);
    *figures = lru->figures;
    ord_mutex_unlock(&lru->lock);
}

int ord_lru_sharded_init(struct ord_lru_sharded *lru, size_t nshards,
                         size_t capacity, size_t value_bytes)
{
    if (nshards == 0 || capacity < nshards || value_bytes == 0)
        return EINVAL;
    lru->nshards = 0;
    lru->shards = calloc(nshards, sizeof lru->shards[0]);
    if (!lru->shards)
        return ENOMEM;
    for (; lru->nshards < nshards; lru->nshards++) {
        size_t part = capacity / nshards + (capacity % nshards != 0);
        int rc = ord_lru_init(&lru->shards[lru->nshards], part, value_bytes);
        if (rc != 0) {
            ord_lru_sharded_destroy(lru);
            return rc;
        }
    }
    return 0;
}

/* From the last shard on, so that what is left is a shorter array. */
int ord_lru_sharded_destroy(struct ord_lru_sharded *lru)
{
    for (; lru->nshards > 0; lru->nshards--) {
        int rc = ord_lru_destroy(&lru->shards[lru->nshards - 1]);
        if (rc != 0)
            return rc;
    }
    free(lru->shards);
    return 0;
}

/* By other bits of the hash than those that choose the bucket. */
static struct ord_lru *shard_of(struct ord_lru_sharded *lru, uint64_t key)
{
    return &lru->shards[hash(key) / 4096 % lru->nshards];
}

int ord_lru_sharded_get(struct ord_lru_sharded *lru, uint64_t key, void *value)
{
    return ord_lru_get(shard_of(lru, key), key, value);
}

void ord_lru_sharded_put(struct ord_lru_sharded *lru, uint64_t key,
                         const void *value)
{
    ord_lru_put(shard_of(lru, key), key, value);
}

int ord_lru_sharded_remove(struct ord_lru_sharded *lru, uint64_t key)
{
    return ord_lru_remove(shard_of(lru, key), key);
}

void ord_lru_sharded_read(struct ord_lru_sharded *lru,
                          struct ord_lru_figures *figures)
{
    *figures = (struct ord_lru_figures){ 0, 0, 0, 0 };
    for (size_t i = 0; i < lru->nshards; i++) {
        struct ord_lru_figures part;
        ord_lru_read(&lru->shards[i], &part);
        figures->size += part.size;
        figures->nhits += part.nhits;
        figures->nmisses += part.nmisses;
        figures->nforgotten += part.nforgotten;
    }
}
