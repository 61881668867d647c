/* SPDX-License-Identifier: MIT
 *
 * ord/rwlock.h - many readers or one writer, and writers first.
 *
 * A reader waits while a writer is inside or waits, so that a stream of readers
 * cannot keep a writer out. Each holder has a record on its own stack, by which
 * the lock knows it again:
 *
 *     static struct ord_rwlock lock = ORD_RWLOCK_INIT;
 *     struct ord_rw_hold hold = ORD_RW_HOLD_INIT;
 *
 *     ord_rwlock_read(&lock, &hold);
 *     ...
 *     ord_rwlock_unlock(&lock, &hold);
 *
 * The lock is not reentrant, and no reader becomes a writer: both would wait
 * for themselves. A thread that holds the lock in any way and asks for it again
 * in any way gets EDEADLK, even from a try.
 *
 * Ownership: a record belongs to the lock while it holds; it stays where it is
 *            and is given back by the thread that took it. A thread may hold
 *            several locks, each with a record of its own.
 * Threads:   any thread may call anything; destroy comes last. Nothing is
 *            allocated. Deadlines are instants of ord_now().
 *
 * Functions return 0 or an errno number:
 *
 *     EDEADLK    the caller holds this lock already
 *     EINVAL     the record holds another lock
 *     EBUSY      it would have to wait (try); somebody is inside or waits
 *                (destroy)
 *     ETIMEDOUT  it was not free by the deadline
 *     EPERM      the record does not hold this lock for the caller (unlock)
 */
#ifndef ORD_RWLOCK_H
#define ORD_RWLOCK_H

#include "ord/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ord_rwlock;

/* All of it private. */
struct ord_rw_hold {
    const struct ord_rwlock *lock; /* NULL: free */
    struct ord_rw_hold *next;      /* of those of its thread */
    int is_writer;
};
#define ORD_RW_HOLD_INIT                                                       \
    {                                                                          \
        0, 0, 0                                                                \
    }

struct ord_rw_counts {
    unsigned readers; /* inside */
    unsigned writers; /* inside: 0 or 1 */
    unsigned readers_waiting;
    unsigned writers_waiting;
};

/* All of it private. */
struct ord_rwlock {
    struct ord_mutex mutex; /* over the rest */
    struct ord_cond readers_go, writers_go;
    struct ord_rw_counts counts;
};
#define ORD_RWLOCK_INIT                                                        \
    {                                                                          \
        ORD_MUTEX_INIT, ORD_COND_INIT, ORD_COND_INIT,                          \
        {                                                                      \
            0, 0, 0, 0                                                         \
        }                                                                      \
    }

void ord_rwlock_init(struct ord_rwlock *lock);
int ord_rwlock_destroy(struct ord_rwlock *lock); /* EBUSY */

/* Wait as long as it takes. EDEADLK, EINVAL. */
int ord_rwlock_read(struct ord_rwlock *lock, struct ord_rw_hold *hold);
int ord_rwlock_write(struct ord_rwlock *lock, struct ord_rw_hold *hold);

/* Never wait. EDEADLK, EINVAL, EBUSY. */
int ord_rwlock_tryread(struct ord_rwlock *lock, struct ord_rw_hold *hold);
int ord_rwlock_trywrite(struct ord_rwlock *lock, struct ord_rw_hold *hold);

/* Wait until the deadline. EDEADLK, EINVAL, ETIMEDOUT. */
int ord_rwlock_timedread(struct ord_rwlock *lock, struct ord_rw_hold *hold,
                         ord_ns deadline);
int ord_rwlock_timedwrite(struct ord_rwlock *lock, struct ord_rw_hold *hold,
                          ord_ns deadline);

/* Leaves, as a reader or as the writer. EPERM. */
int ord_rwlock_unlock(struct ord_rwlock *lock, struct ord_rw_hold *hold);

/* Who was inside and who waited at one moment of the call. */
void ord_rwlock_counts(struct ord_rwlock *lock, struct ord_rw_counts *counts);

#ifdef __cplusplus
}
#endif

#endif
