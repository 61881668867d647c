/* SPDX-License-Identifier: MIT
 *
 * ord/bucket.h - the token bucket: so many a second, and so many at once.
 *
 * It starts full. Tokens come continuously at its rate up to its capacity; what
 * is taken is gone. A waiter sleeps on a condition until the instant its tokens
 * will be there, and is not woken before; it polls nothing.
 *
 * The clock may be injected (see ord/base.h). Deadlines are then instants of
 * that clock, and whoever turns it calls ord_bucket_clock_turned() after.
 *
 * Waiters are served as they come to it, not in turn: one who wants few tokens
 * may pass one who wants many.
 *
 * Memory:   none of its own; the clock is the caller's, until destroy.
 * Threads:  all may run at once, but init and destroy run alone.
 * Errors:   EINVAL     rate, capacity or count is 0 or too great
 *           EAGAIN     not enough tokens now
 *           ETIMEDOUT  not enough until the deadline; nothing was taken
 *           EBUSY      a thread waits
 */
#ifndef ORD_BUCKET_H
#define ORD_BUCKET_H

#include "ord/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The greatest rate and capacity: a token a nanosecond. */
#define ORD_BUCKET_MAX 1000000000

struct ord_bucket {
    struct ord_mutex lock; /* protects the rest */
    struct ord_cond refilled;
    const struct ord_clock *clock;
    int64_t rate;     /* tokens a second */
    int64_t capacity; /* as the next, in 1/ORD_SECOND of a token */
    int64_t level;
    ord_ns as_of; /* the instant of that level */
};

/* capacity  in tokens, of which it has as many at first. */
int ord_bucket_init(struct ord_bucket *bucket, int64_t tokens_per_second,
                    int64_t capacity, const struct ord_clock *clock);
/* EINVAL */
int ord_bucket_destroy(struct ord_bucket *bucket); /* EBUSY */

/* Take n tokens, 1 to the capacity, or none. */
int ord_bucket_trytake(struct ord_bucket *bucket, int64_t n);
/* EINVAL, EAGAIN */
int ord_bucket_take(struct ord_bucket *bucket, int64_t n, ord_ns deadline);
/* EINVAL, ETIMEDOUT */

/* How many whole tokens are there. */
int64_t ord_bucket_level(struct ord_bucket *bucket);

/* Has every waiter look at the injected clock again. */
void ord_bucket_clock_turned(struct ord_bucket *bucket);

#ifdef __cplusplus
}
#endif

#endif
