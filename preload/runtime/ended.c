/* SPDX-License-Identifier: MIT
 * ended.c - who destroyed a lock. */
#include "runtime/ended.h"

#include <stdatomic.h>
#include <stddef.h>

enum { LOG2_NOTES = 12 };

/* Relaxed: whoever uses a lock that another thread destroys has no order
 * anyway, and at worst names another destroy of this place. */
static struct note {
    _Atomic uintptr_t lock; /* 0: none */
    _Atomic uint32_t number, stack;
} notes[1 << LOG2_NOTES];

static struct note *place_of(const void *lock)
{
    return &notes[((uintptr_t)lock >> 3) * UINT64_C(0x9e3779b97f4a7c15) >>
                  (64 - LOG2_NOTES)];
}

void lh_ended_note(const void *lock, struct lh_holder by)
{
    struct note *n = place_of(lock);

    atomic_store_explicit(&n->lock, 0, memory_order_relaxed);
    atomic_store_explicit(&n->number, by.number, memory_order_relaxed);
    atomic_store_explicit(&n->stack, by.stack, memory_order_relaxed);
    atomic_store_explicit(&n->lock, (uintptr_t)lock, memory_order_relaxed);
}

bool lh_ended_take(const void *lock, struct lh_holder *by)
{
    struct note *n = place_of(lock);

    if (atomic_load_explicit(&n->lock, memory_order_relaxed) != (uintptr_t)lock)
        return false;
    by->number = atomic_load_explicit(&n->number, memory_order_relaxed);
    by->stack = atomic_load_explicit(&n->stack, memory_order_relaxed);
    atomic_store_explicit(&n->lock, 0, memory_order_relaxed);
    return true;
}
