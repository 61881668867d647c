/* SPDX-License-Identifier: MIT
 *
 * ends.h - locks end with the memory that they lie in.
 *
 * A lock at an address that was used before is a new lock. Which locks must be
 * ended are those that somebody has a note of: known ones (locks.h), as they
 * were nested, annotated or part of a finding; those whose birth was noted
 * (births.h); and what is held. Of any other lock no more than its site is
 * remembered, which is as good for the next lock that is taken there.
 *
 * Threads:  all functions may run anywhere, but for those that say that they
 *           want the detector's lock.
 */
#ifndef LH_RUNTIME_ENDS_H
#define LH_RUNTIME_ENDS_H

#include <stddef.h>
#include <stdint.h>

struct lh_guard;

/* Memory that is given back. */
struct lh_ends_memory {
    uintptr_t low, high;
    ptrdiff_t moved; /* its contents lie so much higher now */
    /* For the finding that a lock in it is held, LH012: a word of
     * lockhound-records(5), or NULL for none, and where from. */
    const char *detail;
    void *pc;
    uintptr_t cfa;
};

/* Ends all locks in it, and tells of those that are held. Before others can
 * get it. */
void lh_ends_memory(const struct lh_ends_memory *memory);

/* The rest: for who tells the detector of ends in other ways. */

/* Every cached key that mentions the address dies. */
void lh_ends_renew(const void *address);

/* The address is no longer the lock that it was, if it was one. With the
 * detector's lock held, which lh_ends_leave() gives back. */
void lh_ends_forget(const void *address);

/* The same for all from low on and below high. */
void lh_ends_forget_all(uintptr_t low, uintptr_t high);

/* Gives the detector's lock back, tells what was found, leaves the guard. */
void lh_ends_leave(const struct lh_guard *guard);

#endif
