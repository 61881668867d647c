/* SPDX-License-Identifier: MIT
 *
 * hook.h - what every hook needs.
 *
 * A hook says what happens, calls the real function, says what happened, and
 * returns its result. It is exported under the C library's own version name
 * (exports.map), so that callers who ask for a version find it, too.
 * LH_VERSIONS is for a function that old programs ask for by an older version:
 * it has both.
 */
#ifndef LH_HOOKS_HOOK_H
#define LH_HOOKS_HOOK_H

#include <errno.h>

#include "runtime/detector.h"
#include "runtime/held.h"
#include "runtime/real.h"

#define LH_HOOK __attribute__((visibility("default")))

#define LH_VERSIONS(function, now, before)                                     \
    __asm__(".globl lh_old_" #function "\n"                                    \
            ".type lh_old_" #function ", @function\n"                          \
            ".set lh_old_" #function ", " #function "\n"                       \
            ".symver lh_old_" #function ", " #function "@" before "\n"         \
            ".symver " #function ", " #function "@@" now)

/* Of a type that counts or refuses re-entry, and so knows its owner. */
static inline bool lh_mutex_checks(const pthread_mutex_t *mutex)
{
    int type = mutex->__data.__kind & 3;

    return type == PTHREAD_MUTEX_RECURSIVE_NP ||
           type == PTHREAD_MUTEX_ERRORCHECK_NP;
}

/* A mutex that was asked for is held after these. */
static inline bool lh_got(int rc)
{
    return rc == 0 || rc == EOWNERDEAD;
}

/* What becomes of its slot. */
static inline enum lh_slot_state lh_outcome(int rc)
{
    return lh_got(rc) ? LH_HOLDS : LH_GONE;
}

/* The caller, who holds a lock by this slot, is about to ask for it again and
 * would wait for good: LH003. May not return (on-deadlock=). */
void lh_self_deadlock(const struct lh_slot *held, void *pc, uintptr_t cfa);

#endif
