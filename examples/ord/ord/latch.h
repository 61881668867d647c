/* SPDX-License-Identifier: MIT
 *
 * ord/latch.h - opens once, when it has been counted down to 0.
 *
 * Threads wait for a number of things to have happened: workers that are ready,
 * parts that are done. Who counts down does not wait. An open latch stays open.
 *
 *     static struct ord_latch done = ORD_LATCH_INIT(3);
 *
 * What a thread did before it counted down is seen by those who pass the latch.
 * Allocates nothing. Any thread may call anything; destroy comes last.
 * Deadlines are instants of ord_now(). Returns 0 or an errno number:
 *
 *     EINVAL     counted down by more than is left: nothing has changed
 *     EAGAIN     it is not open (trywait)
 *     ETIMEDOUT  it was not open by the deadline
 *     EBUSY      a thread waits (destroy)
 */
#ifndef ORD_LATCH_H
#define ORD_LATCH_H

#include "ord/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All of it private. */
struct ord_latch {
    struct ord_mutex mutex; /* over the rest */
    struct ord_cond opened;
    unsigned count;
};
#define ORD_LATCH_INIT(count)                                                  \
    {                                                                          \
        ORD_MUTEX_INIT, ORD_COND_INIT, (count)                                 \
    }

void ord_latch_init(struct ord_latch *latch, unsigned count); /* 0: open */
int ord_latch_destroy(struct ord_latch *latch);               /* EBUSY */

/* Counts down by n, which opens it at 0. EINVAL. */
int ord_latch_count_down(struct ord_latch *latch, unsigned n);

void ord_latch_wait(struct ord_latch *latch);
int ord_latch_trywait(struct ord_latch *latch); /* EAGAIN */
int ord_latch_timedwait(struct ord_latch *latch,
                        ord_ns deadline); /* ETIMEDOUT */

/* What is left to count down, at some moment of the call. */
unsigned ord_latch_count(struct ord_latch *latch);

#ifdef __cplusplus
}
#endif

#endif
