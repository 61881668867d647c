/* SPDX-License-Identifier: MIT
 * sem.c - a counting semaphore, with or without a bound. */
#include "ord/sem.h"

#include <errno.h>

#include "retire.h"

void ord_sem_init(struct ord_sem *sem, unsigned units)
{
    ord_sem_init_bounded(sem, units, UINT_MAX);
}

int ord_sem_init_bounded(struct ord_sem *sem, unsigned units, unsigned max)
{
    if (units > max)
        return EINVAL;
    ord_mutex_init(&sem->mutex);
    ord_cond_init(&sem->posted);
    sem->count = units;
    sem->max = max;
    return 0;
}

int ord_sem_destroy(struct ord_sem *sem)
{
    return retire(&sem->mutex, &sem->posted);
}

static int has_units(void *arg)
{
    return ((const struct ord_sem *)arg)->count > 0;
}

int ord_sem_timedwait(struct ord_sem *sem, ord_ns deadline)
{
    int rc;

    ord_mutex_lock(&sem->mutex);
    rc =
        ord_cond_timedwait(&sem->posted, &sem->mutex, has_units, sem, deadline);
    if (rc == 0)
        sem->count--;
    ord_mutex_unlock(&sem->mutex);
    return rc;
}

void ord_sem_wait(struct ord_sem *sem)
{
    ord_sem_timedwait(sem, ORD_NEVER);
}

int ord_sem_trywait(struct ord_sem *sem)
{
    int rc = EAGAIN;

    ord_mutex_lock(&sem->mutex);
    if (sem->count > 0) {
        sem->count--;
        rc = 0;
    }
    ord_mutex_unlock(&sem->mutex);
    return rc;
}

int ord_sem_post(struct ord_sem *sem)
{
    int rc = EOVERFLOW;

    ord_mutex_lock(&sem->mutex);
    if (sem->count < sem->max) {
        sem->count++;
        rc = 0;
        ord_cond_signal(&sem->posted);
    }
    ord_mutex_unlock(&sem->mutex);
    return rc;
}

unsigned ord_sem_count(struct ord_sem *sem)
{
    unsigned count;

    ord_mutex_lock(&sem->mutex);
    count = sem->count;
    ord_mutex_unlock(&sem->mutex);
    return count;
}
