/* SPDX-License-Identifier: MIT
 *
 * live.h - waits that do not end, found while they last.
 *
 * A thread that has to wait for a lock while it holds another one (or while
 * somebody waits for its end) does so in pieces: after each it looks at what
 * all threads hold and want, by their published slots and the locks' own words.
 * A ring that two looks have seen, with nobody in it having moved in between,
 * is a deadlock. Nothing is looked at in the first 50 ms, so short waits cost a
 * clock reading.
 *
 * The last thread of a ring to publish its request sees the whole of it. Where
 * waiting in pieces would change what is waited for (a writer that leaves the
 * queue lets readers in), the thread waits as it would alone, and the others of
 * the ring see it.
 *
 * No helper thread, no timer, no signal.
 */
#ifndef LH_RUNTIME_LIVE_H
#define LH_RUNTIME_LIVE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "runtime/held.h"
#include "runtime/thread.h"

/* One wait, on the stack of who waits. */
struct lh_watch {
    struct lh_thread *thread;
    uint64_t signature; /* of the ring that the last look saw; 0: none */
    unsigned looks;
    bool told;
    struct timespec next; /* CLOCK_MONOTONIC: when to look again */
};

/* Whether the newest request could close a ring: something is held below it,
 * or the end of the thread is waited for. Or could wait for a holder that has
 * ended, as some have. */
bool lh_live_concerns(const struct lh_slot *request);

/* The same of a join. */
bool lh_live_concerns_join(void);

/* Before a wait of the calling thread that is to be watched; and after it. The
 * first look is due at watch->next. */
void lh_live_begin(struct lh_watch *watch);
void lh_live_end(struct lh_watch *watch);

/* Looks, and sets the time for the next look. A deadlock is told, and
 * on-deadlock= may end the process here. */
void lh_live_look(struct lh_watch *watch);

/* The same, once and before a wait that cannot be in pieces: if there is a
 * ring, and it stands for a moment. */
void lh_live_look_before(struct lh_watch *watch);

/* Both ends of a wait that cannot be in pieces, for a lock that is busy. */
void lh_live_enter(struct lh_watch *watch, const struct lh_slot *request);
void lh_live_leave(struct lh_watch *watch);

/* A thread has ended while it held something. */
void lh_live_orphaned(void);

/* The calling thread is about to end by pthread_exit. Of the main one, whose
 * end nobody need be told of, the others have to know if it holds something. */
void lh_live_main_ends(void);

/* In a forked child: nobody waits for this thread. */
void lh_live_after_fork(struct lh_thread *self);

/* The calling thread is going to wait for the end of another one; and not any
 * more. number: of that thread, 0 if unknown. */
void lh_live_joins(uint32_t number, void *pc, uintptr_t cfa);
void lh_live_joined(uint32_t number);

#endif
