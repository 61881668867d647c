/* SPDX-License-Identifier: MIT
 * births.c - where locks were initialized, until somebody needs to know. */
#include "runtime/births.h"

#include <stdatomic.h>

enum { LOG2_NOTES = 16 };

/* One place for each hash: who comes second is made known to the detector. */
static struct note {
    _Atomic uintptr_t address; /* 0: free; claimed by exchange */
    _Atomic uint32_t stack;    /* belongs to who claimed; relaxed: whoever asks
                                  for it uses the lock, which orders it */
} notes[1 << LOG2_NOTES];

static struct note *place_of(uintptr_t address)
{
    return &notes[(address >> 3) * UINT64_C(0x9e3779b97f4a7c15) >>
                  (64 - LOG2_NOTES)];
}

bool lh_birth_note(uintptr_t address, uint32_t stack)
{
    struct note *n = place_of(address);
    uintptr_t none = 0;

    if (!atomic_compare_exchange_strong_explicit(&n->address, &none, address,
                                                 memory_order_relaxed,
                                                 memory_order_relaxed) &&
        none != address)
        return false;
    atomic_store_explicit(&n->stack, stack, memory_order_relaxed);
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
    return stack;
}
