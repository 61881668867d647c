/* SPDX-License-Identifier: MIT
 *
 * self.c - a thread is about to wait for itself, for good.
 */
#include "hooks/hook.h"
#include "runtime/holders.h"
#include "runtime/misuse.h"

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
        .holder_stack = lh_holder_own_stack(held),
    });
}
