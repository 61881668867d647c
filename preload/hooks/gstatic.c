/* SPDX-License-Identifier: MIT
 *
 * gstatic.c - GLib's static locks, deprecated since 2.32, which old programs
 * still have. The macros for a GStaticMutex come in as g_mutex_*.
 */
#include "hooks/glib.h"

enum {
    rec_blocking = LH_HOW(LH_EXCLUSIVE, LH_WAIT_BLOCK, LH_KIND_GRECMUTEX),
    rec_trying = LH_HOW(LH_EXCLUSIVE, LH_WAIT_TRY, LH_KIND_GRECMUTEX),
    read_blocking = LH_HOW(LH_SHARED, LH_WAIT_BLOCK, LH_KIND_GRWLOCK),
    read_trying = LH_HOW(LH_SHARED, LH_WAIT_TRY, LH_KIND_GRWLOCK),
    write_blocking = LH_HOW(LH_EXCLUSIVE, LH_WAIT_BLOCK, LH_KIND_GRWLOCK),
    write_trying = LH_HOW(LH_EXCLUSIVE, LH_WAIT_TRY, LH_KIND_GRWLOCK),
};

/* Its first member is the GMutex, made at first use. */
LH_HOOK void g_static_mutex_free(void *mutex)
{
    void *made = *(void **)mutex;

    if (made)
        lh_detector_lock_died(made);
    lh_glib()->static_mutex_free(mutex);
}

LH_HOOK void g_static_rec_mutex_lock(void *mutex)
{
    lh_glib_relock(mutex, rec_blocking, LH_CALLER(), LH_CFA(),
                   lh_glib()->static_rec_mutex_lock);
}

LH_HOOK int g_static_rec_mutex_trylock(void *mutex)
{
    return lh_glib_retrylock(mutex, rec_trying, LH_CALLER(), LH_CFA(),
                             lh_glib()->static_rec_mutex_trylock);
}

LH_HOOK void g_static_rec_mutex_unlock(void *mutex)
{
    lh_held_release(mutex);
    lh_glib()->static_rec_mutex_unlock(mutex);
}

/* So many levels at once. */
LH_HOOK void g_static_rec_mutex_lock_full(void *mutex, unsigned depth)
{
    struct lh_slot *own = lh_glib_own(mutex, rec_blocking), *slot = NULL;

    if (!own && depth)
        slot = lh_held_push(mutex, rec_blocking, LH_CALLER(), LH_CFA());
    lh_glib()->static_rec_mutex_lock_full(mutex, depth);
    lh_held_settle(slot, mutex, LH_HOLDS);
    own = lh_glib_own(mutex, rec_blocking);
    if (own)
        own->count += slot ? depth - 1 : depth;
}

/* All of them; returns how many. */
LH_HOOK unsigned g_static_rec_mutex_unlock_full(void *mutex)
{
    struct lh_slot *own = lh_glib_own(mutex, rec_blocking);

    if (own) {
        own->count = 1;
        lh_held_release(mutex);
    }
    return lh_glib()->static_rec_mutex_unlock_full(mutex);
}

LH_HOOK void g_static_rec_mutex_free(void *mutex)
{
    lh_detector_lock_died(mutex);
    lh_glib()->static_rec_mutex_free(mutex);
}

LH_HOOK void g_static_rw_lock_reader_lock(void *lock)
{
    lh_glib_lock(lock, read_blocking, LH_CALLER(), LH_CFA(),
                 lh_glib()->static_rw_lock_reader_lock);
}

LH_HOOK int g_static_rw_lock_reader_trylock(void *lock)
{
    return lh_glib_trylock(lock, read_trying, LH_CALLER(), LH_CFA(),
                           lh_glib()->static_rw_lock_reader_trylock);
}

LH_HOOK void g_static_rw_lock_reader_unlock(void *lock)
{
    lh_held_release(lock);
    lh_glib()->static_rw_lock_reader_unlock(lock);
}

LH_HOOK void g_static_rw_lock_writer_lock(void *lock)
{
    lh_glib_lock(lock, write_blocking, LH_CALLER(), LH_CFA(),
                 lh_glib()->static_rw_lock_writer_lock);
}

LH_HOOK int g_static_rw_lock_writer_trylock(void *lock)
{
    return lh_glib_trylock(lock, write_trying, LH_CALLER(), LH_CFA(),
                           lh_glib()->static_rw_lock_writer_trylock);
}

LH_HOOK void g_static_rw_lock_writer_unlock(void *lock)
{
    lh_held_release(lock);
    lh_glib()->static_rw_lock_writer_unlock(lock);
}

LH_HOOK void g_static_rw_lock_free(void *lock)
{
    lh_detector_lock_died(lock);
    lh_glib()->static_rw_lock_free(lock);
}
