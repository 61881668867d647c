/* SPDX-License-Identifier: MIT
 *
 * semaphore.h - which semaphores are locks, and who has taken them.
 *
 * A semaphore has no owner: whether it is a lock shows by how it is used. One
 * whose value is 1 when it is first seen is a candidate. Its orders are learned
 * from its first wait on, and count as soon as the thread that took it has
 * posted it and it is asked for again (core/order.h: withheld, admitted). Some
 * signals are posted by their taker just before their end, as those that a
 * threading.Condition makes for each wait. It is a signal for good, and its
 * orders are dropped, when it is posted by another thread than the one that
 * took it, or while it is not taken, or in the middle of a lock call, which
 * only a signal handler can do; or when it is got though somebody had it.
 *
 * Memory:   24 bytes a semaphore that is used; given back by sem_destroy().
 * Threads:  looking up takes no lock; all that changes the table takes the
 *           detector's. What an entry says is written by who calls sem_wait
 *           and sem_post, in the order that the semaphore gives them.
 * Signals:  may run with signals open.
 */
#ifndef LH_RUNTIME_SEMAPHORE_H
#define LH_RUNTIME_SEMAPHORE_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lh_semaphore_use {
    LH_SEMAPHORE_SIGNAL,
    LH_SEMAPHORE_CANDIDATE,
    LH_SEMAPHORE_RETURNED, /* posted by its taker */
    LH_SEMAPHORE_LOCK
};

struct lh_semaphore {
    _Atomic uintptr_t address;
    struct lh_semaphore *_Atomic next; /* in its chain, or of the free ones */
    _Atomic uint32_t holder;  /* the number of the thread that took it, or 0 */
    _Atomic uint8_t use;      /* CANDIDATE -> RETURNED -> LOCK; any -> SIGNAL */
    _Atomic uint8_t unproved; /* posts that did not show that it is a lock */
};

/* The entries that were found last, by a hash of the address: one look, mostly.
 * Entries are never unmapped. */
enum { LH_LOG2_SEMAPHORES_NEAR = 12 };
extern struct lh_semaphore
    *_Atomic lh_semaphores_near[1 << LH_LOG2_SEMAPHORES_NEAR]
    __attribute__((visibility("hidden")));

static inline struct lh_semaphore *_Atomic *
lh_semaphore_near(const void *semaphore)
{
    uintptr_t a = (uintptr_t)semaphore >> 3;

    return &lh_semaphores_near[(a ^ a >> LH_LOG2_SEMAPHORES_NEAR) &
                               ((1 << LH_LOG2_SEMAPHORES_NEAR) - 1)];
}

/* The entry, if it was found of late; else NULL. No call in it: hooks keep few
 * registers. */
static inline struct lh_semaphore *lh_semaphore_glance(const void *semaphore)
{
    struct lh_semaphore *s = atomic_load_explicit(lh_semaphore_near(semaphore),
                                                  memory_order_acquire);

    return s && atomic_load_explicit(&s->address, memory_order_relaxed) ==
                       (uintptr_t)semaphore
               ? s
               : NULL;
}

/* See lh_semaphore_find(). */
struct lh_semaphore *lh_semaphore_find_far(const void *semaphore);

/*
 * The entry of a semaphore; NULL if it has none, or if the table is being
 * changed: lh_semaphore_meet() knows.
 */
static inline struct lh_semaphore *lh_semaphore_find(const void *semaphore)
{
    struct lh_semaphore *s = lh_semaphore_glance(semaphore);

    return s ? s : lh_semaphore_find_far(semaphore);
}

/* Its value now, by its own word in glibc. */
static inline uint32_t lh_semaphore_value(const sem_t *semaphore)
{
    return __atomic_load_n((const uint32_t *)(const void *)semaphore,
                           __ATOMIC_RELAXED);
}

static inline void *lh_semaphore_address(struct lh_semaphore *s)
{
    return (void *)atomic_load_explicit(&s->address, memory_order_relaxed);
}

static inline enum lh_semaphore_use lh_semaphore_use(struct lh_semaphore *s)
{
    return atomic_load_explicit(&s->use, memory_order_relaxed);
}

static inline uint32_t lh_semaphore_holder(struct lh_semaphore *s)
{
    return atomic_load_explicit(&s->holder, memory_order_relaxed);
}

static inline void lh_semaphore_set_holder(struct lh_semaphore *s,
                                           uint32_t thread)
{
    atomic_store_explicit(&s->holder, thread, memory_order_relaxed);
}

/* Before a call that finds no entry: the entry, made if need be; NULL when
 * memory is short. takes: it is about to be asked for, not posted. */
struct lh_semaphore *lh_semaphore_meet(sem_t *semaphore, bool takes);

/* The thread that took a candidate posts it, from here: it is returned, unless
 * this is a signal handler. */
void lh_semaphore_return(struct lh_semaphore *s, void *semaphore, void *pc,
                         uintptr_t cfa);

/* One that was returned is asked for again: it is a lock. */
void lh_semaphore_confirm(struct lh_semaphore *s, const void *semaphore);

/* It is a signal. */
void lh_semaphore_demote(struct lh_semaphore *s, void *semaphore);

/* It is made anew or destroyed: what it was used for is forgotten. */
void lh_semaphore_forget(const void *semaphore);

/* Has the thread of that number taken this lock? */
bool lh_semaphore_is_held(const void *semaphore, uint32_t thread);

/* Is it known to be a lock? */
bool lh_semaphore_is_lock(const void *semaphore);

/* The thread asks for a semaphore that is taken, by itself or, before the fork
 * of this process, by a thread that is not here: reports that if nobody else is
 * there who could post it. */
void lh_semaphore_check_self(struct lh_semaphore *s, void *semaphore, void *pc,
                             uintptr_t cfa);

/*
 * A try has failed; and the thread waits. Where the two follow each other for
 * one lock, with nothing taken or released in between, the try is only how its
 * place begins to wait.
 */
void lh_semaphore_try_failed(const void *semaphore, const void *pc);
void lh_semaphore_waits(const void *semaphore);

/* Does the place go on to wait where a try fails? */
bool lh_semaphore_place_waits(const void *pc);

/* In a forked child: the only thread had the number `was`, has `is` now. */
void lh_semaphores_after_fork(uint32_t was, uint32_t is);

#endif
