/* SPDX-License-Identifier: MIT
 * lock.c - a recursive lock: its holder may take it again. */
#include "ord/lock.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>

void ord_rlock_init(struct ord_rlock *lock)
{
    ord_mutex_init(&lock->mutex);
    lock->owner = 0;
    lock->depth = 0;
}

int ord_rlock_destroy(struct ord_rlock *lock)
{
    return ord_rlock_depth(lock) > 0 ? EBUSY : ord_mutex_destroy(&lock->mutex);
}

/* Relaxed on both sides: a thread sees itself here only if it was the last to
 * write, and what another thread may see meanwhile is never that thread. */
static bool is_mine(const struct ord_rlock *lock)
{
    return __atomic_load_n(&lock->owner, __ATOMIC_RELAXED) == pthread_self();
}

static void set_owner(struct ord_rlock *lock, pthread_t owner)
{
    __atomic_store_n(&lock->owner, owner, __ATOMIC_RELAXED);
}

static int go_deeper(struct ord_rlock *lock)
{
    if (lock->depth == UINT_MAX)
        return EAGAIN;
    lock->depth++;
    return 0;
}

/* The first time, if rc says that the mutex has been taken. */
static int enter(struct ord_rlock *lock, int rc)
{
    if (rc == 0) {
        set_owner(lock, pthread_self());
        lock->depth = 1;
    }
    return rc;
}

int ord_rlock_lock(struct ord_rlock *lock)
{
    if (is_mine(lock))
        return go_deeper(lock);
    return enter(lock, ord_mutex_lock(&lock->mutex));
}

int ord_rlock_trylock(struct ord_rlock *lock)
{
    if (is_mine(lock))
        return go_deeper(lock);
    return enter(lock, ord_mutex_trylock(&lock->mutex));
}

int ord_rlock_timedlock(struct ord_rlock *lock, ord_ns deadline)
{
    if (is_mine(lock))
        return go_deeper(lock);
    return enter(lock, ord_mutex_timedlock(&lock->mutex, deadline));
}

int ord_rlock_unlock(struct ord_rlock *lock)
{
    if (!is_mine(lock))
        return EPERM;
    if (--lock->depth > 0)
        return 0;
    set_owner(lock, 0);
    return ord_mutex_unlock(&lock->mutex);
}

unsigned ord_rlock_depth(const struct ord_rlock *lock)
{
    return is_mine(lock) ? lock->depth : 0;
}
