/* SPDX-License-Identifier: MIT
 *
 * ord/order.h - takes several mutexes without a chance of deadlock.
 *
 * Threads that take the same mutexes in one order cannot wait for each other in
 * a ring. That order is by address or, where a program has a better one, by
 * rank. Where no order can be kept, the try and timed forms take all or none:
 * they never wait with a lock in hand.
 *
 *     struct ord_mutex *both[] = { &order->mutex, &stock->mutex };
 *     ord_lock_all(both, NULL, 2);
 *     ...
 *     ord_unlock_all(both, 2);
 *
 * Arrays:   the caller's. The locking functions sort them in place, in n log n
 *           steps and no memory, so two calls at a time may share mutexes but
 *           not an array.
 * Threads:  any thread may call anything at any time.
 * Failure:  what the call took is released again before it returns.
 *
 * Functions return 0 or an errno number:
 *
 *     EINVAL     a mutex is NULL or is there twice; a start is out of range
 *     EDEADLK    the caller holds one of them already
 *     EBUSY      one of them is taken (try)
 *     ETIMEDOUT  the deadline passed before all were free at once (timed)
 *     EPERM      the caller does not hold what it wants to release
 */
#ifndef ORD_ORDER_H
#define ORD_ORDER_H

#include <stddef.h>

#include "ord/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Takes both, the one at the lower address first. EINVAL, EDEADLK. */
int ord_lock_pair(struct ord_mutex *a, struct ord_mutex *b);

/* Releases both, whatever their order. EPERM if one was not held; the other has
 * been released. */
int ord_unlock_pair(struct ord_mutex *a, struct ord_mutex *b);

/*
 * Takes all n, in ascending order. EINVAL, EDEADLK.
 *
 * ranks  NULL for the order by address, or one rank for each mutex; it is
 *        sorted along with them. Equal ranks are taken by address. The order is
 *        one only if a mutex has the same rank in every call.
 */
int ord_lock_all(struct ord_mutex **mutexes, int64_t *ranks, size_t n);

/* Releases all n, the last of the array first. EPERM if any was not held; the
 * others have been released. */
int ord_unlock_all(struct ord_mutex *const *mutexes, size_t n);

/*
 * Takes all n that are free at once, or none, and never waits. EINVAL, EBUSY.
 *
 * start  NULL, or where to begin in the sorted array: 0 for a first attempt.
 *        After EBUSY it is the index of the mutex that was taken, to begin with
 *        next time: that one is the likeliest to fail again, and an attempt
 *        that fails at once has disturbed nobody.
 */
int ord_trylock_all(struct ord_mutex **mutexes, size_t n, size_t *start);

/*
 * Takes all n, or none by the deadline. It waits for one mutex with none in its
 * hand, then tries the rest; when one is taken it releases everything and waits
 * for that one. So it is safe beside threads that keep no order. One attempt is
 * made even when the deadline has passed. EINVAL, EDEADLK, ETIMEDOUT.
 */
int ord_timedlock_all(struct ord_mutex **mutexes, size_t n, ord_ns deadline);

/*
 * One step of a walk hand over hand: takes next, then releases prev, so that
 * nobody overtakes. All walks go the same way.
 *
 * prev   held by the caller, or NULL to begin.
 * next   or NULL to end, which only releases prev.
 * Returns 0; EINVAL if both are one, or both NULL; EDEADLK if next is held
 * already; EPERM if prev is not held. After an error nothing has changed.
 */
int ord_lock_next(struct ord_mutex *prev, struct ord_mutex *next);

#ifdef __cplusplus
}
#endif

#endif
