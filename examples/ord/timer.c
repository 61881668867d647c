/* SPDX-License-Identifier: MIT
 * timer.c - calls a function once, later, unless it is cancelled. */
#include "ord/timer.h"

#include <errno.h>

#include "retire.h"

/* PENDING becomes CANCELLED, or RUNNING and then DONE. */
enum { PENDING, RUNNING, DONE, CANCELLED };

static int is_cancelled(void *arg)
{
    return ((const struct ord_timer *)arg)->state == CANCELLED;
}

static int is_over(void *arg)
{
    const struct ord_timer *timer = arg;

    return timer->state == DONE || timer->state == CANCELLED;
}

static void *run(void *arg)
{
    struct ord_timer *timer = arg;

    ord_mutex_lock(&timer->mutex);
    if (ord_cond_timedwait(&timer->changed, &timer->mutex, is_cancelled, timer,
                           timer->deadline) == ETIMEDOUT) {
        timer->state = RUNNING;
        ord_mutex_unlock(&timer->mutex);
        timer->function(timer->arg);
        ord_mutex_lock(&timer->mutex);
        timer->state = DONE;
        ord_cond_broadcast(&timer->changed);
    }
    ord_mutex_unlock(&timer->mutex);
    return NULL;
}

int ord_timer_start(struct ord_timer *timer, ord_ns deadline,
                    void (*function)(void *arg), void *arg)
{
    int rc;

    if (!function)
        return EINVAL;
    *timer = (struct ord_timer){
        .state = PENDING, .deadline = deadline, .function = function, .arg = arg
    };
    ord_mutex_init(&timer->mutex);
    ord_cond_init(&timer->changed);
    ord_mutex_lock(&timer->mutex); /* until the thread's name is written */
    rc = pthread_create(&timer->thread, NULL, run, timer);
    ord_mutex_unlock(&timer->mutex);
    if (rc != 0)
        retire(&timer->mutex, &timer->changed);
    return rc;
}

int ord_timer_cancel(struct ord_timer *timer)
{
    int rc = EALREADY;

    ord_mutex_lock(&timer->mutex);
    if (timer->state == PENDING) {
        timer->state = CANCELLED;
        rc = 0;
        ord_cond_broadcast(&timer->changed);
    }
    ord_mutex_unlock(&timer->mutex);
    return rc;
}

int ord_timer_timedwait(struct ord_timer *timer, ord_ns deadline)
{
    int rc;

    if (pthread_equal(timer->thread, pthread_self()))
        return EDEADLK;
    ord_mutex_lock(&timer->mutex);
    rc = ord_cond_timedwait(&timer->changed, &timer->mutex, is_over, timer,
                            deadline);
    if (rc == 0 && timer->state == CANCELLED)
        rc = ECANCELED;
    ord_mutex_unlock(&timer->mutex);
    return rc;
}

int ord_timer_wait(struct ord_timer *timer)
{
    return ord_timer_timedwait(timer, ORD_NEVER);
}

int ord_timer_destroy(struct ord_timer *timer)
{
    int over;

    ord_mutex_lock(&timer->mutex);
    over = is_over(timer);
    ord_mutex_unlock(&timer->mutex);
    if (!over)
        return EBUSY;
    pthread_join(timer->thread, NULL);
    return retire(&timer->mutex, &timer->changed);
}
