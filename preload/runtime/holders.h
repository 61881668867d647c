/* SPDX-License-Identifier: MIT
 *
 * holders.h - which thread holds a lock, by the threads' own chains.
 *
 * Chains of running threads are read while they change: what is found is only
 * as good as the lock's own words, which the caller has looked at.
 */
#ifndef LH_RUNTIME_HOLDERS_H
#define LH_RUNTIME_HOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lh_thread;
struct lh_slot;

struct lh_holder {
    uint32_t number; /* of the thread; 0: not known */
    uint32_t stack;  /* where it took the lock; 0: not known */
};

/*
 * Looks for the thread with that tid (0: any thread), and for its acquisition.
 * Returns true if its chain has it; otherwise the number may be known alone.
 *
 * Threads:  any, without the detector's lock.
 */
bool lh_holder_find(const void *lock, int32_t tid, struct lh_holder *holder);

/* The same; and the thread, before it next learns of an order, asks the words
 * of its mutexes which of them it holds. Another kind of lock it holds no
 * more. */
bool lh_holder_disown(const void *lock, int32_t tid, struct lh_holder *holder);

/*
 * Takes the slots of a thread, oldest first, below where its top was seen to
 * be, until take returns false; the thread may push and pop meanwhile. With the
 * detector's lock held.
 */
void lh_holder_walk(struct lh_thread *t,
                    bool (*take)(void *ctx, struct lh_thread *t,
                                 struct lh_slot *slot),
                    void *ctx);

/* Does this process have the thread? In a child of vfork it is the parent. */
bool lh_holder_is_here(int32_t tid);

/* Of a thread that is gone, or in a forked child; with the detector's lock
 * held: calls back for each lock that its chain still has. */
void lh_holder_each(struct lh_thread *t,
                    void (*take)(void *ctx, struct lh_thread *t,
                                 const struct lh_slot *slot),
                    void *ctx);

/* The slot of a thread in a condition wait, whose mutex it will ask for; NULL
 * if it has none. With the detector's lock held. */
const struct lh_slot *lh_holder_wait(struct lh_thread *t);

/* The stack of a slot; of its PC alone if that is all there is. */
uint32_t lh_holder_stack(const struct lh_slot *slot);

/* The same for a slot of this thread, outside of the guard. */
uint32_t lh_holder_own_stack(const struct lh_slot *slot);

#endif
