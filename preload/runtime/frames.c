/* SPDX-License-Identifier: MIT
 * frames.c - locks that lie on a thread's stack. */
#include "runtime/frames.h"

#include <stddef.h>

#include "runtime/config.h"
#include "runtime/detector.h"
#include "runtime/ends.h"
#include "runtime/guard.h"
#include "runtime/news.h"
#include "runtime/stacks.h"
#include "runtime/state.h"
#include "runtime/sys.h"
#include "runtime/unwind.h"

/* A bit for each MiB, by the low bits of its number: set where a stack is or
 * was. Most locks lie elsewhere, and no list of threads is walked for them. */
enum { LOG2_BITS = 16, LOG2_BYTES = 20 };
static uint32_t stacks[(1 << LOG2_BITS) / 32];

static uint32_t bit_of(uintptr_t address)
{
    return (uint32_t)(address >> LOG2_BYTES) & ((1u << LOG2_BITS) - 1);
}

static bool is_near_stack(uintptr_t address)
{
    uint32_t i = bit_of(address);

    return stacks[i / 32] >> i % 32 & 1;
}

void lh_frames_add_stack(const struct lh_thread *t)
{
    uintptr_t at = t->stack_low;

    for (uint32_t n = 0; at < t->stack_high && n < 1u << LOG2_BITS; n++) {
        uint32_t i = bit_of(at);
        stacks[i / 32] |= 1u << i % 32;
        at = (at | ((1u << LOG2_BYTES) - 1)) + 1;
    }
}

struct lh_thread *lh_frames_owner(struct lh_thread *self, uintptr_t address)
{
    if (self && lh_frames_owns(self, address))
        return self;
    if (!is_near_stack(address))
        return NULL;
    for (struct lh_thread *t = lh_thread_first(); t; t = t->next)
        if (lh_frames_owns(t, address))
            return t;
    return NULL;
}

void lh_frames_add_lock(struct lh_thread *t, uintptr_t address)
{
    uintptr_t lowest =
        atomic_load_explicit(&t->stack_lock, memory_order_relaxed);

    while (address < lowest && !atomic_compare_exchange_weak_explicit(
                                   &t->stack_lock, &lowest, address,
                                   memory_order_relaxed, memory_order_relaxed))
        ;
}

bool lh_frames_lasts(const struct lh_thread *owner, uintptr_t address)
{
    uintptr_t outermost =
        atomic_load_explicit(&owner->outermost, memory_order_relaxed);

    /* Above all frames are thread-local variables. */
    return (outermost && address >= outermost) ||
           (owner->stack_base && address > owner->stack_base);
}

bool lh_frames_is_sure(const struct lh_thread *owner,
                       const struct lh_thread *user, uintptr_t address)
{
    return user->creator == owner->number && user->under &&
           user->under <= address;
}

void lh_frames_left(struct lh_thread *t, uintptr_t cfa)
{
    uintptr_t lowest =
        atomic_load_explicit(&t->stack_lock, memory_order_relaxed);

    /* An alternate signal stack may lie anywhere, even in a frame. */
    if (cfa <= lowest || !lh_frames_owns(t, cfa) ||
        lh_sys_altstack_left(cfa) != SIZE_MAX)
        return;
    lh_rawlock_take(&lh_state.lock);
    lh_ends_forget_all(lowest, cfa);
    /* Those that are left lie above. */
    atomic_store_explicit(&t->stack_lock, cfa, memory_order_relaxed);
    lh_rawlock_give(&lh_state.lock);
    lh_news_flush(t);
}

void lh_frames_creating(void *pc, uintptr_t cfa)
{
    struct lh_thread *t = lh_self ? lh_self : lh_detector_attach();
    struct lh_guard guard;
    uint8_t hint;

    if (!t || t->busy || lh_state_is_off())
        return;
    lh_guard_enter(&guard);
    lh_detector_check_process();
    t->busy = true;
    if (lh_frames_may_be_left(t, cfa))
        lh_frames_left(t, cfa);
    t->creating = lh_frames_owns(t, cfa) ? cfa : 0;
    if (lh_config.stacks != LH_STACKS_PC && !lh_stack_recall(t, pc, cfa, &hint))
        lh_stack_take(t, pc, cfa);
    t->busy = false;
    lh_guard_leave(&guard);
}

void lh_frames_saw_outermost(struct lh_thread *t, uintptr_t low)
{
    uintptr_t known = atomic_load_explicit(&t->outermost, memory_order_relaxed);

    if (!known || low < known)
        atomic_store_explicit(&t->outermost, low, memory_order_relaxed);
}
