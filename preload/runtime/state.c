/* SPDX-License-Identifier: MIT
 * state.c - the detector's own state, and the lock around it. */
#include "runtime/state.h"

#include <stddef.h>

#include "runtime/arena.h"
#include "runtime/detector.h"
#include "runtime/held.h"
#include "runtime/news.h"
#include "runtime/printer.h"
#include "runtime/stacks.h"
#include "runtime/sys.h"

struct lh_state lh_state;

void lh_state_enter(struct lh_guard *guard)
{
    lh_guard_enter(guard);
    lh_detector_check_process();
    lh_rawlock_take(&lh_state.lock);
}

void lh_state_leave(const struct lh_guard *guard)
{
    lh_rawlock_give(&lh_state.lock);
    lh_guard_leave(guard);
}

/*
 * The root of a thread's chain keys names its segment and the lh_state.epoch,
 * so that in a new one nothing is known. Requests under locks that another
 * thread holds right now are found for this once.
 */
void lh_state_renew_root(struct lh_thread *t)
{
    struct lh_segment s = lh_segments_now(lh_state.segments, t->number);

    t->chunk->slots[0].key =
        lh_fold((uint64_t)s.thread << 32 | s.index,
                UINT64_C(0xe7037ed1a0b428db)) ^
        (uint64_t)lh_state.epoch * UINT64_C(0x589965cc75374cc3);
    if (t == lh_self)
        lh_held_renew_keys(t);
}

void lh_state_new_epoch(void)
{
    lh_state.epoch++;
    for (struct lh_thread *t = lh_thread_first(); t; t = t->next)
        lh_state_renew_root(t);
}

static uint32_t site_of(void *ctx, uint32_t stack)
{
    (void)ctx;
    return lh_stack_site(stack);
}

void lh_state_begin(struct lh_thread *self)
{
    lh_order_free(lh_state.order);
    lh_segments_free(lh_state.segments);
    lh_thread_publish_all();
    lh_fmt_reset(&lh_state.out);
    lh_state.nthreads = lh_state.nfindings = 0;
    lh_state.found_something = lh_state.short_of_memory = false;
    lh_state.segments = lh_segments_new(lh_arena_mem());
    lh_state.order = lh_state.segments
                         ? lh_order_new(lh_arena_mem(), lh_state.segments,
                                        lh_news_on_ring, site_of, NULL)
                         : NULL;
    if (!lh_state.order ||
        (self && lh_segments_add(lh_state.segments, 0, &self->number) != 0)) {
        lh_state_turn_off("out of memory: nothing is watched");
        return;
    }
    if (!self)
        return;
    self->tid = (int32_t)lh_sys_gettid();
    self->findings = NULL;
    self->notes = 0;
    lh_cache_clear(&self->cache);
    self->cache_epoch = lh_order_epoch(lh_state.order);
    lh_state.nthreads = 1;
    lh_news_remember(self);
    lh_state_new_epoch();
}

void lh_state_turn_off(const char *why)
{
    if (!atomic_exchange_explicit(&lh_state.off, true, memory_order_relaxed))
        lh_printer_note(why);
}

void lh_detector_new_epoch(void)
{
    lh_rawlock_take(&lh_state.lock);
    lh_state_new_epoch();
    lh_rawlock_give(&lh_state.lock);
}
