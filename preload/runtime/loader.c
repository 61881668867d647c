/* SPDX-License-Identifier: MIT
 * loader.c - the two locks of ld.so. */
#include "runtime/loader.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

#include "runtime/real.h"
#include "runtime/sys.h"

struct lh_loader lh_loader;

/* ld.so's _rtld_global, whose layout is its own affair. */
struct globals {
    char *start;
    size_t size_bytes;
};

static bool is_recursive(const pthread_mutex_t *mutex)
{
    return mutex->__data.__kind == PTHREAD_MUTEX_RECURSIVE_NP;
}

static bool is_held_once(const pthread_mutex_t *mutex, int tid)
{
    return is_recursive(mutex) && mutex->__data.__lock == 1 &&
           mutex->__data.__count == 1 && mutex->__data.__owner == tid;
}

/*
 * While this runs the caller holds the lock over the list; the other one lies
 * before it. All other places must not look the same.
 */
static int look(struct dl_phdr_info *info, size_t info_bytes, void *globals_ptr)
{
    const struct globals *g = globals_ptr;
    int tid = (int)lh_sys_gettid();
    pthread_mutex_t *list = NULL;

    (void)info;
    (void)info_bytes;
    for (size_t at = sizeof *list; at + sizeof *list <= g->size_bytes;
         at += _Alignof(pthread_mutex_t)) {
        pthread_mutex_t *mutex = (void *)(g->start + at);
        if (!is_held_once(mutex, tid))
            continue;
        if (list)
            return 1;
        list = mutex;
    }
    if (list && is_recursive(list - 1))
        lh_loader = (struct lh_loader){ .load = list - 1, .list = list };
    return 1;
}

void lh_loader_find(void)
{
    const struct lh_real *real = lh_real();
    ElfW(Sym) *symbol = NULL;
    struct globals g;
    Dl_info found;

    g.start = real->dlvsym(RTLD_DEFAULT, "_rtld_global", "GLIBC_PRIVATE");
    if (!g.start ||
        !real->dladdr1(g.start, &found, (void **)&symbol, RTLD_DL_SYMENT) ||
        !symbol || found.dli_saddr != g.start)
        return;
    g.size_bytes = symbol->st_size;
    real->dl_iterate_phdr(look, &g);
}
