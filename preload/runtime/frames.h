/* SPDX-License-Identifier: MIT
 *
 * frames.h - locks that lie on a thread's stack, and the frames they lie in.
 *
 * A frame ends without an event. What can be told:
 *
 *  - A call made with the stack pointer above a lock says that the lock's frame
 *    is gone. That is noticed when such a call is new to its site or place.
 *  - The frame of main, or of a thread's start routine, lasts as long as the
 *    thread.
 *  - A thread that was created while its creator's stack pointer was below a
 *    lock means that very lock, as it got its address then.
 *
 * All else is in doubt: the frame may have been left and entered anew between
 * two uses, and the lock be another one.
 *
 * Threads:  want the detector's lock unless they say otherwise.
 */
#ifndef LH_RUNTIME_FRAMES_H
#define LH_RUNTIME_FRAMES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/thread.h"

/* The thread's stack, whose bounds are set, can be found. */
void lh_frames_add_stack(const struct lh_thread *t);

/* True if the address lies on the thread's stack. */
static inline bool lh_frames_owns(const struct lh_thread *t, uintptr_t address)
{
    return t->stack_high && address >= t->stack_low && address < t->stack_high;
}

/* The thread on whose stack the address lies, self or another; or NULL. */
struct lh_thread *lh_frames_owner(struct lh_thread *self, uintptr_t address);

/* There is a lock at this address of t's stack; its own thread, if it does not
 * hold the detector's lock. */
void lh_frames_add_lock(struct lh_thread *t, uintptr_t address);

/* True if the address on owner's stack lies in a frame that lasts as long as
 * the thread. */
bool lh_frames_lasts(const struct lh_thread *owner, uintptr_t address);

/* True if the lock at an address of owner's stack is, when user uses it, surely
 * the one that user has used before. */
bool lh_frames_is_sure(const struct lh_thread *owner,
                       const struct lh_thread *user, uintptr_t address);

/* The caller's own stack pointer is above locks on its stack: they end. Without
 * the detector's lock, inside the guard. */
void lh_frames_left(struct lh_thread *t, uintptr_t cfa);

static inline bool lh_frames_may_be_left(const struct lh_thread *t,
                                         uintptr_t cfa)
{
    return cfa > atomic_load_explicit(&t->stack_lock, memory_order_relaxed);
}

/* Before the caller creates a thread, from pc: sees where its frames lie.
 * Anywhere, with signals open. */
void lh_frames_creating(void *pc, uintptr_t cfa);

/* The innermost part of the outermost frame was seen there: by the unwinder, in
 * the thread itself, without the detector's lock. */
void lh_frames_saw_outermost(struct lh_thread *t, uintptr_t low);

#endif
