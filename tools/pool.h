/* SPDX-License-Identifier: MIT
 *
 * pool.h - memory that is given back all at once.
 *
 * A command that cannot get memory says so and exits with 2; no function here
 * returns NULL.
 */
#ifndef LH_TOOLS_POOL_H
#define LH_TOOLS_POOL_H

#include <stddef.h>

struct lh_pool {
    struct lh_pool_block *blocks; /* newest first; NULL in a new pool */
    size_t left;                  /* free bytes at the end of that one */
};

/* Zeroed and aligned for any type. */
void *lh_pool_alloc(struct lh_pool *pool, size_t size_bytes)
    __attribute__((returns_nonnull));
/* Room for n elements; they and their product may be anything. */
void *lh_pool_array(struct lh_pool *pool, size_t n, size_t size_bytes);
char *lh_pool_copy(struct lh_pool *pool, const char *text)
    __attribute__((returns_nonnull));
char *lh_pool_format(struct lh_pool *pool, const char *format, ...)
    __attribute__((format(printf, 2, 3), returns_nonnull));
void lh_pool_free(struct lh_pool *pool);

/* Zeroed, from the heap; given back with free(). */
void *lh_pool_heap(size_t size_bytes);

/* A heap array with room for n + 1 elements where it had room for n: the
 * usual growth by doubling, *capacity counting elements. */
void *lh_pool_grow(void *array, size_t n, size_t *capacity, size_t size_bytes);

#endif
