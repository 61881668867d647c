/* SPDX-License-Identifier: MIT
 * pool.c - memory that is given back all at once. */
#include "pool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diag.h"

/* Many pools live for one sentence: blocks begin small. */
enum { ALIGN = 16, FIRST_BYTES = 1024 - 64, BLOCK_BYTES = 64 * 1024 - 64 };

struct lh_pool_block {
    struct lh_pool_block *next;
    size_t size_bytes;
    _Alignas(ALIGN) char data[];
};

static void *check(void *memory)
{
    if (!memory)
        lh_diag_fail("out of memory");
    return memory;
}

/* Of a block for an allocation of that size: each is twice the last one. */
static size_t block_bytes(const struct lh_pool *pool, size_t size_bytes)
{
    size_t next = pool->blocks ? pool->blocks->size_bytes * 2 : FIRST_BYTES;
    if (next > BLOCK_BYTES)
        next = BLOCK_BYTES;
    return size_bytes > next ? size_bytes : next;
}

static void add_block(struct lh_pool *pool, size_t size_bytes)
{
    struct lh_pool_block *b = check(calloc(1, sizeof *b + size_bytes));
    b->next = pool->blocks;
    b->size_bytes = size_bytes;
    pool->blocks = b;
    pool->left = size_bytes;
}

void *lh_pool_alloc(struct lh_pool *pool, size_t size_bytes)
{
    if (size_bytes > (size_t)-1 / 2)
        check(NULL);
    size_bytes = (size_bytes + ALIGN - 1) / ALIGN * ALIGN;
    if (!pool->blocks || size_bytes > pool->left)
        add_block(pool, block_bytes(pool, size_bytes));
    struct lh_pool_block *b = pool->blocks;
    void *result = b->data + (b->size_bytes - pool->left);
    pool->left -= size_bytes;
    return result;
}

void *lh_pool_array(struct lh_pool *pool, size_t n, size_t size_bytes)
{
    size_t total;
    if (__builtin_mul_overflow(n, size_bytes, &total))
        check(NULL);
    return lh_pool_alloc(pool, total);
}

char *lh_pool_copy(struct lh_pool *pool, const char *text)
{
    size_t n = strlen(text) + 1;
    return memcpy(lh_pool_alloc(pool, n), text, n);
}

char *lh_pool_format(struct lh_pool *pool, const char *format, ...)
{
    char *text;
    va_list args;
    va_start(args, format);
    int n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0)
        check(NULL);
    char *result = lh_pool_copy(pool, text);
    free(text);
    return result;
}

void lh_pool_free(struct lh_pool *pool)
{
    while (pool->blocks) {
        struct lh_pool_block *b = pool->blocks;
        pool->blocks = b->next;
        free(b);
    }
    pool->left = 0;
}

void *lh_pool_heap(size_t size_bytes)
{
    return check(calloc(1, size_bytes));
}

void *lh_pool_grow(void *array, size_t n, size_t *capacity, size_t size_bytes)
{
    if (n < *capacity)
        return array;
    *capacity = *capacity ? *capacity * 2 : 16;
    return check(reallocarray(array, *capacity, size_bytes));
}
