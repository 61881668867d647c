/* SPDX-License-Identifier: MIT
 *
 * onces.h - which onces a thread knows to be done.
 *
 * A call of a once that is done does not wait, but the same call would have,
 * had it come earlier: made with a lock in hand, it says something about the
 * order of the two, unless the thread knew already that the once was done. So
 * the first call of each thread counts, and no later one.
 *
 * Memory:   a page for a thread that calls a once. When there is no room, a
 *           once counts as known: a call is overlooked, not made up.
 * Threads:  by the thread itself.
 * Signals:  a handler may add in between; a once is then added twice at most.
 */
#ifndef LH_RUNTIME_ONCES_H
#define LH_RUNTIME_ONCES_H

#include <stdbool.h>

#include "runtime/thread.h"

/* True if the thread did not know it yet. */
bool lh_once_learn(struct lh_thread *t, const void *once);

/* The thread's state is to be another's. */
void lh_once_forget_all(struct lh_thread *t);

#endif
