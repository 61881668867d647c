/* SPDX-License-Identifier: MIT
 * places.c - where in memory there are locks whose end would matter. */
#include "runtime/places.h"

enum {
    PAGE_LINES = 1 << (LH_PLACE_PAGE - LH_PLACE_LINE),
    NGROUPS = 1 << 16, /* pages whose lines have counters of their own */
    FULL = UINT8_MAX,  /* a counter that got here stays */
};

_Atomic uint32_t lh_place_pages[LH_PLACE_NPAGES / 32];

/* How many locks are known in each line. */
static _Atomic uint8_t lines[NGROUPS * PAGE_LINES];

static _Atomic uint8_t *line_of(uintptr_t address)
{
    uintptr_t page = address >> LH_PLACE_PAGE;
    uintptr_t group = (page ^ page >> 16 ^ page >> 32) & (NGROUPS - 1);

    return &lines[group * PAGE_LINES + (address >> LH_PLACE_LINE) % PAGE_LINES];
}

static void count(uintptr_t address, int change)
{
    _Atomic uint8_t *line = line_of(address);
    uint8_t n = atomic_load_explicit(line, memory_order_relaxed);

    while (n != FULL && !atomic_compare_exchange_weak_explicit(
                            line, &n, (uint8_t)(n + change),
                            memory_order_relaxed, memory_order_relaxed))
        ;
}

void lh_place_add(uintptr_t address)
{
    uint32_t i = lh_place_index(address);

    count(address, 1);
    if (!lh_place_page_has_locks(address))
        atomic_fetch_or_explicit(&lh_place_pages[i / 32], 1u << i % 32,
                                 memory_order_relaxed);
}

void lh_place_remove(uintptr_t address)
{
    count(address, -1);
}

/* The first address after a block of that size, a power of two, that holds this
 * one; high if that comes first. */
static uintptr_t after(uintptr_t address, uintptr_t block_bytes, uintptr_t high)
{
    uintptr_t next = (address | (block_bytes - 1)) + 1;

    return next < high && next > address ? next : high;
}

/* A line with locks in one page, or end. */
static uintptr_t next_line(uintptr_t low, uintptr_t end)
{
    while (low < end &&
           !atomic_load_explicit(line_of(low), memory_order_relaxed))
        low = after(low, 1u << LH_PLACE_LINE, end);
    return low;
}

/* The bits of 32 pages that lie together are one word. */
static bool are_without_locks(uintptr_t address)
{
    return !atomic_load_explicit(&lh_place_pages[lh_place_index(address) / 32],
                                 memory_order_relaxed);
}

uintptr_t lh_place_next(uintptr_t low, uintptr_t high)
{
    while (low < high) {
        uintptr_t end = after(low, 1u << LH_PLACE_PAGE, high);

        if (are_without_locks(low)) {
            low = after(low, 32u << LH_PLACE_PAGE, high);
            continue;
        }
        if (lh_place_page_has_locks(low) && (low = next_line(low, end)) < end)
            return low;
        low = end;
    }
    return high;
}
