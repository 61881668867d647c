/* SPDX-License-Identifier: MIT
 *
 * guards.c - guards of function-local statics in a program without a C++
 * runtime: the preload's own, and those of a plugin that is loaded, closed and
 * loaded again.
 */
#include <dlfcn.h>

#include "guest.h"

extern int __cxa_guard_acquire(uint64_t *) __attribute__((weak));
extern void __cxa_guard_release(uint64_t *) __attribute__((weak));
extern void __cxa_guard_abort(uint64_t *) __attribute__((weak));

static uint64_t guards[1000];
static int runs, failures;

static void *acquire_all(void *unused)
{
    for (int i = 0; i < 1000; i++) {
        if (!__cxa_guard_acquire(&guards[i]))
            continue;
        if (i % 5 == 0 && __atomic_add_fetch(&failures, 1, 0) <= 100) {
            __cxa_guard_abort(&guards[i--]);
            continue;
        }
        __atomic_add_fetch(&runs, 1, __ATOMIC_RELAXED);
        sched_yield();
        __cxa_guard_release(&guards[i]);
    }
    return unused;
}

static void own(void)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        threads[i] = go(acquire_all, NULL);
    for (int i = 0; i < 4; i++)
        join(threads[i]);
    CHECK(runs == 1000);
    for (int i = 0; i < 1000; i++)
        CHECK(*(char *)&guards[i] == 1);
}

static void plugin(const char *path)
{
    for (int i = 0; i < 3; i++) {
        void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        int (*made)(void);

        CHECK(handle);
        made = (int (*)(void))dlsym(handle, "objects_made");
        CHECK(made && made() == 1);
        CHECK(made() == 1);
        dlclose(handle);
    }
}

int main(int argc, char **argv)
{
    if (is_mode(argv, "own"))
        own();
    if (argc > 2 && is_mode(argv, "plugin"))
        plugin(argv[2]);
    return 0;
}
