/* SPDX-License-Identifier: MIT
 * libglib_user.c - a plugin that uses GLib: two locks in both orders. */
#include <glib.h>

#include "../guest/guest.h"

static GMutex a, b;
static int is_first_done;

static __attribute__((noinline)) void take_both(GMutex *outer, GMutex *inner)
{
    g_mutex_lock(outer); /* outer */
    g_mutex_lock(inner); /* inner */
    g_mutex_unlock(inner);
    g_mutex_unlock(outer);
}

static void *first(void *unused)
{
    take_both(&a, &b); /* first */
    set_flag(&is_first_done);
    return unused;
}

static void *second(void *unused)
{
    wait_flag(&is_first_done);
    take_both(&b, &a); /* second */
    return unused;
}

void plugin_run(void);
void plugin_run(void)
{
    GThread *t = g_thread_new("first", first, NULL);
    GThread *u = g_thread_new("second", second, NULL);

    g_thread_join(t);
    g_thread_join(u);
}
