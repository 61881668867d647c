/* SPDX-License-Identifier: MIT
 *
 * glib.h - what the hooks of GLib's locks have in common.
 */
#ifndef LH_HOOKS_GLIB_H
#define LH_HOOKS_GLIB_H

#include "hooks/hook.h"
#include "runtime/glib.h"

/* What GLib's headers would declare. */
lh_glib_do g_mutex_init, g_mutex_clear, g_mutex_free, g_mutex_lock,
    g_mutex_unlock, g_rec_mutex_init, g_rec_mutex_clear, g_rec_mutex_lock,
    g_rec_mutex_unlock, g_rw_lock_init, g_rw_lock_clear, g_rw_lock_reader_lock,
    g_rw_lock_reader_unlock, g_rw_lock_writer_lock, g_rw_lock_writer_unlock,
    g_async_queue_lock, g_async_queue_unlock, g_static_mutex_free,
    g_static_rec_mutex_lock, g_static_rec_mutex_unlock, g_static_rec_mutex_free,
    g_static_rw_lock_reader_lock, g_static_rw_lock_reader_unlock,
    g_static_rw_lock_writer_lock, g_static_rw_lock_writer_unlock,
    g_static_rw_lock_free;
lh_glib_ask g_mutex_trylock, g_rec_mutex_trylock, g_rw_lock_reader_trylock,
    g_rw_lock_writer_trylock, g_once_init_enter, g_once_init_enter_impl,
    g_static_rec_mutex_trylock, g_static_rw_lock_reader_trylock,
    g_static_rw_lock_writer_trylock;
void *g_mutex_new(void);
void g_cond_wait(void *cond, void *mutex);
int g_cond_wait_until(void *cond, void *mutex, int64_t end_time);
int g_cond_timed_wait(void *cond, void *mutex, void *end_time);
void *g_once_impl(void *once, lh_glib_call *function, void *argument);
void g_once_init_leave(void *location, uintptr_t result);
void g_static_rec_mutex_lock_full(void *mutex, unsigned depth);
unsigned g_static_rec_mutex_unlock_full(void *mutex);

static inline void lh_glib_lock(void *lock, uint16_t how, void *pc,
                                uintptr_t cfa, lh_glib_do *real)
{
    struct lh_slot *slot = lh_held_push(lock, how, pc, cfa);

    real(lock);
    lh_held_settle(slot, lock, LH_HOLDS);
}

static inline int lh_glib_trylock(void *lock, uint16_t how, void *pc,
                                  uintptr_t cfa, lh_glib_ask *real)
{
    struct lh_slot *slot = lh_held_push(lock, how, pc, cfa);
    int got = real(lock);

    lh_held_settle(slot, lock, got ? LH_HOLDS : LH_GONE);
    return got;
}

/* The slot of a lock that its holder may take once more: no request. */
static inline struct lh_slot *lh_glib_own(void *lock, uint16_t how)
{
    struct lh_slot *slot = lh_self ? lh_held_find(lh_self, lock, false) : NULL;

    return slot && lh_mode_of(slot->how) == lh_mode_of(how) ? slot : NULL;
}

/* The same for such a lock. */
static inline void lh_glib_relock(void *lock, uint16_t how, void *pc,
                                  uintptr_t cfa, lh_glib_do *real)
{
    struct lh_slot *own = lh_glib_own(lock, how);

    if (!own) {
        lh_glib_lock(lock, how, pc, cfa, real);
        return;
    }
    real(lock);
    own->count++;
}

static inline int lh_glib_retrylock(void *lock, uint16_t how, void *pc,
                                    uintptr_t cfa, lh_glib_ask *real)
{
    struct lh_slot *own = lh_glib_own(lock, how);
    int got;

    if (!own)
        return lh_glib_trylock(lock, how, pc, cfa, real);
    got = real(lock);
    own->count += got != 0;
    return got;
}

#endif
