/* SPDX-License-Identifier: MIT
 * arena.c - memory by mmap(2), within a budget. */
#include "runtime/arena.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>

#include "runtime/sys.h"

enum { PAGE = 4096, CHUNK = 256 * 1024 };

/* Bytes mapped and still allowed. Relaxed: the limit need not be sharp. */
static _Atomic size_t budget = SIZE_MAX;

static _Atomic bool refused;

static char *chunk;       /* the rest of the present chunk; detector's lock */
static size_t chunk_left; /* likewise */

void lh_arena_set_budget(size_t budget_bytes)
{
    atomic_store_explicit(&budget, budget_bytes ? budget_bytes : SIZE_MAX,
                          memory_order_relaxed);
}

bool lh_arena_ran_out(void)
{
    return atomic_load_explicit(&refused, memory_order_relaxed);
}

static size_t pages(size_t size_bytes)
{
    return (size_bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
}

static int take(size_t size_bytes)
{
    size_t left = atomic_load_explicit(&budget, memory_order_relaxed);

    do {
        if (left < size_bytes)
            return 0;
        if (left == SIZE_MAX)
            return 1;
    } while (!atomic_compare_exchange_weak_explicit(
        &budget, &left, left - size_bytes, memory_order_relaxed,
        memory_order_relaxed));
    return 1;
}

static void give_back(size_t size_bytes)
{
    if (atomic_load_explicit(&budget, memory_order_relaxed) != SIZE_MAX)
        atomic_fetch_add_explicit(&budget, size_bytes, memory_order_relaxed);
}

static void *refuse(void)
{
    atomic_store_explicit(&refused, true, memory_order_relaxed);
    return NULL;
}

void *lh_arena_resize(void *ctx, void *block, size_t old_bytes,
                      size_t new_bytes)
{
    size_t old_size = pages(old_bytes), new_size = pages(new_bytes);
    void *p;

    (void)ctx;
    if (new_size == 0) {
        if (block)
            lh_sys_unmap(block, old_size);
        give_back(old_size);
        return NULL;
    }
    if (block && new_size == old_size)
        return block;
    if (new_size > old_size && !take(new_size - old_size))
        return refuse();
    p = block ? lh_sys_remap(block, old_size, new_size)
              : lh_sys_map(new_size, -1);
    if (!p) {
        if (new_size > old_size)
            give_back(new_size - old_size);
        return refuse();
    }
    if (new_size < old_size)
        give_back(old_size - new_size);
    return p;
}

void lh_arena_empty(void *block, size_t size_bytes)
{
    lh_sys_advise(block, pages(size_bytes), MADV_DONTNEED);
}

struct lh_mem lh_arena_mem(void)
{
    return (struct lh_mem){ .resize = lh_arena_resize, .ctx = NULL };
}

void *lh_arena_small(size_t size_bytes)
{
    void *p;

    size_bytes = (size_bytes + 15) & ~(size_t)15;
    if (size_bytes > CHUNK)
        return lh_arena_resize(NULL, NULL, 0, size_bytes);
    if (size_bytes > chunk_left) {
        char *fresh = lh_arena_resize(NULL, NULL, 0, CHUNK);
        if (!fresh)
            return NULL;
        chunk = fresh;
        chunk_left = CHUNK;
    }
    p = chunk;
    chunk += size_bytes;
    chunk_left -= size_bytes;
    return p;
}

uint32_t *lh_arena_wiped_by_fork(void)
{
    uint32_t *word = lh_sys_map(PAGE, -1);

    if (word && lh_sys_advise(word, PAGE, MADV_WIPEONFORK) != 0) {
        lh_sys_unmap(word, PAGE);
        return NULL;
    }
    if (word)
        *word = 1;
    return word;
}

int lh_arena_reserve(void **array, size_t *capacity, size_t element_bytes,
                     size_t n)
{
    size_t grown = *capacity ? *capacity : PAGE / element_bytes + 1;
    void *p;

    if (n <= *capacity)
        return 0;
    while (grown < n)
        grown *= 2;
    p = lh_arena_resize(NULL, *array, *capacity * element_bytes,
                        grown * element_bytes);
    if (!p)
        return ENOMEM;
    *array = p;
    *capacity = grown;
    return 0;
}
