/* SPDX-License-Identifier: MIT
 *
 * early.c - locks taken before our constructor could have run, and after our
 * destructor has.
 *
 * One half of each inversion is made there, the other by a thread; that of the
 * start is ordered before the thread, that of the end is parallel to it.
 * libearly.c, which does the same, is preloaded, too.
 */
#include <dlfcn.h>

#include "guest.h"

static mutex_t preinit_a = MUTEX, preinit_b = MUTEX;
static mutex_t atexit_a = MUTEX, atexit_b = MUTEX;
static mutex_t *ctor_a, *ctor_b, *dtor_a, *dtor_b;
static int ready;

static void in_preinit(void)
{
    nest(&preinit_a, &preinit_b);
}

__attribute__((section(".preinit_array"),
               used)) static void (*const preinit)(void) = in_preinit;

static void at_exit(void)
{
    nest(&atexit_a, &atexit_b);
}

static void *reverse(void *unused)
{
    nest(&preinit_b, &preinit_a);
    nest(ctor_b, ctor_a);
    nest(&atexit_b, &atexit_a);
    nest(dtor_b, dtor_a);
    set_flag(&ready);
    for (;;)
        pause();
    return unused;
}

int main(void)
{
    ctor_a = dlsym(RTLD_DEFAULT, "ctor_a");
    ctor_b = dlsym(RTLD_DEFAULT, "ctor_b");
    dtor_a = dlsym(RTLD_DEFAULT, "dtor_a");
    dtor_b = dlsym(RTLD_DEFAULT, "dtor_b");
    CHECK(ctor_a && ctor_b && dtor_a && dtor_b);
    atexit(at_exit);
    go(reverse, NULL);
    wait_flag(&ready);
    return 0;
}
