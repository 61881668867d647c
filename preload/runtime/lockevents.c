/* SPDX-License-Identifier: MIT
 * lockevents.c - locks are born, named, asserted, and die. */
#include "runtime/detector.h"

#include <string.h>

#include "core/order.h"
#include "runtime/arena.h"
#include "runtime/births.h"
#include "runtime/config.h"
#include "runtime/ends.h"
#include "runtime/frames.h"
#include "runtime/guard.h"
#include "runtime/locks.h"
#include "runtime/misuse.h"
#include "runtime/news.h"
#include "runtime/shared.h"
#include "runtime/stacks.h"
#include "runtime/state.h"
#include "runtime/unwind.h"

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
    if (lh_frames_owns(t, (uintptr_t)address))
        lh_frames_add_lock(t, (uintptr_t)address);
    if (!lh_lock_may_be_known((uintptr_t)address) &&
        lh_birth_note((uintptr_t)address, kind, stack)) {
        lh_ends_renew(address);
        return;
    }
    lh_state_enter(&guard);
    lh_birth_take((uintptr_t)address);
    lh_ends_forget(address);
    l = lh_lock_find((uintptr_t)address, true);
    if (l) {
        l->kind = kind;
        l->born = stack;
        l->initialized = true;
    } else {
        lh_state.short_of_memory = true;
    }
    lh_ends_leave(&guard);
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
        lh_ends_renew(address);
        return;
    }
    lh_state_enter(&guard);
    lh_ends_forget(address);
    lh_ends_leave(&guard);
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
