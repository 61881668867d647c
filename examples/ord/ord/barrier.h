/* SPDX-License-Identifier: MIT
 *
 * ord/barrier.h - a meeting of a fixed number of threads, again and again.
 *
 * Each thread waits until all have arrived; then all go on and the next round
 * may begin. The last to arrive runs the barrier's action first, with no lock
 * held, while the others still wait: what it does is done before any goes on.
 *
 * A thread that gives up would leave the others waiting for ever, so a timeout
 * breaks the barrier: all who wait get ECANCELED, and so does whoever comes
 * until it is reset.
 *
 *     static struct ord_barrier meeting = ORD_BARRIER_INIT(3);
 *
 * What a thread did before it arrived is seen by all after the round. Allocates
 * nothing: who waits stands in a list, on its own stack. Any thread may call
 * anything, the action included, but destroy comes last and the action must not
 * wait for its own barrier. Deadlines are instants of ord_now(). Returns 0 or
 * an errno number:
 *
 *     EINVAL     a number of 0 threads
 *     ETIMEDOUT  the round was not over by the deadline, and the barrier is
 *                broken
 *     ECANCELED  the barrier is broken, or was reset during the round
 *     EBUSY      a thread waits or has not left yet (destroy)
 *     others     what the action returned, for the thread that ran it
 */
#ifndef ORD_BARRIER_H
#define ORD_BARRIER_H

#include "ord/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns 0, or an errno number that breaks the barrier. */
typedef int (*ord_barrier_action)(void *arg);

struct ord_barrier_waiter;

/* All of it private. */
struct ord_barrier {
    struct ord_mutex mutex; /* over the rest */
    struct ord_cond changed;
    struct ord_barrier_waiter *waiters; /* of this round */
    unsigned nparties, nwaiters;
    int is_acting; /* the round is full and its action runs */
    int is_broken;
    ord_barrier_action action;
    void *arg;
};
#define ORD_BARRIER_INIT(nparties)                                             \
    {                                                                          \
        ORD_MUTEX_INIT, ORD_COND_INIT, 0, (nparties), 0, 0, 0, 0, 0            \
    }

/* action  may be NULL. EINVAL. */
int ord_barrier_init(struct ord_barrier *barrier, unsigned nparties,
                     ord_barrier_action action, void *arg);
int ord_barrier_destroy(struct ord_barrier *barrier); /* EBUSY */

/* Arrives, and waits for the rest. ECANCELED, or the action's error. */
int ord_barrier_wait(struct ord_barrier *barrier);

/* The same with a deadline, which counts until the action has returned, but not
 * for the thread that runs it. ETIMEDOUT, ECANCELED, or the action's error. */
int ord_barrier_timedwait(struct ord_barrier *barrier, ord_ns deadline);

/* Sends all who wait away with ECANCELED; then the barrier is whole and empty.
 * A round whose action runs is cancelled too, the action itself is not. */
void ord_barrier_reset(struct ord_barrier *barrier);

/* Whether it is broken, and how many wait in this round, at some moment of the
 * call. */
int ord_barrier_is_broken(struct ord_barrier *barrier);
unsigned ord_barrier_waiting(struct ord_barrier *barrier);

#ifdef __cplusplus
}
#endif

#endif
