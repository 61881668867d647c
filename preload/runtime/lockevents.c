/* SPDX-License-Identifier: MIT
 * lockevents.c - locks are born, named, asserted, and die. */
#include "runtime/detector.h"

#include <string.h>

#include "core/order.h"
#include "runtime/arena.h"
#include "runtime/births.h"
#include "runtime/config.h"
#include "runtime/guard.h"
#include "runtime/locks.h"
#include "runtime/misuse.h"
#include "runtime/news.h"
#include "runtime/request.h"
#include "runtime/shared.h"
#include "runtime/stacks.h"
#include "runtime/state.h"
#include "runtime/unwind.h"

/* Dead locks leave the lh_state.order store when they are many. */
static void sweep_order(void)
{
    if (!lh_self || !lh_order_wants_sweep(lh_state.order))
        return;
    lh_state.judged = lh_self; /* a sweep settles what was put off */
    for (struct lh_thread *t = lh_thread_first(); t; t = t->next)
        lh_request_keep_counts(t);
    lh_order_sweep(lh_state.order);
    lh_state_new_epoch(); /* caches name dependencies by numbers that are void
                             now */
}

/* Every cached key that mentions the address dies. */
static void renew_generation(void *address)
{
    atomic_fetch_add_explicit(lh_generation_of(address), 1,
                              memory_order_relaxed);
}

/* The address is no longer the lock that it was, if it was one. */
static void forget(void *address)
{
    lh_lock node = lh_lock_end((uintptr_t)address);

    renew_generation(address);
    if (!node)
        return;
    lh_order_end_lock(lh_state.order, node);
    sweep_order();
}

/* Gives the lock back and tells what a sweep may have found. */
static void leave(const struct lh_guard *guard)
{
    lh_rawlock_give(&lh_state.lock);
    if (lh_self)
        lh_news_flush(lh_self);
    lh_guard_leave(guard);
}

uint32_t lh_detector_stack(struct lh_thread *t, void *pc, uintptr_t cfa)
{
    uint8_t hint;
    uint32_t stack = lh_stack_recall(t, pc, cfa, &hint);
    struct lh_guard guard;

    if (stack)
        return stack;
    lh_guard_enter(&guard);
    lh_detector_check_process();
    t->busy = true;
    stack = lh_config.stacks == LH_STACKS_PC ? lh_stack_of_pc(pc)
                                             : lh_stack_take(t, pc, cfa);
    t->busy = false;
    lh_guard_leave(&guard);
    return stack;
}

void lh_detector_lock_born(void *address, uint8_t kind, void *pc, uintptr_t cfa)
{
    struct lh_thread *t = lh_self ? lh_self : lh_detector_attach();
    struct lh_guard guard;
    struct lh_lock_info *l;
    uint32_t stack;

    if (!t || t->busy || lh_state_is_off())
        return;
    lh_shared_notice(address, kind);
    lh_held_forget(t, address);
    stack = lh_detector_stack(t, pc, cfa);
    if (!lh_lock_may_be_known((uintptr_t)address) &&
        lh_birth_note((uintptr_t)address, stack)) {
        renew_generation(address);
        return;
    }
    lh_state_enter(&guard);
    lh_birth_take((uintptr_t)address);
    forget(address);
    l = lh_lock_find((uintptr_t)address, true);
    if (l) {
        l->kind = kind;
        l->born = stack;
        l->initialized = true;
    } else {
        lh_state.short_of_memory = true;
    }
    leave(&guard);
}

void lh_detector_lock_died(void *address)
{
    struct lh_guard guard;

    if (lh_state_is_off())
        return;
    if (lh_self)
        lh_held_forget(lh_self, address);
    lh_birth_take((uintptr_t)address);
    if (!lh_lock_may_be_known((uintptr_t)address)) {
        renew_generation(address);
        return;
    }
    lh_state_enter(&guard);
    forget(address);
    leave(&guard);
}

static char *copy_text(const char *text)
{
    size_t size_bytes = strlen(text) + 1;
    char *copy = lh_arena_small(size_bytes);

    return copy ? memcpy(copy, text, size_bytes) : NULL;
}

/* The annotation of the lock at an address, whose next mention records it
 * anew; NULL when memory is short. */
static struct lh_annotation *annotate(void *address)
{
    struct lh_lock_info *l = lh_lock_find((uintptr_t)address, true);

    if (!l)
        return NULL;
    l->recorded = false;
    return lh_lock_annotate(l);
}

void lh_detector_name_lock(void *address, const char *name)
{
    struct lh_guard guard;
    struct lh_annotation *a;

    if (lh_state_is_off())
        return;
    lh_state_enter(&guard);
    a = annotate(address);
    if (a && (!a->name || strcmp(a->name, name) != 0))
        a->name = copy_text(name);
    lh_state_leave(&guard);
}

void lh_detector_rank_lock(void *address, int rank)
{
    struct lh_guard guard;
    struct lh_annotation *a;

    if (lh_state_is_off())
        return;
    lh_state_enter(&guard);
    a = annotate(address);
    if (a) {
        a->ranked = true;
        a->rank = rank;
    }
    lh_state_leave(&guard);
}

void lh_detector_assert(void *address, bool expected, void *pc, uintptr_t cfa)
{
    struct lh_thread *t = lh_self ? lh_self : lh_detector_attach();

    if (!t || t->busy || lh_state_is_off() ||
        !!lh_held_find(t, address, false) == expected)
        return;
    lh_misuse_report(&(struct lh_misuse){
        .kind = LH_ASSERTION,
        .lock_kind = LH_KIND_ANNOTATED,
        .lock = address,
        .pc = pc,
        .cfa = cfa,
        .detail = expected ? "held" : "not-held",
    });
}
