/* SPDX-License-Identifier: MIT
 *
 * finding.h - one thing to tell the user, copied out of the detector.
 *
 * Made under the detector's lock, written and printed after it was released:
 * by then a lock may have ended and a thread may be gone.
 */
#ifndef LH_RUNTIME_FINDING_H
#define LH_RUNTIME_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/order.h"
#include "runtime/locks.h"

struct lh_finding_thread {
    uint32_t number;
    int32_t tid;
    char name[16];
    bool recorded;
    void *start; /* its start routine; NULL: unknown */
};

struct lh_finding_side {
    struct lh_side side;
    struct lh_lock_info wants, holds;
    struct lh_finding_thread thread;
    struct lh_seen seen;
};

struct lh_finding_reason {
    struct lh_reason reason;
    struct lh_lock_info lock; /* of a gate */
};

enum lh_finding_kind { LH_RING = 1, LH_ASSERTION = 16 }; /* LH001, LH016 */

struct lh_finding {
    struct lh_finding *next;
    size_t size_bytes;
    enum lh_finding_kind kind;
    uint32_t id;
    enum lh_grade grade;
    /* LH_RING */
    size_t nsides, nreasons;
    struct lh_finding_side *sides;
    struct lh_finding_reason *reasons;
    /* LH_ASSERTION */
    struct lh_finding_thread thread;
    struct lh_lock_info lock;
    uint32_t stack;
    bool asserted_held;
};

/* A finding with room for so many; NULL when memory is short. */
struct lh_finding *lh_finding_new(size_t nsides, size_t nreasons);
void lh_finding_free(struct lh_finding *finding);

#endif
