/* SPDX-License-Identifier: MIT
 * barrier.c - a meeting of a fixed number of threads, again and again. */
#include "ord/barrier.h"

#include <errno.h>

#include "retire.h"

/* On the stack of a thread that waits. When its round ends it is told how, and
 * needs to know nothing of the rounds that may pass before it wakes. */
struct ord_barrier_waiter {
    struct ord_barrier_waiter *next;
    int is_done;
    int result;
};

int ord_barrier_init(struct ord_barrier *barrier, unsigned nparties,
                     ord_barrier_action action, void *arg)
{
    if (nparties == 0)
        return EINVAL;
    *barrier = (struct ord_barrier){ .nparties = nparties,
                                     .action = action,
                                     .arg = arg };
    ord_mutex_init(&barrier->mutex);
    ord_cond_init(&barrier->changed);
    return 0;
}

int ord_barrier_destroy(struct ord_barrier *barrier)
{
    int is_acting;

    ord_mutex_lock(&barrier->mutex);
    is_acting = barrier->is_acting;
    ord_mutex_unlock(&barrier->mutex);
    return is_acting ? EBUSY : retire(&barrier->mutex, &barrier->changed);
}

/* From here to arrive(), functions are called with the mutex held. */

static void end_round(struct ord_barrier *barrier, int result)
{
    struct ord_barrier_waiter *waiter = barrier->waiters;

    for (; waiter; waiter = waiter->next) {
        waiter->is_done = 1;
        waiter->result = result;
    }
    barrier->waiters = NULL;
    barrier->nwaiters = 0;
    ord_cond_broadcast(&barrier->changed);
}

static void break_it(struct ord_barrier *barrier)
{
    barrier->is_broken = 1;
    end_round(barrier, ECANCELED);
}

static int run_action(struct ord_barrier *barrier)
{
    int rc;

    if (!barrier->action)
        return 0;
    barrier->is_acting = 1;
    ord_mutex_unlock(&barrier->mutex);
    rc = barrier->action(barrier->arg);
    ord_mutex_lock(&barrier->mutex);
    barrier->is_acting = 0;
    ord_cond_broadcast(&barrier->changed);
    return rc;
}

/* By the last to arrive. A break or a reset may have ended the round while the
 * action ran. */
static int complete_round(struct ord_barrier *barrier,
                          const struct ord_barrier_waiter *me)
{
    int rc = run_action(barrier);

    if (me->is_done)
        return me->result;
    if (rc != 0)
        break_it(barrier);
    else
        end_round(barrier, 0);
    return rc;
}

static int may_enter(void *arg)
{
    const struct ord_barrier *barrier = arg;

    return barrier->is_broken || !barrier->is_acting;
}

static int is_done(void *arg)
{
    return ((const struct ord_barrier_waiter *)arg)->is_done;
}

static int arrive(struct ord_barrier *barrier, struct ord_barrier_waiter *me,
                  ord_ns deadline)
{
    int rc = ord_cond_timedwait(&barrier->changed, &barrier->mutex, may_enter,
                                barrier, deadline);

    if (rc != 0)
        return rc;
    if (barrier->is_broken)
        return ECANCELED;
    me->next = barrier->waiters;
    barrier->waiters = me;
    if (++barrier->nwaiters == barrier->nparties)
        return complete_round(barrier, me);
    rc = ord_cond_timedwait(&barrier->changed, &barrier->mutex, is_done, me,
                            deadline);
    return rc ? rc : me->result;
}

int ord_barrier_timedwait(struct ord_barrier *barrier, ord_ns deadline)
{
    struct ord_barrier_waiter me = { .is_done = 0 };
    int rc;

    if (barrier->nparties == 0)
        return EINVAL;
    ord_mutex_lock(&barrier->mutex);
    rc = arrive(barrier, &me, deadline);
    if (rc == ETIMEDOUT)
        break_it(barrier);
    ord_mutex_unlock(&barrier->mutex);
    return rc;
}

int ord_barrier_wait(struct ord_barrier *barrier)
{
    return ord_barrier_timedwait(barrier, ORD_NEVER);
}

void ord_barrier_reset(struct ord_barrier *barrier)
{
    ord_mutex_lock(&barrier->mutex);
    end_round(barrier, ECANCELED);
    barrier->is_broken = 0;
    ord_mutex_unlock(&barrier->mutex);
}

int ord_barrier_is_broken(struct ord_barrier *barrier)
{
    int is_broken;

    ord_mutex_lock(&barrier->mutex);
    is_broken = barrier->is_broken;
    ord_mutex_unlock(&barrier->mutex);
    return is_broken;
}

unsigned ord_barrier_waiting(struct ord_barrier *barrier)
{
    unsigned nwaiters;

    ord_mutex_lock(&barrier->mutex);
    nwaiters = barrier->nwaiters;
    ord_mutex_unlock(&barrier->mutex);
    return nwaiters;
}
