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

/* Those of one library. Whoever sees the first (release, acquire) sees the
 * others; each is looked at before it is used. */
enum function { ACQUIRE, RELEASE, ABORT, NFUNCTIONS };
static void *_Atomic known[NFUNCTIONS];

static const char *const names[NFUNCTIONS] = { "__cxa_guard_acquire",
                                               "__cxa_guard_release",
                                               "__cxa_guard_abort" };

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Which of libraries[] a function lies in; NLIBRARIES if it is none of them,
 * or no longer loaded. */
static unsigned library_of(void *function)
{
    struct dl_find_object object;
    const char *name;
    unsigned i = 0;

    if (!function || _dl_find_object(function, &object) != 0)
        return NLIBRARIES;
    name = file_name(object.dlfo_link_map->l_name);
    while (i < NLIBRARIES &&
           strncmp(name, libraries[i], strlen(libraries[i])) != 0)
        i++;
    return i;
}

/* All three, so that they are of one library. One of a file with another name
 * is not kept: whether it was unloaded since could not be told. */
static void keep(unsigned library)
{
    for (int f = NFUNCTIONS - 1; f >= 0; f--)
        atomic_store_explicit(&known[f],
                              lh_late_symbol(libraries[library], names[f]),
                              memory_order_release);
}

static void *look_up(enum function f)
{
    struct lh_guard guard;
    void *found = NULL;
    unsigned i;

    lh_guard_enter(&guard);
    for (i = 0; i < NLIBRARIES; i++) {
        found = lh_late_symbol(libraries[i], names[f]);
        if (library_of(found) == i) {
            keep(i);
            break;
        }
    }
    lh_guard_leave(&guard);
    return found;
}

/* NULL if there is none. */
static void *real(enum function f)
{
    void *function = atomic_load_explicit(&known[f], memory_order_acquire);

    return library_of(function) < NLIBRARIES ? function : look_up(f);
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

int lh_cxxguard_acquire(lh_cxxguard *guard)
{
    int (*acquire)(lh_cxxguard *) = (int (*)(lh_cxxguard *))real(ACQUIRE);

    return acquire ? acquire(guard) : own_acquire(guard);
}

static void end(lh_cxxguard *guard, enum function f, uint32_t state)
{
    void (*function)(lh_cxxguard *) = (void (*)(lh_cxxguard *))real(f);

    if (function)
        function(guard);
    else
        own_end(guard, state);
}

void lh_cxxguard_release(lh_cxxguard *guard)
{
    end(guard, RELEASE, DONE);
}

void lh_cxxguard_abort(lh_cxxguard *guard)
{
    end(guard, ABORT, FREE);
}

bool lh_cxxguard_hangs(void)
{
    void *acquire = real(ACQUIRE);

    return !acquire ||
           (library_of(acquire) == LIBSTDCXX && !__libc_single_threaded);
}
