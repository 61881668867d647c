/* SPDX-License-Identifier: MIT
 *
 * loader.h - the two locks of ld.so.
 *
 * _dl_load_lock is held by dlopen and dlclose, also while they run
 * constructors and destructors, and by dlsym and dladdr. _dl_load_write_lock is
 * held by dl_iterate_phdr while it calls back, and by dlopen and dlclose, under
 * the other one, while they change the list of what is loaded. Both are
 * recursive mutexes inside ld.so's _rtld_global, so that they can be asked who
 * holds them, although libc takes them by calls that nobody sees.
 *
 * Threads:  the addresses are set by the constructor, before there is a second
 *           thread.
 */
#ifndef LH_RUNTIME_LOADER_H
#define LH_RUNTIME_LOADER_H

#include <pthread.h>
#include <stdbool.h>

#include "runtime/thread.h"

struct lh_loader {
    pthread_mutex_t *load; /* _dl_load_lock; NULL: not found in this ld.so */
    pthread_mutex_t *list; /* _dl_load_write_lock; likewise */
};

extern struct lh_loader lh_loader __attribute__((visibility("hidden")));

/* Finds both, once the real functions are known. */
void lh_loader_find(void);

/* Does the caller hold that one? */
static inline bool lh_loader_owns(const pthread_mutex_t *mutex)
{
    return lh_self && mutex->__data.__owner == lh_self->tid;
}

#endif
