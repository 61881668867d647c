/* SPDX-License-Identifier: MIT
 * births.c - where locks were initialized, until somebody needs to know. */
#include "runtime/births.h"

#include <stdatomic.h>
#include <stddef.h>

#include "runtime/places.h"

enum { LOG2_LINES = 13, WORDS = 1 << (LH_PLACE_LINE - 3) };

/* One place for each word of each hash of a line: who comes second is made
 * known to the detector. */
static struct note {
    _Atomic uintptr_t address; /* 0: free; claimed by exchange */
    _Atomic uint32_t stack;    /* belongs to who claimed, like kind; relaxed:
                                  whoever asks for it uses the lock, which
                                  orders it */
    _Atomic uint8_t kind;
} notes[WORDS << LOG2_LINES];

static struct note *line_of(uintptr_t address)
{
    return &notes[((address >> LH_PLACE_LINE) * UINT64_C(0x9e3779b97f4a7c15) >>
                   (64 - LOG2_LINES)) *
                  WORDS];
}

static struct note *place_of(uintptr_t address)
{
    return line_of(address) + (address >> 3) % WORDS;
}

bool lh_birth_note(uintptr_t address, uint8_t kind, uint32_t stack)
{
    struct note *n = place_of(address);
    uintptr_t none = 0;

    if (atomic_compare_exchange_strong_explicit(&n->address, &none, address,
                                                memory_order_relaxed,
                                                memory_order_relaxed))
        lh_place_add(address);
    else if (none != address)
        return false;
    atomic_store_explicit(&n->stack, stack, memory_order_relaxed);
    atomic_store_explicit(&n->kind, kind, memory_order_relaxed);
    return true;
}

uint32_t lh_birth_take(uintptr_t address)
{
    struct note *n = place_of(address);
    uint32_t stack;

    if (atomic_load_explicit(&n->address, memory_order_relaxed) != address)
        return 0;
    stack = atomic_load_explicit(&n->stack, memory_order_relaxed);
    atomic_store_explicit(&n->address, 0, memory_order_relaxed);
    lh_place_remove(address);
    return stack;
}

uintptr_t lh_birth_within(uintptr_t low, uintptr_t high, uint8_t *kind)
{
    struct note *line = line_of(low);

    for (struct note *n = line; n < line + WORDS; n++) {
        uintptr_t address =
            atomic_load_explicit(&n->address, memory_order_relaxed);
        if (address < low || address >= high)
            continue;
        *kind = atomic_load_explicit(&n->kind, memory_order_relaxed);
        return address;
    }
    return 0;
}
