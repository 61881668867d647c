/* SPDX-License-Identifier: MIT
 *
 * ord/profile.h - a mutex that knows how long it is waited for and held.
 *
 * A contended acquisition is one that did not get the mutex at once. Waits that
 * ended at a deadline count too. Beside the mutex proper there is one for the
 * figures, taken last and for a few steps, so they can be read at any time,
 * by the holder too, and agree with each other.
 *
 * Memory:   stands alone, never allocates.
 * Threads:  all functions may run at the same time, but for init and destroy.
 * Units:    nanoseconds of the clock.
 * Errors:   EBUSY      taken: by another at trylock, by any at destroy
 *           EDEADLK    the caller holds it already
 *           EPERM      the caller does not hold it
 *           ETIMEDOUT  the deadline has passed
 */
#ifndef ORD_PROFILE_H
#define ORD_PROFILE_H

#include "ord/base.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ord_profile_figures {
    uint64_t count;     /* acquisitions */
    uint64_t contended; /* acquisitions that had to wait */
    uint64_t timeouts;  /* waits in vain */
    ord_ns total_wait, longest_wait;
    ord_ns total_hold, longest_hold; /* of holds that have ended */
};

struct ord_profile {
    struct ord_mutex mutex;
    ord_ns held_since;             /* atomic; the holder's */
    struct ord_mutex figures_lock; /* innermost */
    struct ord_profile_figures figures;
    const struct ord_clock *clock; /* NULL: CLOCK_MONOTONIC */
};
#define ORD_PROFILE_INIT                                                       \
    {                                                                          \
        ORD_MUTEX_INIT, 0, ORD_MUTEX_INIT, { 0, 0, 0, 0, 0, 0, 0 }, 0          \
    }

void ord_profile_init(struct ord_profile *profile,
                      const struct ord_clock *clock);
int ord_profile_destroy(struct ord_profile *profile); /* EBUSY */

int ord_profile_lock(struct ord_profile *profile);    /* EDEADLK */
int ord_profile_trylock(struct ord_profile *profile); /* EBUSY */

/* The deadline is on CLOCK_MONOTONIC, whatever clock measures. */
int ord_profile_timedlock(struct ord_profile *profile,
                          ord_ns deadline);          /* EDEADLK, ETIMEDOUT */
int ord_profile_unlock(struct ord_profile *profile); /* EPERM */

void ord_profile_read(struct ord_profile *profile,
                      struct ord_profile_figures *figures);

#ifdef __cplusplus
}
#endif

#endif
