/* SPDX-License-Identifier: MIT
 * unseen.c - memory whose locks may end without an event. */
#include "runtime/unseen.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "runtime/late.h"
#include "runtime/real.h"

enum lh_allocator lh_unseen_allocator;

static const void *allocator_module; /* of the real free; NULL: unknown */

/* Free while low is 0, no map while high is 0. More are not kept: their locks
 * are taken for ones whose end is seen. */
enum { MOST_MAPS = 4096 };
static struct map {
    _Atomic uintptr_t low, high;
} maps[MOST_MAPS];
static _Atomic size_t nmaps; /* those from here on were never used */

static const void *module_of(const void *address)
{
    struct dl_find_object found;

    return _dl_find_object((void *)address, &found) == 0 ? found.dlfo_link_map
                                                         : NULL;
}

/* Function pointers and addresses are the same here. */
static const void *address_of(const void *function)
{
    const void *address;

    memcpy(&address, function, sizeof address);
    return address;
}

/* It must not be asked for sizes: not before it has started, which is after us,
 * and of what is freed twice it is to tell as that. */
static bool is_sanitizer(const void *module)
{
    return module_of(lh_late_symbol("", "__sanitizer_get_ownership")) == module;
}

void lh_unseen_begin(void)
{
    const struct lh_real *real = lh_real();
    /* By a name that is nobody else's: a sanitizer has the mutexes', too. */
    const void *libc =
        module_of(real->dlsym(RTLD_DEFAULT, "gnu_get_libc_version"));
    const void *sized = module_of(address_of(&real->malloc_usable_size));

    allocator_module = module_of(address_of(&real->free));
    /* An executable's own is found before ours. */
    if (module_of(real->dlsym(RTLD_DEFAULT, "free")) !=
        module_of(&lh_real_table))
        lh_unseen_allocator = LH_ALLOCATOR_NONE;
    else if (allocator_module == libc)
        lh_unseen_allocator = LH_ALLOCATOR_LIBC;
    else if (allocator_module && sized == allocator_module &&
             !is_sanitizer(allocator_module))
        lh_unseen_allocator = LH_ALLOCATOR_OTHER;
}

static uintptr_t get(_Atomic uintptr_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

static void set(_Atomic uintptr_t *word, uintptr_t value)
{
    atomic_store_explicit(word, value, memory_order_relaxed);
}

static void keep(uintptr_t low, uintptr_t high)
{
    for (size_t i = 0; i < MOST_MAPS; i++) {
        uintptr_t none = 0;
        size_t n = atomic_load_explicit(&nmaps, memory_order_relaxed);

        if (get(&maps[i].low) ||
            !atomic_compare_exchange_strong_explicit(&maps[i].low, &none, low,
                                                     memory_order_relaxed,
                                                     memory_order_relaxed))
            continue;
        set(&maps[i].high, high);
        while (n <= i && !atomic_compare_exchange_weak_explicit(
                             &nmaps, &n, i + 1, memory_order_relaxed,
                             memory_order_relaxed))
            ;
        return;
    }
}

/* Allocators grow by maps that touch the last one: those are one. */
static bool extend(uintptr_t low, uintptr_t high)
{
    for (size_t i = 0; i < nmaps; i++) {
        struct map *m = &maps[i];

        if (get(&m->high) == low && low)
            set(&m->high, high);
        else if (get(&m->low) == high && get(&m->high))
            set(&m->low, low);
        else
            continue;
        return true;
    }
    return false;
}

void lh_unseen_add(uintptr_t low, uintptr_t high, const void *caller)
{
    lh_unseen_remove(low, high);
    /* Before our constructor it may be any allocator's first one. */
    if (allocator_module && module_of(caller) != allocator_module &&
        !extend(low, high))
        keep(low, high);
}

static void cut(struct map *m, uintptr_t low, uintptr_t high)
{
    uintptr_t first = get(&m->low), last = get(&m->high);

    if (last <= low || first >= high)
        return;
    if (first < low) {
        set(&m->high, low);
        if (last > high)
            keep(high, last);
    } else if (last > high) {
        set(&m->low, high);
    } else {
        set(&m->high, 0);
        set(&m->low, 0);
    }
}

void lh_unseen_remove(uintptr_t low, uintptr_t high)
{
    for (size_t i = 0; i < nmaps; i++)
        cut(&maps[i], low, high);
}

bool lh_unseen_holds(uintptr_t address)
{
    if (lh_unseen_allocator == LH_ALLOCATOR_NONE)
        return true;
    for (size_t i = 0; i < nmaps; i++)
        if (address >= get(&maps[i].low) && address < get(&maps[i].high))
            return true;
    return false;
}
