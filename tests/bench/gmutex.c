// SPDX-License-Identifier: MIT
/* gmutex.c - nanoseconds a lock/unlock pair of GLib's GMutex takes. */
#include <glib.h>

#include "alone.h"

static GMutex mutex;

static void loop(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        g_mutex_lock(&mutex);
        g_mutex_unlock(&mutex);
    }
}

int main(void)
{
    return measure_only(loop);
}
