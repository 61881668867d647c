/* SPDX-License-Identifier: MIT
 * bucket.c - the token bucket. */
#include "ord/bucket.h"

#include <errno.h>
#include <stdbool.h>

/* A level counts parts of a token, of which `rate` come each nanosecond: the
 * refill is exact. With both at ORD_BUCKET_MAX a level fits 60 bits. */
#define PARTS ORD_SECOND

static bool in_range(int64_t n, int64_t max)
{
    return n > 0 && n <= max;
}

int ord_bucket_init(struct ord_bucket *bucket, int64_t tokens_per_second,
                    int64_t capacity, const struct ord_clock *clock)
{
    if (!in_range(tokens_per_second, ORD_BUCKET_MAX) ||
        !in_range(capacity, ORD_BUCKET_MAX))
        return EINVAL;
    ord_mutex_init(&bucket->lock);
    ord_cond_init(&bucket->refilled);
    bucket->clock = clock;
    bucket->rate = tokens_per_second;
    bucket->capacity = capacity * PARTS;
    bucket->level = bucket->capacity;
    bucket->as_of = ord_clock_now(clock);
    return 0;
}

int ord_bucket_destroy(struct ord_bucket *bucket)
{
    bool busy;

    ord_mutex_lock(&bucket->lock);
    busy = bucket->refilled.nwaiting > 0;
    ord_mutex_unlock(&bucket->lock);
    if (busy)
        return EBUSY;
    ord_cond_destroy(&bucket->refilled);
    return ord_mutex_destroy(&bucket->lock);
}

/* The static functions below are called with the lock held. */

/* How long until the level is so high; 0 or less if it is. */
static ord_ns time_to(const struct ord_bucket *bucket, int64_t level)
{
    return level <= bucket->level
               ? 0
               : (level - bucket->level - 1) / bucket->rate + 1;
}

/* Brings the level up to now. A clock that went back brings nothing. */
static void refill(struct ord_bucket *bucket, ord_ns now)
{
    ord_ns passed = now - bucket->as_of;

    if (passed <= 0)
        return;
    if (passed >= time_to(bucket, bucket->capacity))
        bucket->level = bucket->capacity;
    else
        bucket->level += passed * bucket->rate;
    bucket->as_of = now;
}

static bool take_now(struct ord_bucket *bucket, int64_t parts, ord_ns now)
{
    refill(bucket, now);
    if (bucket->level < parts)
        return false;
    bucket->level -= parts;
    return true;
}

static ord_ns earlier(ord_ns a, ord_ns b)
{
    return a < b ? a : b;
}

/* Sleeps until the tokens may be there, or the deadline. How long an injected
 * clock takes to get there is unknown; who turns it ends the sleep. */
static void sleep_for(struct ord_bucket *bucket, int64_t parts, ord_ns deadline)
{
    ord_ns due = bucket->as_of + time_to(bucket, parts);

    ord_cond_pause(&bucket->refilled, &bucket->lock,
                   bucket->clock ? ORD_NEVER : earlier(due, deadline));
}

int ord_bucket_take(struct ord_bucket *bucket, int64_t n, ord_ns deadline)
{
    int rc = 0;

    if (!in_range(n, bucket->capacity / PARTS))
        return EINVAL;
    ord_mutex_lock(&bucket->lock);
    for (;;) {
        ord_ns now = ord_clock_now(bucket->clock);
        if (take_now(bucket, n * PARTS, now))
            break;
        if (now >= deadline) {
            rc = ETIMEDOUT;
            break;
        }
        sleep_for(bucket, n * PARTS, deadline);
    }
    ord_mutex_unlock(&bucket->lock);
    return rc;
}

int ord_bucket_trytake(struct ord_bucket *bucket, int64_t n)
{
    int rc = ord_bucket_take(bucket, n, INT64_MIN);

    return rc == ETIMEDOUT ? EAGAIN : rc;
}

int64_t ord_bucket_level(struct ord_bucket *bucket)
{
    int64_t level;

    ord_mutex_lock(&bucket->lock);
    refill(bucket, ord_clock_now(bucket->clock));
    level = bucket->level / PARTS;
    ord_mutex_unlock(&bucket->lock);
    return level;
}

void ord_bucket_clock_turned(struct ord_bucket *bucket)
{
    ord_mutex_lock(&bucket->lock);
    ord_cond_broadcast(&bucket->refilled);
    ord_mutex_unlock(&bucket->lock);
}
