/* SPDX-License-Identifier: MIT
 *
 * self.c - a thread is about to wait for itself, for good.
 */
#include "hooks/hook.h"
#include "runtime/guard.h"
#include "runtime/misuse.h"
#include "runtime/stacks.h"

/* Where the lock was taken, as far as that is known. */
static uint32_t stack_of(const struct lh_slot *slot)
{
    struct lh_guard guard;
    uint32_t stack = slot->stack;

    if (stack)
        return stack;
    lh_guard_enter(&guard);
    lh_detector_check_process();
    stack = lh_stack_of_pc(slot->pc);
    lh_guard_leave(&guard);
    return stack;
}

void lh_self_deadlock(const struct lh_slot *held, void *pc, uintptr_t cfa)
{
    if (lh_self->busy)
        return;
    lh_misuse_report(&(struct lh_misuse){
        .kind = LH_SELF,
        .lock_kind = (uint8_t)lh_kind_of(held->how),
        .lock = held->lock,
        .pc = pc,
        .cfa = cfa,
        .holder = lh_self->number,
        .holder_stack = stack_of(held),
    });
}
