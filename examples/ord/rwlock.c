/* SPDX-License-Identifier: MIT
 * rwlock.c - many readers or one writer, and writers first. */
#include "ord/rwlock.h"

#include <errno.h>

#include "retire.h"

/* What this thread holds. Only its own records are looked at, so that finding
 * one needs no lock and takes as many steps as the thread holds locks. */
static _Thread_local struct ord_rw_hold *my_holds;

void ord_rwlock_init(struct ord_rwlock *lock)
{
    *lock = (struct ord_rwlock){ .counts = { 0 } };
    ord_mutex_init(&lock->mutex);
    ord_cond_init(&lock->readers_go);
    ord_cond_init(&lock->writers_go);
}

int ord_rwlock_destroy(struct ord_rwlock *lock)
{
    struct ord_rw_counts counts;

    ord_rwlock_counts(lock, &counts);
    if (counts.readers + counts.writers + counts.readers_waiting +
            counts.writers_waiting >
        0)
        return EBUSY;
    ord_cond_destroy(&lock->readers_go);
    return retire(&lock->mutex, &lock->writers_go);
}

static int check(const struct ord_rwlock *lock, const struct ord_rw_hold *hold)
{
    for (const struct ord_rw_hold *mine = my_holds; mine; mine = mine->next)
        if (mine->lock == lock)
            return EDEADLK;
    return hold->lock ? EINVAL : 0;
}

/* The link that leads to a record of this thread, or to NULL. */
static struct ord_rw_hold **find(const struct ord_rw_hold *hold)
{
    struct ord_rw_hold **at = &my_holds;

    while (*at && *at != hold)
        at = &(*at)->next;
    return at;
}

static int may_read(void *arg)
{
    const struct ord_rw_counts *counts = &((struct ord_rwlock *)arg)->counts;

    return counts->writers == 0 && counts->writers_waiting == 0;
}

static int may_write(void *arg)
{
    const struct ord_rw_counts *counts = &((struct ord_rwlock *)arg)->counts;

    return counts->writers == 0 && counts->readers == 0;
}

/* Lets in who may go now. Called with the mutex held, when somebody has left or
 * a writer has given up. */
static void let_in(struct ord_rwlock *lock)
{
    if (lock->counts.writers_waiting > 0) {
        if (may_write(lock))
            ord_cond_signal(&lock->writers_go);
    } else if (lock->counts.writers == 0) {
        ord_cond_broadcast(&lock->readers_go);
    }
}

/* Waits until the deadline. Called with the mutex held. */
static int wait_in_line(struct ord_rwlock *lock, int is_writer, ord_ns deadline)
{
    unsigned *nwaiting = is_writer ? &lock->counts.writers_waiting
                                   : &lock->counts.readers_waiting;
    int rc;

    ++*nwaiting;
    rc = ord_cond_timedwait(is_writer ? &lock->writers_go : &lock->readers_go,
                            &lock->mutex, is_writer ? may_write : may_read,
                            lock, deadline);
    --*nwaiting;
    if (rc != 0 && is_writer)
        let_in(lock); /* readers may have waited for this writer alone */
    return rc;
}

/* Passes without a wait if it can, and with one if it may. */
static int pass(struct ord_rwlock *lock, int is_writer, int may_wait,
                ord_ns deadline)
{
    int rc = 0;

    ord_mutex_lock(&lock->mutex);
    if (!(is_writer ? may_write(lock) : may_read(lock)))
        rc = may_wait ? wait_in_line(lock, is_writer, deadline) : EBUSY;
    if (rc == 0)
        ++*(is_writer ? &lock->counts.writers : &lock->counts.readers);
    ord_mutex_unlock(&lock->mutex);
    return rc;
}

static int take(struct ord_rwlock *lock, struct ord_rw_hold *hold,
                int is_writer, int may_wait, ord_ns deadline)
{
    int rc = check(lock, hold);

    if (rc == 0)
        rc = pass(lock, is_writer, may_wait, deadline);
    if (rc != 0)
        return rc;
    *hold = (struct ord_rw_hold){ lock, my_holds, is_writer };
    my_holds = hold;
    return 0;
}

int ord_rwlock_read(struct ord_rwlock *lock, struct ord_rw_hold *hold)
{
    return take(lock, hold, 0, 1, ORD_NEVER);
}

int ord_rwlock_write(struct ord_rwlock *lock, struct ord_rw_hold *hold)
{
    return take(lock, hold, 1, 1, ORD_NEVER);
}

int ord_rwlock_tryread(struct ord_rwlock *lock, struct ord_rw_hold *hold)
{
    return take(lock, hold, 0, 0, 0);
}

int ord_rwlock_trywrite(struct ord_rwlock *lock, struct ord_rw_hold *hold)
{
    return take(lock, hold, 1, 0, 0);
}

int ord_rwlock_timedread(struct ord_rwlock *lock, struct ord_rw_hold *hold,
                         ord_ns deadline)
{
    return take(lock, hold, 0, 1, deadline);
}

int ord_rwlock_timedwrite(struct ord_rwlock *lock, struct ord_rw_hold *hold,
                          ord_ns deadline)
{
    return take(lock, hold, 1, 1, deadline);
}

int ord_rwlock_unlock(struct ord_rwlock *lock, struct ord_rw_hold *hold)
{
    struct ord_rw_hold **at = find(hold);

    if (!*at || hold->lock != lock)
        return EPERM;
    *at = hold->next;
    hold->lock = NULL;
    ord_mutex_lock(&lock->mutex);
    if (hold->is_writer)
        lock->counts.writers--;
    else
        lock->counts.readers--;
    let_in(lock);
    ord_mutex_unlock(&lock->mutex);
    return 0;
}

void ord_rwlock_counts(struct ord_rwlock *lock, struct ord_rw_counts *counts)
{
    ord_mutex_lock(&lock->mutex);
    *counts = lock->counts;
    ord_mutex_unlock(&lock->mutex);
}
