/* SPDX-License-Identifier: MIT
 *
 * state.h - the detector's own state, shared by the files that make it up.
 *
 * Private to detector.c, request.c, news.c, lockevents.c and threadevents.c.
 * Everything is protected by `lock`, but for what the constructor sets before
 * there is a second thread.
 */
#ifndef LH_RUNTIME_STATE_H
#define LH_RUNTIME_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/order.h"
#include "core/segments.h"
#include "runtime/fmt.h"
#include "runtime/guard.h"
#include "runtime/rawlock.h"
#include "runtime/thread.h"

struct lh_state {
    struct lh_rawlock lock;
    struct lh_segments *segments;
    struct lh_order *order;
    uint32_t epoch;    /* mixed into every chain's root */
    uint64_t nthreads; /* ever seen */
    uint32_t nfindings;
    long pid;
    long forked_from; /* 0 unless a forked child */
    bool short_of_memory;
    bool found_something;
    struct lh_fmt out;        /* records to be written, by news.h */
    struct lh_thread *judged; /* whose request the order store is judging */
    /* Detection is off: hooks pass calls through. False -> true; relaxed. */
    _Atomic bool off;
};

extern struct lh_state lh_state __attribute__((visibility("hidden")));

static inline bool lh_state_is_off(void)
{
    return atomic_load_explicit(&lh_state.off, memory_order_relaxed);
}

/* Enters the guard and takes the lock; and back. */
void lh_state_enter(struct lh_guard *guard);
void lh_state_leave(const struct lh_guard *guard);

/* Empty segments and orders, with self (or NULL) as the only thread. Turns
 * detection off when memory is short. */
void lh_state_begin(struct lh_thread *self);

/* Turns detection off and says why, once. */
void lh_state_turn_off(const char *why);

/*
 * Gives a thread's chain keys a new root, which names its segment and the
 * epoch, so that nothing is known. Requests that another thread makes under
 * locks that it holds right now are still found this once.
 */
void lh_state_renew_root(struct lh_thread *t);
void lh_state_new_epoch(void);

#endif
