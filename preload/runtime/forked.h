/* SPDX-License-Identifier: MIT
 *
 * forked.h - in a forked child: what other threads of the parent held.
 *
 * fork copies a locked lock, but not the thread that would release it. The
 * lock's own words keep naming that thread.
 *
 * Threads:  lh_forked_take() and lh_forked_introduce() while there is one only;
 *           the others any, without a lock: nothing changes after that.
 */
#ifndef LH_RUNTIME_FORKED_H
#define LH_RUNTIME_FORKED_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/holders.h"

struct lh_thread;

/* Before the states of the threads that are not here are dropped: what they
 * hold is added to what those of the parent's parent did. */
void lh_forked_take(const struct lh_thread *self);

/* Gives those threads numbers among this process's. */
void lh_forked_introduce(void);

/* The thread that held the lock, by its tid (0: any); false if none did. */
bool lh_forked_find(const void *lock, int32_t tid, struct lh_holder *holder);

#endif
