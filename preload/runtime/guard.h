/* SPDX-License-Identifier: MIT
 *
 * guard.h - entering and leaving the detector's slow path.
 *
 * Inside, every signal is blocked: no handler can interrupt a change to the
 * detector's memory, and none can leave by siglongjmp with a lock of ours
 * held (a flag would stay set for ever). It costs two system calls, about
 * 300 ns, on a path that runs only when something is new. errno is as before
 * afterwards.
 */
#ifndef LH_RUNTIME_GUARD_H
#define LH_RUNTIME_GUARD_H

#include <stdint.h>

struct lh_guard {
    uint64_t mask; /* the kernel's signal set: 64 bits */
    int saved_errno;
};

void lh_guard_enter(struct lh_guard *guard);
void lh_guard_leave(const struct lh_guard *guard);

#endif
