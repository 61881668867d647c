/* SPDX-License-Identifier: MIT
 * lockcheck.c - is a read-write lock, a spinlock, a semaphore used as it may
 * be? */
#include "runtime/lockcheck.h"

#include <semaphore.h>
#include <string.h>

#include "runtime/detector.h"
#include "runtime/ended.h"
#include "runtime/forked.h"
#include "runtime/guard.h"
#include "runtime/held.h"
#include "runtime/holders.h"
#include "runtime/live.h"
#include "runtime/lockowner.h"
#include "runtime/maps.h"
#include "runtime/misuse.h"
#include "runtime/mutexcheck.h"
#include "runtime/rwlockword.h"
#include "runtime/spinword.h"
#include "runtime/state.h"
#include "runtime/sys.h"

static struct lh_misuse misuse_of(enum lh_finding_kind kind,
                                  struct lh_lockcheck use,
                                  struct lh_holder holder)
{
    return (struct lh_misuse){ .kind = kind,
                               .lock_kind = (uint8_t)use.kind,
                               .lock = use.lock,
                               .pc = use.pc,
                               .cfa = use.cfa,
                               .holder = holder.number,
                               .holder_stack = holder.stack };
}

static void report(enum lh_finding_kind kind, struct lh_lockcheck use,
                   struct lh_holder holder)
{
    struct lh_misuse misuse = misuse_of(kind, use, holder);

    lh_misuse_report(&misuse);
}

static bool is_followed(void)
{
    return lh_self && !lh_self->busy && !lh_state_is_off();
}

/* ---- what its words say ---- */

static bool is_free(struct lh_lockcheck use)
{
    return use.kind == LH_KIND_RWLOCK ? lh_rwlock_is_free(use.lock)
                                      : !lh_spin_is_taken(use.lock);
}

/* The tid of who writes it; 0: nobody, or it does not say. */
static int32_t writer_of(struct lh_lockcheck use)
{
    const pthread_rwlock_t *rwlock = use.lock;

    return use.kind == LH_KIND_RWLOCK && lh_rwlock_is_written(rwlock)
               ? rwlock->__data.__cur_writer
               : 0;
}

static bool is_taken(struct lh_lockcheck use)
{
    if (use.kind == LH_KIND_RWLOCK)
        return lh_rwlock_is_read(use.lock) || writer_of(use) > 0;
    return lh_spin_is_taken(use.lock);
}

/* May another process have it? */
static bool is_shared(struct lh_lockcheck use)
{
    const pthread_rwlock_t *rwlock = use.lock;
    struct lh_guard guard;
    bool shared;

    if (use.kind == LH_KIND_RWLOCK && rwlock->__data.__shared)
        return true;
    lh_guard_enter(&guard);
    shared = lh_maps_may_be_shared((uintptr_t)use.lock);
    lh_guard_leave(&guard);
    return shared;
}

/* ---- requests and releases ---- */

/* A child of _Fork has not been told that it is one. */
static bool is_forked(void)
{
    struct lh_guard guard;

    if (!lh_mutexcheck_forked && lh_detector_is_unknown_process()) {
        lh_guard_enter(&guard);
        lh_detector_check_process();
        lh_guard_leave(&guard);
    }
    return lh_mutexcheck_forked;
}

void lh_lockcheck_request(struct lh_lockcheck use)
{
    int32_t tid = writer_of(use);
    struct lh_holder holder, here;

    if (is_followed() && is_forked() &&
        lh_forked_find(use.lock, tid, &holder) &&
        !(tid ? lh_holder_is_here(tid) : lh_holder_find(use.lock, 0, &here)) &&
        !is_shared(use))
        report(LH_FORKED_HELD, use, holder);
}

void lh_lockcheck_release(struct lh_lockcheck use)
{
    int32_t tid = writer_of(use);
    struct lh_holder holder = { 0 };

    if (!is_followed() || lh_lockcheck_used(use))
        return;
    if (is_free(use))
        report(LH_NOT_HELD, use, holder);
    else if (tid != lh_self->tid && lh_holder_disown(use.lock, tid, &holder) &&
             tid && lh_holder_is_here(tid))
        report(LH_NOT_HOLDER, use, holder);
}

/* ---- beginnings and ends ---- */

/* A word that nothing else uses; NULL: it has none. */
static uint64_t *spare_word(struct lh_lockcheck use)
{
    pthread_rwlock_t *rwlock = use.lock;

    if (use.kind == LH_KIND_RWLOCK)
        return &rwlock->__data.__pad2;
    if (use.kind == LH_KIND_SEMAPHORE)
        return (uint64_t *)((char *)use.lock + sizeof(sem_t)) - 1;
    return NULL;
}

#define DESTROYED UINT64_C(0x6c6f636b20656e64)

/* One that other processes use is made anew there, unseen. */
static bool is_private(struct lh_lockcheck use)
{
    return use.kind != LH_KIND_SEMAPHORE || ((int *)use.lock)[2] == 0;
}

void lh_lockcheck_destroyed(struct lh_lockcheck use)
{
    uint64_t *spare = spare_word(use);

    if (!is_followed() || !is_private(use))
        return;
    if (spare)
        *spare = DESTROYED;
    lh_ended_note(use.lock, (struct lh_holder){
                                lh_self->number,
                                lh_detector_stack(lh_self, use.pc, use.cfa) });
}

void lh_lockcheck_made(struct lh_lockcheck use)
{
    uint64_t *spare = spare_word(use);
    struct lh_holder by;

    if (spare && *spare == DESTROYED)
        *spare = 0;
    if (!spare)
        lh_ended_take(use.lock, &by);
}

bool lh_lockcheck_used(struct lh_lockcheck use)
{
    uint64_t *spare = spare_word(use);
    struct lh_misuse misuse;
    struct lh_holder by;

    if ((spare && *spare != DESTROYED) || !lh_ended_take(use.lock, &by) ||
        (!spare && is_shared(use)))
        return false;
    misuse = misuse_of(LH_USED_ENDED, use, by);
    misuse.detail = "destroyed";
    lh_misuse_report(&misuse);
    return true;
}

/* Is it held, by what can be known without the chains? What is to be
 * initialized may hold anything. */
static bool may_be_held(struct lh_lockcheck use, int32_t *tid)
{
    if (!is_followed() || !is_taken(use))
        return false;
    *tid = writer_of(use);
    if (*tid == lh_self->tid)
        return lh_held_find(lh_self, use.lock, false);
    return *tid ? lh_holder_is_here(*tid) : !is_forked();
}

void lh_lockcheck_init(struct lh_lockcheck use)
{
    struct lh_holder holder;
    int32_t tid;

    if (may_be_held(use, &tid) && lh_holder_disown(use.lock, tid, &holder))
        report(LH_INIT_IN_USE, use, holder);
}

bool lh_lockcheck_destroy(struct lh_lockcheck use)
{
    int32_t tid;

    lh_lockcheck_used(use); /* a second time */
    return may_be_held(use, &tid) &&
           lh_misuse_destroy_held(use.lock, (uint8_t)use.kind, tid, use.pc,
                                  use.cfa);
}

/* ---- ends of threads ---- */

static bool is_on_stack(const struct lh_thread *t, const void *lock)
{
    return (uintptr_t)lock >= t->stack_low && (uintptr_t)lock < t->stack_high;
}

/* Robust ones are made to be left behind. */
static bool is_held_mutex(const struct lh_thread *t,
                          const pthread_mutex_t *mutex)
{
    return lh_sys_can_read(&mutex->__data.__owner) &&
           !(mutex->__data.__kind & LH_MUTEX_ROBUST) &&
           lh_mutex_holder(mutex) == t->tid;
}

/* Those on its own stack are nobody's any more. */
static bool is_left_behind(const struct lh_thread *t,
                           const struct lh_slot *slot)
{
    unsigned kind = lh_kind_of(slot->how);

    /* One that has ended since, with its memory, was told as that. */
    if (is_on_stack(t, slot->lock) ||
        slot->generation != lh_generation_now(slot->lock))
        return false;
    if (kind == LH_KIND_MUTEX)
        return is_held_mutex(t, slot->lock);
    return (kind == LH_KIND_RWLOCK || kind == LH_KIND_SPIN) &&
           !(slot->count & LH_DISOWNED) &&
           lh_lockowner_agrees((uintptr_t)slot->lock, kind,
                               lh_mode_of(slot->how), t->tid);
}

static void leave_behind(void *ctx, struct lh_thread *t,
                         const struct lh_slot *slot)
{
    struct lh_lockcheck use = { slot->lock, lh_kind_of(slot->how), slot->pc,
                                0 };
    struct lh_holder holder;
    struct lh_misuse misuse;

    (void)ctx;
    if (!is_left_behind(t, slot))
        return;
    holder = (struct lh_holder){ t->number, lh_holder_stack(slot) };
    misuse = misuse_of(LH_THREAD_ENDED, use, holder);
    misuse.thread = holder.number;
    misuse.stack = holder.stack;
    lh_misuse_file(lh_self, &misuse);
    lh_live_orphaned();
}

void lh_lockcheck_thread_ended(struct lh_thread *t)
{
    if (lh_self && lh_self != t)
        lh_holder_each(t, leave_behind, NULL);
}
