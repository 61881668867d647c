/* SPDX-License-Identifier: MIT
 *
 * places.h - where in memory there are locks whose end would matter.
 *
 * A bit for each page and a counter for each line of 64 bytes, by the low bits
 * of their numbers: memory that lies together is told together, and what two
 * far apart have in common costs time, never a lock. Most memory that a
 * program gives back never held a lock: a test of one bit says so.
 *
 * Memory:   untouched until there are locks; then 64 bytes for each of their
 *           pages, and a bit for each page.
 * Threads:  all functions may run anywhere, also at the same time.
 * Signals:  may run with signals open.
 */
#ifndef LH_RUNTIME_PLACES_H
#define LH_RUNTIME_PLACES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LH_PLACE_PAGE = 12, /* log2 of bytes */
    LH_PLACE_LINE = 6,
    LH_PLACE_NPAGES = 1 << 20, /* that have bits of their own: 4 GiB */
};

/* Set, and never taken back: the lines tell more. Relaxed: whoever gives memory
 * back has got it from who used the locks in it. */
extern _Atomic uint32_t lh_place_pages[LH_PLACE_NPAGES / 32]
    __attribute__((visibility("hidden")));

static inline uint32_t lh_place_index(uintptr_t address)
{
    uintptr_t page = address >> LH_PLACE_PAGE;

    return (uint32_t)(page ^ page >> 20) & (LH_PLACE_NPAGES - 1);
}

static inline bool lh_place_page_has_locks(uintptr_t address)
{
    uint32_t i = lh_place_index(address);

    return atomic_load_explicit(&lh_place_pages[i / 32],
                                memory_order_relaxed) >>
               (i % 32) &
           1;
}

/* The first address from low on, and below high, at whose line there may be
 * locks; high if there is none. */
uintptr_t lh_place_next(uintptr_t low, uintptr_t high);

/* False only if there is surely no lock from low on and below high. */
static inline bool lh_place_may_hold(uintptr_t low, uintptr_t high)
{
    if (__builtin_expect(high - low <= 1u << LH_PLACE_PAGE, 1) &&
        !lh_place_page_has_locks(low) && !lh_place_page_has_locks(high - 1))
        return false;
    return lh_place_next(low, high) < high;
}

/* A lock at the address is known from now on; is not known any more. */
void lh_place_add(uintptr_t address);
void lh_place_remove(uintptr_t address);

#endif
