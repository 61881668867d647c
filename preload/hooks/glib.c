/* SPDX-License-Identifier: MIT
 *
 * glib.c - GMutex, GRecMutex, GRWLock, GCond and the queue's lock of GLib.
 *
 * A GRecMutex and a GRWLock are made of a pthread lock, whose hooks are called
 * from inside GLib while the request for the outer one stands: they do not
 * count (lh_held_set_maker). What libglib locks for itself does not come by.
 */
#include "hooks/glib.h"

#include "runtime/holders.h"
#include "runtime/live.h"
#include "runtime/lockcheck.h"
#include "runtime/misuse.h"
#include "runtime/rwlockword.h"

enum {
    mutex_blocking = LH_HOW(LH_EXCLUSIVE, LH_WAIT_BLOCK, LH_KIND_GMUTEX),
    mutex_again = LH_HOW(LH_EXCLUSIVE, LH_WAIT_CONDITION, LH_KIND_GMUTEX),
    mutex_trying = LH_HOW(LH_EXCLUSIVE, LH_WAIT_TRY, LH_KIND_GMUTEX),
    rec_blocking = LH_HOW(LH_EXCLUSIVE, LH_WAIT_BLOCK, LH_KIND_GRECMUTEX),
    rec_trying = LH_HOW(LH_EXCLUSIVE, LH_WAIT_TRY, LH_KIND_GRECMUTEX),
    read_blocking = LH_HOW(LH_SHARED, LH_WAIT_BLOCK, LH_KIND_GRWLOCK),
    read_trying = LH_HOW(LH_SHARED, LH_WAIT_TRY, LH_KIND_GRWLOCK),
    write_blocking = LH_HOW(LH_EXCLUSIVE, LH_WAIT_BLOCK, LH_KIND_GRWLOCK),
    write_trying = LH_HOW(LH_EXCLUSIVE, LH_WAIT_TRY, LH_KIND_GRWLOCK),
};

/* A GMutex does not know its owner. Who took it holds it no longer when another
 * thread has released it: its slot is of another generation then. */
static void release_of_other(void *mutex)
{
    if (!lh_self || !lh_held_find(lh_self, mutex, false))
        atomic_fetch_add_explicit(lh_generation_of(mutex), 1,
                                  memory_order_relaxed);
}

/* Its first word: 0 while it is free, 1 or 2 while it is held; of a pointer,
 * which is none of these, where a GLib makes it of a pthread mutex. GLib leaves
 * the second one as it finds it. Read as it is written: what is wider than the
 * last store has to wait for it. */
static inline uint32_t word_of(const void *mutex)
{
    return __atomic_load_n((const uint32_t *)mutex, __ATOMIC_RELAXED);
}

/* The caller's slot, if it holds the mutex still. */
static struct lh_slot *own_slot(void *mutex)
{
    struct lh_slot *slot = lh_self ? lh_held_find(lh_self, mutex, false) : NULL;

    return slot && slot->generation == lh_generation_now(mutex) ? slot : NULL;
}

static __attribute__((noinline)) void tell(enum lh_finding_kind kind,
                                           void *mutex, void *pc, uintptr_t cfa)
{
    struct lh_slot *own = own_slot(mutex);

    if (!own && kind == LH_SELF) {
        lh_lockcheck_request(
            (struct lh_lockcheck){ mutex, LH_KIND_GMUTEX, pc, cfa });
        return;
    }
    lh_misuse_report(&(struct lh_misuse){
        .kind = kind,
        .lock_kind = LH_KIND_GMUTEX,
        .lock = mutex,
        .pc = pc,
        .cfa = cfa,
        .detail = kind == LH_ENDED_HELD ? "destroyed" : NULL,
        .holder = own ? lh_self->number : 0,
        .holder_stack = own ? lh_holder_own_stack(own) : 0,
    });
}

/* Once more what g_mutex_lock() looks at, and the rest. A GMutex cannot be
 * waited for in pieces. */
static __attribute__((noinline)) void lock_any(void *mutex, void *pc,
                                               uintptr_t cfa)
{
    struct lh_watch watch;
    struct lh_slot *slot;

    if (word_of(mutex) == 0) {
        lh_glib_lock(mutex, mutex_blocking, pc, cfa, lh_glib()->mutex_lock);
        return;
    }
    tell(LH_SELF, mutex, pc, cfa);
    slot = lh_held_push(mutex, mutex_blocking, pc, cfa);
    lh_live_enter(&watch, slot);
    lh_glib()->mutex_lock(mutex);
    lh_live_leave(&watch);
    lh_held_settle(slot, mutex, LH_HOLDS);
}

LH_HOOK void g_mutex_lock(void *mutex)
{
    if (__builtin_expect(
            word_of(mutex) != 0 || !lh_glib_is_ready() ||
                !lh_held_ask(mutex, mutex_blocking, LH_CALLER(), LH_CFA()),
            0)) {
        lock_any(mutex, LH_CALLER(), LH_CFA());
        return;
    }
    lh_glib_table.mutex_lock(mutex);
    lh_held_settle_repeated(mutex, 0);
}

LH_HOOK int g_mutex_trylock(void *mutex)
{
    return lh_glib_trylock(mutex, mutex_trying, LH_CALLER(), LH_CFA(),
                           lh_glib()->mutex_trylock);
}

static __attribute__((noinline)) void unlock_any(void *mutex, void *pc,
                                                 uintptr_t cfa)
{
    release_of_other(mutex);
    if (word_of(mutex) == 0)
        tell(LH_NOT_HELD, mutex, pc, cfa);
    lh_held_release(mutex);
    lh_glib()->mutex_unlock(mutex);
}

LH_HOOK void g_mutex_unlock(void *mutex)
{
    if (__builtin_expect(word_of(mutex) == 0 || !lh_glib_is_ready() ||
                             !lh_held_give(mutex),
                         0)) {
        unlock_any(mutex, LH_CALLER(), LH_CFA());
        return;
    }
    lh_glib_table.mutex_unlock(mutex);
}

LH_HOOK void g_mutex_init(void *mutex)
{
    lh_glib()->mutex_init(mutex);
    lh_detector_lock_born(mutex, LH_KIND_GMUTEX, LH_CALLER(), LH_CFA());
}

/* GLib ends the program if it is held. */
LH_HOOK void g_mutex_clear(void *mutex)
{
    if (word_of(mutex) - 1 < 2)
        tell(LH_ENDED_HELD, mutex, LH_CALLER(), LH_CFA());
    lh_glib()->mutex_clear(mutex);
    lh_detector_lock_died(mutex);
}

LH_HOOK void *g_mutex_new(void)
{
    void *mutex = lh_glib()->mutex_new();

    lh_detector_lock_born(mutex, LH_KIND_GMUTEX, LH_CALLER(), LH_CFA());
    return mutex;
}

/* Before: afterwards its memory may be another lock's. */
LH_HOOK void g_mutex_free(void *mutex)
{
    lh_detector_lock_died(mutex);
    lh_glib()->mutex_free(mutex);
}

LH_HOOK void g_rec_mutex_lock(void *mutex)
{
    lh_glib_relock(mutex, rec_blocking, LH_CALLER(), LH_CFA(),
                   lh_glib()->rec_mutex_lock);
}

LH_HOOK int g_rec_mutex_trylock(void *mutex)
{
    return lh_glib_retrylock(mutex, rec_trying, LH_CALLER(), LH_CFA(),
                             lh_glib()->rec_mutex_trylock);
}

LH_HOOK void g_rec_mutex_unlock(void *mutex)
{
    lh_held_release(mutex);
    lh_glib()->rec_mutex_unlock(mutex);
}

LH_HOOK void g_rec_mutex_init(void *mutex)
{
    lh_glib()->rec_mutex_init(mutex);
    lh_detector_lock_born(mutex, LH_KIND_GRECMUTEX, LH_CALLER(), LH_CFA());
}

LH_HOOK void g_rec_mutex_clear(void *mutex)
{
    lh_glib()->rec_mutex_clear(mutex);
    lh_detector_lock_died(mutex);
}

/* Readers do not wait behind a waiting writer: one who reads already gets in
 * at once. */
LH_HOOK void g_rw_lock_reader_lock(void *lock)
{
    lh_glib_relock(lock, read_blocking, LH_CALLER(), LH_CFA(),
                   lh_glib()->rw_lock_reader_lock);
}

LH_HOOK int g_rw_lock_reader_trylock(void *lock)
{
    return lh_glib_retrylock(lock, read_trying, LH_CALLER(), LH_CFA(),
                             lh_glib()->rw_lock_reader_trylock);
}

LH_HOOK void g_rw_lock_reader_unlock(void *lock)
{
    lh_held_release(lock);
    lh_glib()->rw_lock_reader_unlock(lock);
}

/* A reader who wants to write waits for its own end. A GRWLock points to the
 * pthread lock that it is made of, once it has been used. */
static __attribute__((noinline)) void check_upgrade(void *lock, void *pc,
                                                    uintptr_t cfa)
{
    struct lh_slot *own = own_slot(lock);

    if (own && lh_mode_of(own->how) == LH_SHARED)
        lh_self_deadlock(own, pc, cfa);
}

LH_HOOK void g_rw_lock_writer_lock(void *lock)
{
    const pthread_rwlock_t *made_of = *(void *const *)lock;

    if (__builtin_expect(made_of && lh_rwlock_is_read(made_of), 0))
        check_upgrade(lock, LH_CALLER(), LH_CFA());
    lh_glib_lock(lock, write_blocking, LH_CALLER(), LH_CFA(),
                 lh_glib()->rw_lock_writer_lock);
}

LH_HOOK int g_rw_lock_writer_trylock(void *lock)
{
    return lh_glib_trylock(lock, write_trying, LH_CALLER(), LH_CFA(),
                           lh_glib()->rw_lock_writer_trylock);
}

LH_HOOK void g_rw_lock_writer_unlock(void *lock)
{
    lh_held_release(lock);
    lh_glib()->rw_lock_writer_unlock(lock);
}

LH_HOOK void g_rw_lock_init(void *lock)
{
    lh_glib()->rw_lock_init(lock);
    lh_detector_lock_born(lock, LH_KIND_GRWLOCK, LH_CALLER(), LH_CFA());
}

LH_HOOK void g_rw_lock_clear(void *lock)
{
    lh_glib()->rw_lock_clear(lock);
    lh_detector_lock_died(lock);
}

/* As in cond.c, but no wait here is refused, and none can be cancelled. */
static struct lh_slot *begin_wait(void *mutex, void *pc, uintptr_t cfa)
{
    lh_held_release(mutex);
    return lh_held_push(mutex, mutex_again, pc, cfa);
}

LH_HOOK void g_cond_wait(void *cond, void *mutex)
{
    struct lh_slot *slot = begin_wait(mutex, LH_CALLER(), LH_CFA());

    lh_glib()->cond_wait(cond, mutex);
    lh_held_settle(slot, mutex, LH_HOLDS);
}

LH_HOOK int g_cond_wait_until(void *cond, void *mutex, int64_t end_time)
{
    struct lh_slot *slot = begin_wait(mutex, LH_CALLER(), LH_CFA());
    int in_time = lh_glib()->cond_wait_until(cond, mutex, end_time);

    lh_held_settle(slot, mutex, LH_HOLDS);
    return in_time;
}

LH_HOOK int g_cond_timed_wait(void *cond, void *mutex, void *end_time)
{
    struct lh_slot *slot = begin_wait(mutex, LH_CALLER(), LH_CFA());
    int in_time = lh_glib()->cond_timed_wait(cond, mutex, end_time);

    lh_held_settle(slot, mutex, LH_HOLDS);
    return in_time;
}

/* Of its mutex, which stays locked when this returns. */
LH_HOOK void g_async_queue_lock(void *queue)
{
    lh_glib_lock(queue, mutex_blocking, LH_CALLER(), LH_CFA(),
                 lh_glib()->async_queue_lock);
}

LH_HOOK void g_async_queue_unlock(void *queue)
{
    lh_held_release(queue);
    lh_glib()->async_queue_unlock(queue);
}
