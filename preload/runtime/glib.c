/* SPDX-License-Identifier: MIT
 * glib.c - the functions behind our hooks of GLib's locks. */
#include "runtime/glib.h"

#include <stddef.h>
#include <string.h>

#include "runtime/held.h"
#include "runtime/late.h"
#include "runtime/sys.h"

struct lh_glib lh_glib_table;
_Atomic bool lh_glib_ready;

/* libglib-2.0.so.0; wheels and bundles call theirs libglib-2-1a2b3c4d.0.so. */
#define LIBRARY "libglib-2"

#define ROW(member)                                                            \
    {                                                                          \
        "g_" #member, offsetof(struct lh_glib, member)                         \
    }

static const struct symbol {
    const char *name;
    size_t slot; /* offset in struct lh_glib */
} symbols[] = {
    ROW(mutex_init),
    ROW(mutex_clear),
    ROW(mutex_lock),
    ROW(mutex_unlock),
    ROW(mutex_trylock),
    ROW(rec_mutex_init),
    ROW(rec_mutex_clear),
    ROW(rec_mutex_lock),
    ROW(rec_mutex_unlock),
    ROW(rec_mutex_trylock),
    ROW(rw_lock_init),
    ROW(rw_lock_clear),
    ROW(rw_lock_reader_lock),
    ROW(rw_lock_reader_unlock),
    ROW(rw_lock_writer_lock),
    ROW(rw_lock_writer_unlock),
    ROW(rw_lock_reader_trylock),
    ROW(rw_lock_writer_trylock),
    ROW(cond_wait),
    ROW(cond_wait_until),
    ROW(once_impl),
    ROW(once_init_enter),
    ROW(once_init_enter_impl),
    ROW(once_init_leave),
    ROW(async_queue_lock),
    ROW(async_queue_unlock),
    ROW(mutex_new),
    ROW(mutex_free),
    ROW(cond_timed_wait),
    ROW(static_mutex_free),
    ROW(static_rec_mutex_lock),
    ROW(static_rec_mutex_unlock),
    ROW(static_rec_mutex_free),
    ROW(static_rec_mutex_trylock),
    ROW(static_rec_mutex_lock_full),
    ROW(static_rec_mutex_unlock_full),
    ROW(static_rw_lock_reader_lock),
    ROW(static_rw_lock_reader_unlock),
    ROW(static_rw_lock_writer_lock),
    ROW(static_rw_lock_writer_unlock),
    ROW(static_rw_lock_free),
    ROW(static_rw_lock_reader_trylock),
    ROW(static_rw_lock_writer_trylock),
};

/*
 * Called for a function that is nowhere. Our own definition is what made the
 * program believe in it, when it looked for a weak symbol; without GLib there
 * is no lock to be had, and to go on without one would be worse than to end.
 */
static void missing(void)
{
    static const char text[] =
        "lockhound: symbol lookup error: a lock function "
        "of GLib is called, but no GLib is loaded\n";

    lh_sys_write(2, text, sizeof text - 1);
    lh_sys_exit(127);
}

void lh_glib_resolve(void)
{
    void *lock = lh_late_symbol(LIBRARY, "g_mutex_lock");

    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *f = lock ? lh_late_symbol(LIBRARY, symbols[i].name) : NULL;

        if (!f)
            f = (void *)(uintptr_t)missing;
        memcpy((char *)&lh_glib_table + symbols[i].slot, &f, sizeof f);
    }
    if (!lock)
        return;
    lh_held_set_maker(lock);
    atomic_store_explicit(&lh_glib_ready, true, memory_order_release);
}
