/* SPDX-License-Identifier: MIT
 * cxxguard.c - the C++ runtime behind the hooks of __cxa_guard_*. */
#include "runtime/cxxguard.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/guard.h"
#include "runtime/late.h"

static const char *const libraries[] = { "libstdc++.so", "libc++abi.so" };
enum { LIBSTDCXX, NLIBRARIES = sizeof libraries / sizeof *libraries };

/* Those of one library, the one found last. Whoever sees acquire_at (release,
 * acquire) sees the others; each is looked at before it is used. */
static void *_Atomic acquire_at, *_Atomic release_at, *_Atomic abort_at;
static _Atomic unsigned found_in = NLIBRARIES;

static const char *name_in(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Still of the library that it was found in. */
static bool is_there(void *function)
{
    unsigned i = atomic_load_explicit(&found_in, memory_order_relaxed);
    struct dl_find_object object;

    return function && i < NLIBRARIES &&
           _dl_find_object(function, &object) == 0 &&
           strncmp(name_in(object.dlfo_link_map->l_name), libraries[i],
                   strlen(libraries[i])) == 0;
}

static void *look_up(void)
{
    struct lh_guard guard;
    void *function = NULL;
    unsigned i;

    lh_guard_enter(&guard);
    for (i = 0; i < NLIBRARIES && !function; i++)
        function = lh_late_symbol(libraries[i], "__cxa_guard_acquire");
    if (function) {
        atomic_store_explicit(&found_in, --i, memory_order_relaxed);
        atomic_store_explicit(
            &release_at, lh_late_symbol(libraries[i], "__cxa_guard_release"),
            memory_order_relaxed);
        atomic_store_explicit(&abort_at,
                              lh_late_symbol(libraries[i], "__cxa_guard_abort"),
                              memory_order_relaxed);
    }
    atomic_store_explicit(&acquire_at, function, memory_order_release);
    lh_guard_leave(&guard);
    return function;
}

/* As libstdc++ has it in the guard's first four bytes. */
enum { FREE, DONE = 1, PENDING = 1 << 8, AWAITED = 1 << 16 };

static _Atomic uint32_t *word_of(lh_cxxguard *guard)
{
    return (_Atomic uint32_t *)guard;
}

static int own_acquire(lh_cxxguard *guard)
{
    _Atomic uint32_t *word = word_of(guard);
    uint32_t seen;

    for (;;) {
        seen = FREE;
        if (atomic_compare_exchange_strong(word, &seen, PENDING))
            return 1;
        if (seen == DONE)
            return 0;
        if (seen == PENDING &&
            !atomic_compare_exchange_strong(word, &seen, PENDING | AWAITED))
            continue;
        syscall(SYS_futex, word, FUTEX_WAIT, PENDING | AWAITED, NULL);
    }
}

static void own_end(lh_cxxguard *guard, uint32_t state)
{
    _Atomic uint32_t *word = word_of(guard);

    if (atomic_exchange(word, state) & AWAITED)
        syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX);
}

static void call(void *function, lh_cxxguard *guard)
{
    ((void (*)(lh_cxxguard *))function)(guard);
}

int lh_cxxguard_acquire(lh_cxxguard *guard)
{
    void *real = atomic_load_explicit(&acquire_at, memory_order_acquire);

    if (!is_there(real) && !(real = look_up()))
        return own_acquire(guard);
    return ((int (*)(lh_cxxguard *))real)(guard);
}

void lh_cxxguard_release(lh_cxxguard *guard)
{
    void *real = atomic_load_explicit(&release_at, memory_order_relaxed);

    if (is_there(real))
        call(real, guard);
    else
        own_end(guard, DONE);
}

void lh_cxxguard_abort(lh_cxxguard *guard)
{
    void *real = atomic_load_explicit(&abort_at, memory_order_relaxed);

    if (is_there(real))
        call(real, guard);
    else
        own_end(guard, FREE);
}

bool lh_cxxguard_hangs(void)
{
    unsigned i = atomic_load_explicit(&found_in, memory_order_relaxed);

    return i == NLIBRARIES || (i == LIBSTDCXX && !__libc_single_threaded);
}
