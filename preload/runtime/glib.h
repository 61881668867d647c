/* SPDX-License-Identifier: MIT
 *
 * glib.h - the functions behind our hooks of GLib's locks.
 *
 * GLib may be loaded late, so they are found at the first call. Its headers
 * are not needed to build: an object is but an address here.
 */
#ifndef LH_RUNTIME_GLIB_H
#define LH_RUNTIME_GLIB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef void lh_glib_do(void *);
typedef int lh_glib_ask(void *); /* gboolean */
typedef void *lh_glib_call(void *);

struct lh_glib {
    lh_glib_do *mutex_init, *mutex_clear, *mutex_lock, *mutex_unlock;
    lh_glib_ask *mutex_trylock;
    lh_glib_do *rec_mutex_init, *rec_mutex_clear, *rec_mutex_lock,
        *rec_mutex_unlock;
    lh_glib_ask *rec_mutex_trylock;
    lh_glib_do *rw_lock_init, *rw_lock_clear;
    lh_glib_do *rw_lock_reader_lock, *rw_lock_reader_unlock;
    lh_glib_do *rw_lock_writer_lock, *rw_lock_writer_unlock;
    lh_glib_ask *rw_lock_reader_trylock, *rw_lock_writer_trylock;
    void (*cond_wait)(void *cond, void *mutex);
    int (*cond_wait_until)(void *cond, void *mutex, int64_t end_time);
    void *(*once_impl)(void *once, lh_glib_call *function, void *argument);
    lh_glib_ask *once_init_enter, *once_init_enter_impl;
    void (*once_init_leave)(void *location, uintptr_t result);
    lh_glib_do *async_queue_lock, *async_queue_unlock;
    /* Deprecated since GLib 2.32. */
    void *(*mutex_new)(void);
    lh_glib_do *mutex_free;
    int (*cond_timed_wait)(void *cond, void *mutex, void *end_time);
    lh_glib_do *static_mutex_free;
    lh_glib_do *static_rec_mutex_lock, *static_rec_mutex_unlock;
    lh_glib_do *static_rec_mutex_free;
    lh_glib_ask *static_rec_mutex_trylock;
    void (*static_rec_mutex_lock_full)(void *mutex, unsigned depth);
    unsigned (*static_rec_mutex_unlock_full)(void *mutex);
    lh_glib_do *static_rw_lock_reader_lock, *static_rw_lock_reader_unlock;
    lh_glib_do *static_rw_lock_writer_lock, *static_rw_lock_writer_unlock;
    lh_glib_do *static_rw_lock_free;
    lh_glib_ask *static_rw_lock_reader_trylock, *static_rw_lock_writer_trylock;
};

extern struct lh_glib lh_glib_table __attribute__((visibility("hidden")));
/* False -> true once the table is full; released by its writer. */
extern _Atomic bool lh_glib_ready __attribute__((visibility("hidden")));

void lh_glib_resolve(void);

/* True if the table is full: lh_glib() finds nothing to do. */
static inline bool lh_glib_is_ready(void)
{
    return atomic_load_explicit(&lh_glib_ready, memory_order_acquire);
}

/* No entry is NULL: one that GLib does not have ends the process as the loader
 * does when it finds no symbol. */
static inline const struct lh_glib *lh_glib(void)
{
    if (__builtin_expect(!lh_glib_is_ready(), 0))
        lh_glib_resolve();
    return &lh_glib_table;
}

#endif
