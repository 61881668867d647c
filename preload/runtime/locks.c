/* SPDX-License-Identifier: MIT
 * locks.c - which lock an address is now, and what is known of it. */
#include "runtime/locks.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "runtime/arena.h"
#include "runtime/births.h"
#include "runtime/places.h"

enum { BLOCK = 1024 };

/* Infos lie in blocks that never move; numbers are 1 and up. */
static struct lh_lock_info **blocks;
static size_t nblocks, blocks_capacity;
static uint32_t nplaces;    /* numbers given out */
static uint32_t *free_list; /* numbers of ended locks */
static size_t nfree, free_capacity;

/* By address: open addressing, linear, deletion by shifting back. */
static uint32_t *table;
static size_t table_size, nlive;

/* How many known locks there are for each hash of an address; stays where it is
 * once it is full. Written under the detector's lock, read by anyone. */
enum { LOG2_FILTER = 16 };
static _Atomic uint16_t filter[1 << LOG2_FILTER];

static uint32_t *by_node; /* node -> number */
static size_t by_node_capacity;

static uint32_t serials;
static uint16_t era; /* grows with each generation of forks */

static _Atomic uint16_t *filter_of(uintptr_t address)
{
    return &filter[(address >> 3) * UINT64_C(0x9e3779b97f4a7c15) >>
                   (64 - LOG2_FILTER)];
}

static void count_in_filter(uintptr_t address, int change)
{
    _Atomic uint16_t *f = filter_of(address);
    uint16_t n = atomic_load_explicit(f, memory_order_relaxed);

    if (n < UINT16_MAX)
        atomic_store_explicit(f, (uint16_t)(n + change), memory_order_relaxed);
}

bool lh_lock_may_be_known(uintptr_t address)
{
    return atomic_load_explicit(filter_of(address), memory_order_relaxed) > 0;
}

static struct lh_lock_info *info(uint32_t number)
{
    return &blocks[(number - 1) / BLOCK][(number - 1) % BLOCK];
}

/* Locks of one line of memory have one home: they end together. */
static size_t home(uintptr_t address, size_t size)
{
    return (size_t)((address >> LH_PLACE_LINE) * UINT64_C(0x9e3779b97f4a7c15) >>
                    20) &
           (size - 1);
}

/* Where the address is, or the empty place where it would go. */
static size_t probe(uintptr_t address)
{
    size_t i = home(address, table_size);

    while (table[i] && info(table[i])->address != address)
        i = (i + 1) & (table_size - 1);
    return i;
}

static int grow_table(void)
{
    size_t n = table_size ? table_size * 2 : 1024;
    uint32_t *old = table;
    size_t old_size = table_size;
    uint32_t *fresh = lh_arena_resize(NULL, NULL, 0, n * sizeof *fresh);

    if (!fresh)
        return ENOMEM;
    table = fresh;
    table_size = n;
    for (size_t i = 0; i < old_size; i++)
        if (old[i])
            table[probe(info(old[i])->address)] = old[i];
    if (old)
        lh_arena_resize(NULL, old, old_size * sizeof *old, 0);
    return 0;
}

/* A number whose info can be filled; 0 when memory is short. */
static uint32_t new_number(void)
{
    void *array = blocks;

    if (nfree)
        return free_list[--nfree];
    if (nplaces == nblocks * BLOCK) {
        struct lh_lock_info *block;
        if (lh_arena_reserve(&array, &blocks_capacity, sizeof block,
                             nblocks + 1))
            return 0;
        blocks = array;
        block = lh_arena_resize(NULL, NULL, 0, BLOCK * sizeof *block);
        if (!block)
            return 0;
        blocks[nblocks++] = block;
    }
    return ++nplaces;
}

static struct lh_lock_info *current(struct lh_lock_info *lock)
{
    if (lock->era != era) {
        lock->era = era;
        lock->node = 0;
        lock->recorded = lock->settled = false;
    }
    return lock;
}

struct lh_lock_info *lh_lock_find(uintptr_t address, bool make)
{
    struct lh_lock_info *lock;
    uint32_t number;
    size_t at;

    if (table_size) {
        at = probe(address);
        if (table[at])
            return current(info(table[at]));
    }
    if (!make || (2 * nlive >= table_size && grow_table() != 0))
        return NULL;
    number = new_number();
    if (!number)
        return NULL;
    lock = info(number);
    *lock = (struct lh_lock_info){ .address = address,
                                   .serial = ++serials,
                                   .era = era };
    lock->born = lh_birth_take(address);
    lock->initialized = lock->born != 0;
    table[probe(address)] = number;
    count_in_filter(address, 1);
    lh_place_add(address);
    nlive++;
    return lock;
}

struct lh_lock_info *lh_lock_within(uintptr_t low, uintptr_t high)
{
    size_t i = table_size ? home(low, table_size) : 0;

    for (; table_size && table[i]; i = (i + 1) & (table_size - 1)) {
        struct lh_lock_info *lock = info(table[i]);
        if (lock->address >= low && lock->address < high)
            return current(lock);
    }
    return NULL;
}

static void remove_at(size_t hole)
{
    for (size_t i = (hole + 1) & (table_size - 1); table[i];
         i = (i + 1) & (table_size - 1)) {
        size_t want = home(info(table[i])->address, table_size);
        /* Move it back unless its home lies after the hole. */
        if (((i - want) & (table_size - 1)) >=
            ((i - hole) & (table_size - 1))) {
            table[hole] = table[i];
            hole = i;
        }
    }
    table[hole] = 0;
}

lh_lock lh_lock_end(uintptr_t address)
{
    void *array = free_list;
    uint32_t number;
    lh_lock node;
    size_t at;

    if (!table_size)
        return 0;
    at = probe(address);
    number = table[at];
    if (!number)
        return 0;
    node = current(info(number))->node;
    if (node)
        by_node[node] = 0;
    remove_at(at);
    count_in_filter(address, -1);
    lh_place_remove(address);
    nlive--;
    /* Without memory for the list the place is not used again. */
    if (lh_arena_reserve(&array, &free_capacity, sizeof *free_list,
                         nfree + 1) == 0) {
        free_list = array;
        free_list[nfree++] = number;
    }
    return node;
}

struct lh_lock_info *lh_lock_of_node(lh_lock node)
{
    return node < by_node_capacity && by_node[node] ? info(by_node[node])
                                                    : NULL;
}

int lh_lock_set_node(struct lh_lock_info *lock, lh_lock node)
{
    void *array = by_node;

    if (lh_arena_reserve(&array, &by_node_capacity, sizeof *by_node,
                         (size_t)node + 1))
        return ENOMEM;
    by_node = array;
    by_node[node] = table[probe(lock->address)];
    lock->node = node;
    return 0;
}

struct lh_annotation *lh_lock_annotate(struct lh_lock_info *lock)
{
    if (!lock->annotation)
        lock->annotation = lh_arena_small(sizeof *lock->annotation);
    return lock->annotation;
}

uint32_t lh_locks_count(void)
{
    return serials;
}

void lh_locks_new_era(void)
{
    era++;
    if (by_node)
        memset(by_node, 0, by_node_capacity * sizeof *by_node);
}
