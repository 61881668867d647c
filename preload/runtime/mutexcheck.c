/* SPDX-License-Identifier: MIT
 * mutexcheck.c - is a mutex used as it may be? */
#include "runtime/mutexcheck.h"

#include "runtime/ended.h"
#include "runtime/forked.h"
#include "runtime/held.h"
#include "runtime/holders.h"
#include "runtime/maps.h"
#include "runtime/misuse.h"
#include "runtime/state.h"
#include "runtime/sys.h"

bool lh_mutexcheck_forked;

static struct lh_misuse misuse_of(enum lh_finding_kind kind,
                                  pthread_mutex_t *mutex, void *pc,
                                  uintptr_t cfa, struct lh_holder holder)
{
    return (struct lh_misuse){ .kind = kind,
                               .lock_kind = LH_KIND_MUTEX,
                               .lock = mutex,
                               .pc = pc,
                               .cfa = cfa,
                               .holder = holder.number,
                               .holder_stack = holder.stack };
}

static void report(enum lh_finding_kind kind, pthread_mutex_t *mutex, void *pc,
                   uintptr_t cfa, struct lh_holder holder)
{
    struct lh_misuse misuse = misuse_of(kind, mutex, pc, cfa, holder);

    lh_misuse_report(&misuse);
}

/* May a thread of another process release it? */
static bool is_shared(const pthread_mutex_t *mutex)
{
    struct lh_guard guard;
    bool shared;

    if (mutex->__data.__kind & LH_MUTEX_SHARED)
        return true;
    lh_guard_enter(&guard);
    shared = lh_maps_may_be_shared((uintptr_t)mutex);
    lh_guard_leave(&guard);
    return shared;
}

static bool is_only_thread(void)
{
    struct lh_guard guard;
    bool only;

    lh_state_enter(&guard);
    only = !lh_thread_first() || !lh_thread_first()->next;
    lh_state_leave(&guard);
    return only;
}

/*
 * A normal mutex may be abused as a signal: another thread is to release what
 * the caller waits for. That is wrong, but it works, so it gets a moment.
 * Without queueing for the mutex: who leaves the queue again has been woken in
 * place of another.
 */
enum { NAPS = 10, NAP_MS = 10 };

static bool stands(const pthread_mutex_t *mutex, int32_t holder)
{
    if (is_only_thread())
        return true;
    for (int i = 0; i < NAPS && lh_mutex_holder(mutex) == holder; i++)
        lh_sys_nap(NAP_MS);
    return lh_mutex_holder(mutex) == holder;
}

/* In a forked child: the holder is a thread that this process has not. */
static void check_forked(pthread_mutex_t *mutex, int32_t tid, void *pc,
                         uintptr_t cfa)
{
    struct lh_slot *own = lh_held_find(lh_self, mutex, false);
    struct lh_holder holder;

    if (own)
        holder = (struct lh_holder){ lh_self->number, own->stack };
    else if (!lh_forked_find(mutex, tid, &holder))
        return;
    if (!lh_holder_is_here(tid) && !is_shared(mutex))
        report(own ? LH_SELF : LH_FORKED_HELD, mutex, pc, cfa, holder);
}

/* A child of _Fork has another tid than its thread's state says. */
static void know_process(void)
{
    struct lh_guard guard;

    lh_guard_enter(&guard);
    lh_detector_check_process();
    lh_guard_leave(&guard);
}

void lh_mutexcheck_hopeless(pthread_mutex_t *mutex, void *pc, uintptr_t cfa)
{
    int32_t tid = lh_mutex_holder(mutex);
    struct lh_holder holder;

    if (lh_self->busy)
        return;
    know_process();
    if (tid != lh_self->tid)
        check_forked(mutex, tid, pc, cfa);
    else if (lh_held_find(lh_self, mutex, false) && stands(mutex, tid) &&
             lh_holder_find(mutex, tid, &holder))
        report(LH_SELF, mutex, pc, cfa, holder);
}

/* Does another thread of this process hold it, which is hereby told to doubt
 * that? In shared memory a tid may be of another process's kind. */
static bool another_holds(pthread_mutex_t *mutex, int32_t tid,
                          struct lh_holder *holder)
{
    return lh_holder_is_here(tid) &&
           (lh_holder_disown(mutex, tid, holder) ||
            !(mutex->__data.__kind & LH_MUTEX_SHARED));
}

void lh_mutexcheck_release(pthread_mutex_t *mutex, void *pc, uintptr_t cfa)
{
    struct lh_holder holder = { 0 };
    int32_t tid = lh_mutex_holder(mutex);

    if (!lh_self || lh_self->busy || tid == LH_HOLDER_UNSURE ||
        tid == lh_self->tid)
        return;
    if (tid == 0)
        report(LH_NOT_HELD, mutex, pc, cfa, holder);
    else if (another_holds(mutex, tid, &holder))
        report(LH_NOT_HOLDER, mutex, pc, cfa, holder);
}

/* The tid of the thread of this process that holds it, by its words; or 0. What
 * is to be initialized may hold anything. */
static int32_t holder_here(const pthread_mutex_t *mutex)
{
    int32_t tid = lh_mutex_holder(mutex);

    if (tid <= 0 || !lh_self || lh_self->busy ||
        (tid == lh_self->tid ? !lh_held_find(lh_self, mutex, false)
                             : !lh_holder_is_here(tid)))
        return 0;
    return tid;
}

void lh_mutexcheck_init(pthread_mutex_t *mutex, void *pc, uintptr_t cfa)
{
    int32_t tid = holder_here(mutex);
    struct lh_holder holder;

    if (tid && lh_holder_disown(mutex, tid, &holder))
        report(LH_INIT_IN_USE, mutex, pc, cfa, holder);
}

void lh_mutexcheck_destroy(pthread_mutex_t *mutex, void *pc, uintptr_t cfa)
{
    int32_t tid = holder_here(mutex);

    if (tid)
        lh_misuse_destroy_held(mutex, LH_KIND_MUTEX, tid, pc, cfa);
}

void lh_mutexcheck_destroyed(pthread_mutex_t *mutex, void *pc, uintptr_t cfa)
{
    struct lh_thread *t = lh_self;

    if (t && !t->busy && !lh_state_is_off())
        lh_ended_note(mutex, (struct lh_holder){
                                 t->number, lh_detector_stack(t, pc, cfa) });
}

void lh_mutexcheck_refused(pthread_mutex_t *mutex, void *pc, uintptr_t cfa)
{
    struct lh_misuse misuse;
    struct lh_holder by;

    if (!lh_mutex_is_destroyed(mutex) || !lh_ended_take(mutex, &by))
        return;
    misuse = misuse_of(LH_USED_ENDED, mutex, pc, cfa, by);
    misuse.detail = "destroyed";
    lh_misuse_report(&misuse);
}

void lh_mutexcheck_wait(pthread_mutex_t *mutex, void *pc, uintptr_t cfa)
{
    int32_t tid = lh_mutex_holder(mutex);
    struct lh_holder holder = { 0 };
    struct lh_misuse misuse;

    lh_mutexcheck_refused(mutex, pc, cfa);
    if (!lh_self || lh_self->busy || tid == LH_HOLDER_UNSURE ||
        tid == lh_self->tid)
        return;
    if (tid != 0 && !another_holds(mutex, tid, &holder))
        return;
    misuse = misuse_of(LH_CONDITION_LOCK, mutex, pc, cfa, holder);
    misuse.detail = "not-held";
    lh_misuse_report(&misuse);
}
