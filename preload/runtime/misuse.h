/* SPDX-License-Identifier: MIT
 *
 * misuse.h - findings about one lock: misuse, and requests that hang for good.
 *
 * Whoever calls has made sure, by the lock's own words, that what it reports
 * is so. One finding for each kind and place.
 */
#ifndef LH_RUNTIME_MISUSE_H
#define LH_RUNTIME_MISUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/finding.h"

struct lh_thread;

struct lh_misuse {
    enum lh_finding_kind kind;
    uint8_t lock_kind; /* enum lh_kind, for a lock that was not known yet */
    void *lock;
    void *pc; /* of the call */
    uintptr_t cfa;
    const char *detail; /* a word of lockhound-records(5), or NULL; static */
    /* Who did it, and the stack of that; 0: the caller, at pc. */
    uint32_t thread, stack;
    /* Who holds it, or did what made this one wrong; 0: unknown. */
    uint32_t holder, holder_stack;
    void *other; /* the other lock concerned, or NULL */
};

/*
 * Tells about it, once for each kind and place. A finding that has happened
 * (LH003, LH020) does not return if on-deadlock= ends the process.
 *
 * Threads:  any, outside the guard and the detector's lock.
 */
void lh_misuse_report(const struct lh_misuse *misuse);

/*
 * The same for what has not happened, with the detector's lock held and the
 * stack known: it is written with what else t has to tell.
 */
void lh_misuse_file(struct lh_thread *t, const struct lh_misuse *misuse);

/*
 * Before a lock is destroyed that is held, as its own words say, by the thread
 * with that tid (0: they do not say by whom): LH012, if a thread's chain says
 * so, too, and then true.
 */
bool lh_misuse_destroy_held(void *lock, uint8_t lock_kind, int32_t tid,
                            void *pc, uintptr_t cfa);

/* Does what on-deadlock= says, after the finding was written. */
void lh_misuse_act(void);

#endif
