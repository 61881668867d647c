/* SPDX-License-Identifier: MIT
 *
 * static_init.c - __cxa_guard_*: a function-local static of C++ is a lock that
 * its initializer runs under.
 *
 * Compilers look at the guard's first byte themselves: who comes here found
 * the object not initialized yet. An initializer that throws ends in
 * __cxa_guard_abort.
 */
#include "hooks/hook.h"
#include "runtime/cxxguard.h"

enum { asked = LH_HOW(LH_EXCLUSIVE, LH_WAIT_BLOCK, LH_KIND_STATIC_INIT) };

int __cxa_guard_acquire(lh_cxxguard *guard);
void __cxa_guard_release(lh_cxxguard *guard);
void __cxa_guard_abort(lh_cxxguard *guard);

LH_HOOK int __cxa_guard_acquire(lh_cxxguard *guard)
{
    struct lh_slot *slot = lh_self ? lh_held_find(lh_self, guard, false) : NULL;
    int is_ours;

    if (slot && lh_cxxguard_hangs())
        lh_self_deadlock(slot, LH_CALLER(), LH_CFA());
    slot = lh_held_push(guard, asked, LH_CALLER(), LH_CFA());
    is_ours = lh_cxxguard_acquire(guard);
    lh_held_settle(slot, guard, is_ours ? LH_HOLDS : LH_GONE);
    return is_ours;
}

LH_HOOK void __cxa_guard_release(lh_cxxguard *guard)
{
    lh_held_release(guard);
    lh_cxxguard_release(guard);
}

LH_HOOK void __cxa_guard_abort(lh_cxxguard *guard)
{
    lh_held_release(guard);
    lh_cxxguard_abort(guard);
}
