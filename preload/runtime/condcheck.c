/* SPDX-License-Identifier: MIT
 * condcheck.c - is a condition waited on with one mutex at a time? */
#include "runtime/condcheck.h"

#include <stdatomic.h>

#include "runtime/held.h"
#include "runtime/holders.h"
#include "runtime/misuse.h"
#include "runtime/state.h"
#include "runtime/sys.h"
#include "runtime/thread.h"

/* With which mutex a condition was last waited on: where it was another one,
 * the threads are looked at. Relaxed: a hint. */
enum { LOG2_HINTS = 10 };
static struct hint {
    _Atomic uintptr_t condition, mutex;
} hints[1 << LOG2_HINTS];

static bool was_with_another(const pthread_cond_t *condition,
                             const pthread_mutex_t *mutex)
{
    struct hint *h =
        &hints[((uintptr_t)condition >> 3) * UINT64_C(0x9e3779b97f4a7c15) >>
               (64 - LOG2_HINTS)];
    uintptr_t c = atomic_load_explicit(&h->condition, memory_order_relaxed);
    uintptr_t m = atomic_load_explicit(&h->mutex, memory_order_relaxed);

    if (c == (uintptr_t)condition && m == (uintptr_t)mutex)
        return false;
    atomic_store_explicit(&h->condition, (uintptr_t)condition,
                          memory_order_relaxed);
    atomic_store_explicit(&h->mutex, (uintptr_t)mutex, memory_order_relaxed);
    return c == (uintptr_t)condition;
}

struct other {
    pthread_mutex_t *mutex;
    int32_t tid;
    struct lh_holder waiter;
};

/* A thread that waits on the condition with another mutex. */
static bool find_other(const pthread_cond_t *condition,
                       const pthread_mutex_t *mutex, struct other *other)
{
    const struct lh_slot *slot = NULL;
    struct lh_guard guard;

    lh_state_enter(&guard);
    for (struct lh_thread *t = lh_thread_first(); t && !slot; t = t->next) {
        if (t == lh_self ||
            atomic_load_explicit(&t->condition, memory_order_relaxed) !=
                condition)
            continue;
        slot = lh_holder_wait(t);
        if (!slot || slot->lock == mutex) {
            slot = NULL;
            continue;
        }
        *other = (struct other){
            .mutex = slot->lock,
            .tid = t->tid,
            .waiter = { t->number, lh_holder_stack(slot) },
        };
    }
    lh_state_leave(&guard);
    return slot;
}

/* Is the thread asleep on a word of the condition? One that has just begun to
 * wait, or was just woken, gets a moment. */
static bool is_blocked_on(const pthread_cond_t *condition, int32_t tid)
{
    enum { LOOKS = 20 };

    for (int i = 0; i < LOOKS; i++) {
        uintptr_t word = lh_sys_sleeps_on(tid);
        if (word)
            return word >= (uintptr_t)condition &&
                   word < (uintptr_t)(condition + 1);
        lh_sys_nap(1);
    }
    return false;
}

static void check(pthread_cond_t *condition, pthread_mutex_t *mutex, void *pc,
                  uintptr_t cfa)
{
    struct other other;

    if (!find_other(condition, mutex, &other) ||
        !is_blocked_on(condition, other.tid))
        return;
    lh_misuse_report(&(struct lh_misuse){
        .kind = LH_CONDITION_LOCK,
        .lock_kind = LH_KIND_MUTEX,
        .lock = mutex,
        .other = other.mutex,
        .pc = pc,
        .cfa = cfa,
        .detail = "two-mutexes",
        .holder = other.waiter.number,
        .holder_stack = other.waiter.stack,
    });
}

void lh_condcheck_begin(pthread_cond_t *condition, pthread_mutex_t *mutex,
                        void *pc, uintptr_t cfa)
{
    if (!lh_self || lh_self->busy || lh_state_is_off())
        return;
    if (was_with_another(condition, mutex))
        check(condition, mutex, pc, cfa);
    atomic_store_explicit(&lh_self->condition, condition, memory_order_relaxed);
}

void lh_condcheck_end(void)
{
    if (lh_self)
        atomic_store_explicit(&lh_self->condition, NULL, memory_order_relaxed);
}
