/* SPDX-License-Identifier: MIT
 *
 * ord/lru.h - a cache that forgets what was not used for longest.
 *
 * get() is a write: it moves what it finds to the front, so it takes the lock
 * as put() does, and a read-write lock would not help. What helps is the
 * sharded variant: shards with a lock each, chosen by the key, each forgetting
 * on its own.
 *
 * Keys are numbers; values have one size and are copied in and out, so that
 * none is forgotten while a caller looks at it.
 *
 * Memory:   all at init.
 * Threads:  all functions may run at the same time, but for init and destroy.
 * Errors:   EINVAL  a capacity, size or number of shards of 0, or more shards
 *                   than entries
 *           ENOMEM  no memory at init
 *           ENOENT  the key is not there, or no longer
 *           EBUSY   locked while it is destroyed
 */
#ifndef ORD_LRU_H
#define ORD_LRU_H

#include "ord/base.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ord_lru_figures {
    size_t size;                         /* entries present */
    uint64_t nhits, nmisses, nforgotten; /* forgotten to make room */
};

struct ord_lru_entry;

struct ord_lru {
    struct ord_mutex lock;         /* protects all that follows */
    struct ord_lru_entry *entries; /* capacity + 1: the last heads the list */
    unsigned char *values;
    size_t *buckets;
    size_t capacity, value_bytes, nbuckets;
    struct ord_lru_figures figures;
};

/* capacity     entries
 * value_bytes  the size of each value */
int ord_lru_init(struct ord_lru *lru, size_t capacity,
                 size_t value_bytes);     /* EINVAL, ENOMEM */
int ord_lru_destroy(struct ord_lru *lru); /* EBUSY */

int ord_lru_get(struct ord_lru *lru, uint64_t key, void *value); /* ENOENT */
void ord_lru_put(struct ord_lru *lru, uint64_t key, const void *value);
int ord_lru_remove(struct ord_lru *lru, uint64_t key); /* ENOENT */
void ord_lru_read(struct ord_lru *lru, struct ord_lru_figures *figures);

struct ord_lru_sharded {
    struct ord_lru *shards;
    size_t nshards;
};

/* capacity  entries in all; each shard gets its part of it, rounded up. */
int ord_lru_sharded_init(struct ord_lru_sharded *lru, size_t nshards,
                         size_t capacity,
                         size_t value_bytes); /* EINVAL, ENOMEM */

/* After EBUSY the cache may not be used, but the call is to be repeated. */
int ord_lru_sharded_destroy(struct ord_lru_sharded *lru); /* EBUSY */

int ord_lru_sharded_get(struct ord_lru_sharded *lru, uint64_t key,
                        void *value); /* ENOENT */
void ord_lru_sharded_put(struct ord_lru_sharded *lru, uint64_t key,
                         const void *value);
int ord_lru_sharded_remove(struct ord_lru_sharded *lru,
                           uint64_t key); /* ENOENT */

/* The sums over the shards, which are read one after the other. */
void ord_lru_sharded_read(struct ord_lru_sharded *lru,
                          struct ord_lru_figures *figures);

#ifdef __cplusplus
}
#endif

#endif
