/* SPDX-License-Identifier: MIT
 *
 * ord/lock.h - a recursive lock: its holder may take it again.
 *
 * The plain lock is struct ord_mutex of ord/base.h, which tells a holder that
 * it holds already. This one counts instead, and is free again after as many
 * releases. It is for code that cannot know whether its caller has the lock;
 * a program that can know does better with the plain one.
 *
 *     static struct ord_rlock lock = ORD_RLOCK_INIT;
 *
 * Allocates nothing. Any thread may call anything; destroy comes last.
 * Deadlines are instants of ord_now(). Returns 0 or an errno number:
 *
 *     EBUSY      another thread has it; it is held (destroy)
 *     ETIMEDOUT  the deadline has passed
 *     EAGAIN     taken more often than can be counted
 *     EPERM      the caller does not hold it
 */
#ifndef ORD_LOCK_H
#define ORD_LOCK_H

#include "ord/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ord_rlock {
    struct ord_mutex mutex;
    pthread_t owner; /* atomic; 0: nobody */
    unsigned depth;  /* under the mutex */
};
#define ORD_RLOCK_INIT                                                         \
    {                                                                          \
        ORD_MUTEX_INIT, 0, 0                                                   \
    }

void ord_rlock_init(struct ord_rlock *lock);
int ord_rlock_destroy(struct ord_rlock *lock); /* EBUSY */
int ord_rlock_lock(struct ord_rlock *lock);    /* EAGAIN */
int ord_rlock_trylock(struct ord_rlock *lock); /* EBUSY, EAGAIN */
int ord_rlock_timedlock(struct ord_rlock *lock,
                        ord_ns deadline);     /* ETIMEDOUT, EAGAIN */
int ord_rlock_unlock(struct ord_rlock *lock); /* EPERM */

/* How many releases the caller owes: 0 if it does not hold the lock. */
unsigned ord_rlock_depth(const struct ord_rlock *lock);

#ifdef __cplusplus
}
#endif

#endif
