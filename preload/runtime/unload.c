/* SPDX-License-Identifier: MIT
 * unload.c - libraries that are unloaded. */
#include "runtime/unload.h"

#include "runtime/ends.h"
#include "runtime/news.h"
#include "runtime/stacks.h"
#include "runtime/state.h"
#include "runtime/unwind.h"

enum { LOOKS = 1000 };

_Atomic uint32_t lh_unload_looks;

void lh_ends_note_unload(void)
{
    if (lh_self)
        lh_self->unloading = (uintptr_t)__builtin_frame_address(0);
    atomic_store_explicit(&lh_unload_looks, LOOKS, memory_order_relaxed);
}

static void end_unloaded(void)
{
    uintptr_t low, high;

    while (lh_stacks_take_unloaded(&low, &high))
        lh_ends_forget_all(low, high);
    for (struct lh_thread *t = lh_thread_first(); t; t = t->next)
        lh_unwind_forget_stale(t);
    lh_state_new_epoch();
}

void lh_unload_look(struct lh_thread *t, uintptr_t cfa)
{
    uint32_t looks =
        atomic_load_explicit(&lh_unload_looks, memory_order_relaxed);
    bool is_over = t->unloading && cfa > t->unloading;

    if (is_over)
        t->unloading = 0;
    if (looks)
        atomic_store_explicit(&lh_unload_looks, is_over ? 0 : looks - 1,
                              memory_order_relaxed);
    lh_rawlock_take(&lh_state.lock);
    if (lh_stacks_drop_unloaded())
        end_unloaded();
    lh_rawlock_give(&lh_state.lock);
    lh_news_flush(t);
}
