/* SPDX-License-Identifier: MIT
 *
 * gonce.c - GLib's initializers that run once: whoever comes meanwhile waits.
 *
 * The thread that initializes holds the once like a lock until it is done. The
 * macros of GLib's headers ask for it only while it is not done yet.
 */
#include "hooks/glib.h"

enum { how = LH_HOW(LH_EXCLUSIVE, LH_WAIT_BLOCK, LH_KIND_ONCE) };

struct run {
    void *once;
    lh_glib_call *function;
    void *argument;
    struct lh_slot *slot;
    bool has_begun;
};

static void *run(void *argument)
{
    struct run *r = argument;
    void *result;

    r->has_begun = true;
    lh_held_settle(r->slot, r->once, LH_HOLDS);
    result = r->function(r->argument);
    lh_held_release(r->once);
    return result;
}

LH_HOOK void *g_once_impl(void *once, lh_glib_call *function, void *argument)
{
    struct run r = {
        .once = once,
        .function = function,
        .argument = argument,
        .slot = lh_held_push(once, how, LH_CALLER(), LH_CFA()),
    };
    void *result = lh_glib()->once_impl(once, run, &r);

    if (!r.has_begun)
        lh_held_settle(r.slot, once, LH_GONE);
    return result;
}

/* True: the caller is to initialize, and then to leave. */
LH_HOOK int g_once_init_enter(void *location)
{
    return lh_glib_trylock(location, how, LH_CALLER(), LH_CFA(),
                           lh_glib()->once_init_enter);
}

/* What the headers of GLib before 2.32 call. */
LH_HOOK int g_once_init_enter_impl(void *location)
{
    return lh_glib_trylock(location, how, LH_CALLER(), LH_CFA(),
                           lh_glib()->once_init_enter_impl);
}

LH_HOOK void g_once_init_leave(void *location, uintptr_t result)
{
    lh_held_release(location);
    lh_glib()->once_init_leave(location, result);
}
