/* SPDX-License-Identifier: MIT
 *
 * rawlock.h - a lock over futex(2) that the detector itself does not see.
 *
 * Holders have all signals blocked (guard.h), so a handler can neither find
 * its own thread holding the lock nor leave it locked by siglongjmp.
 */
#ifndef LH_RUNTIME_RAWLOCK_H
#define LH_RUNTIME_RAWLOCK_H

#include <stdatomic.h>
#include <stdint.h>

/* 0 free, 1 held, 2 held and somebody may sleep. Free -> 1 by a taker, any
 * -> 2 by a sleeper, 1 or 2 -> 0 by the holder. */
struct lh_rawlock {
    _Atomic uint32_t state;
};

void lh_rawlock_take(struct lh_rawlock *lock);
void lh_rawlock_give(struct lh_rawlock *lock);

/* In a forked child, for the one thread that held it in prepare. */
void lh_rawlock_reset(struct lh_rawlock *lock);

#endif
