/* SPDX-License-Identifier: MIT
 *
 * lockkind.h - the kinds of lock, and what they are called.
 */
#ifndef LH_CORE_LOCKKIND_H
#define LH_CORE_LOCKKIND_H

enum lh_kind {
    LH_KIND_MUTEX,  /* pthread_mutex_t; mtx_t is the same thing */
    LH_KIND_RWLOCK, /* pthread_rwlock_t */
    LH_KIND_SPIN,   /* pthread_spinlock_t */
    LH_KIND_SEMAPHORE,
    LH_KIND_ONCE,         /* pthread_once_t, once_flag: held by the routine */
    LH_KIND_STATIC_INIT,  /* the guard of a function-local static of C++ */
    LH_KIND_FILE,         /* a FILE, by flockfile */
    LH_KIND_LOADER,       /* ld.so's _dl_load_lock */
    LH_KIND_LOADER_WRITE, /* ld.so's _dl_load_write_lock */
    LH_KIND_GMUTEX,
    LH_KIND_GRECMUTEX,
    LH_KIND_GRWLOCK,
    LH_KIND_THREAD,    /* its end, which a join waits for */
    LH_KIND_ANNOTATED, /* a home-made one, by lockhound.h */
    LH_NKINDS
};

/* Its word in the records. */
const char *lh_kind_word(unsigned kind);

/* What people call it: "read-write lock". */
const char *lh_kind_noun(unsigned kind);

#endif
