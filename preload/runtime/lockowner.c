/* SPDX-License-Identifier: MIT
 * lockowner.c - what a lock itself says about who holds it. */
#include "runtime/lockowner.h"

#include <pthread.h>

#include "core/lockkind.h"
#include "core/order.h"
#include "runtime/mutexword.h"
#include "runtime/rwlockword.h"
#include "runtime/spinword.h"
#include "runtime/sys.h"

static int32_t owner_of_mutex(const pthread_mutex_t *mutex)
{
    int32_t holder;

    if (!lh_sys_can_read(&mutex->__data.__lock) ||
        !lh_sys_can_read(&mutex->__data.__kind) ||
        mutex->__data.__kind & LH_MUTEX_SHARED)
        return 0;
    holder = lh_mutex_holder(mutex);
    return holder > 0 ? holder : 0;
}

static bool can_read(const pthread_rwlock_t *lock)
{
    return lh_sys_can_read(&lock->__data.__readers) &&
           lh_sys_can_read(&lock->__data.__cur_writer) &&
           !lock->__data.__shared;
}

int32_t lh_lockowner_of(uintptr_t lock, unsigned kind)
{
    const pthread_rwlock_t *rwlock = (const void *)lock;

    if (kind == LH_KIND_MUTEX)
        return owner_of_mutex((const void *)lock);
    if (kind == LH_KIND_RWLOCK && can_read(rwlock))
        return rwlock->__data.__cur_writer;
    return 0;
}

bool lh_lockowner_agrees(uintptr_t lock, unsigned kind, unsigned mode,
                         int32_t tid)
{
    const pthread_rwlock_t *rwlock = (const void *)lock;
    const pthread_spinlock_t *spin = (const void *)lock;

    switch (kind) {
    case LH_KIND_RWLOCK:
        if (mode == LH_SHARED)
            return can_read(rwlock) && lh_rwlock_is_read(rwlock);
        return lh_lockowner_of(lock, kind) == tid;
    case LH_KIND_SPIN:
        return lh_sys_can_read((const void *)(lock & ~(uintptr_t)7)) &&
               lh_spin_is_taken(spin);
    default:
        return lh_lockowner_of(lock, kind) == tid;
    }
}
