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
    uint64_t since_ms; /* of LH_DEADLOCK: how long it has waited */
};

struct lh_finding_reason {
    struct lh_reason reason;
    struct lh_lock_info lock; /* of a gate */
};

/* The numbers behind "LH". */
enum lh_finding_kind {
    LH_RING = 1,            /* a ring of dependencies */
    LH_DEADLOCK = 2,        /* a ring of waits, now */
    LH_SELF = 3,            /* requested what it holds: hangs for good */
    LH_ENDLESS = 4,         /* waits for a lock whose holder has ended */
    LH_NESTED_READ = 5,     /* of a lock whose readers wait behind writers */
    LH_NOT_HELD = 10,       /* released while nobody holds it */
    LH_NOT_HOLDER = 11,     /* released by another thread than its holder */
    LH_ENDED_HELD = 12,     /* destroyed or freed while held */
    LH_USED_ENDED = 13,     /* used after it was destroyed */
    LH_INIT_IN_USE = 14,    /* initialized while held or waited for */
    LH_THREAD_ENDED = 15,   /* its thread ended while holding it */
    LH_ASSERTION = 16,      /* lockhound_assert_held or _not_held failed */
    LH_CONDITION_LOCK = 17, /* a condition waited on with the wrong mutex */
    LH_FORKED_HELD = 20,    /* requested in a forked child: held by a thread of
                               the parent that is not there */
};

struct lh_finding {
    struct lh_finding *next;
    size_t size_bytes;
    enum lh_finding_kind kind;
    uint32_t id;
    enum lh_grade grade;
    bool recorded;
    /* Rings: LH_RING, LH_NESTED_READ, LH_DEADLOCK */
    size_t nsides, nreasons;
    struct lh_finding_side *sides;
    struct lh_finding_reason *reasons;
    /* All others: misuse.h says what each of these is */
    struct lh_finding_thread thread, holder;
    struct lh_lock_info lock, other;
    uint32_t stack, holder_stack;
    const char *detail;
};

/* A finding with room for so many; NULL when memory is short. */
struct lh_finding *lh_finding_new(size_t nsides, size_t nreasons);
/* "LH001" */
const char *lh_finding_word(enum lh_finding_kind kind);

void lh_finding_free(struct lh_finding *finding);

#endif
