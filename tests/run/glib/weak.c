/* SPDX-License-Identifier: MIT
 * weak.c - asks whether GLib is there by a weak symbol: weak, or weak call. */
#include "../guest/guest.h"

extern void g_mutex_lock(void *) __attribute__((weak));

static void *mutex[1];

int main(int argc, char **argv)
{
    (void)argv;
    puts(g_mutex_lock ? "there" : "not there");
    fflush(stdout);
    if (g_mutex_lock && argc > 1)
        g_mutex_lock(mutex);
    return 0;
}
