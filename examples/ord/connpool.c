/* SPDX-License-Identifier: MIT
 * connpool.c - connections that are lent out and come back. */
#include "ord/connpool.h"

#include <errno.h>
#include <stdlib.h>

int ord_connpool_init(struct ord_connpool *pool, size_t capacity,
                      const struct ord_connpool_calls *calls)
{
    if (capacity == 0)
        return EINVAL;
    *pool = (struct ord_connpool){ .capacity = capacity, .calls = *calls };
    pool->idle = calloc(capacity, sizeof pool->idle[0]);
    pool->lent = calloc(capacity, sizeof pool->lent[0]);
    if (!pool->idle || !pool->lent) {
        free(pool->idle);
        free(pool->lent);
        return ENOMEM;
    }
    ord_mutex_init(&pool->lock);
    ord_cond_init(&pool->available);
    ord_cond_init(&pool->all_back);
    return 0;
}

static size_t nslots_taken(const struct ord_connpool *pool)
{
    return pool->figures.nidle + pool->figures.nlent + pool->nmoving;
}

int ord_connpool_destroy(struct ord_connpool *pool)
{
    bool busy;

    ord_mutex_lock(&pool->lock);
    busy = nslots_taken(pool) > 0 || pool->available.nwaiting > 0 ||
           pool->all_back.nwaiting > 0;
    ord_mutex_unlock(&pool->lock);
    if (busy)
        return EBUSY;
    ord_cond_destroy(&pool->available);
    ord_cond_destroy(&pool->all_back);
    ord_mutex_destroy(&pool->lock);
    free(pool->idle);
    free(pool->lent);
    return 0;
}

static int is_available(void *arg)
{
    const struct ord_connpool *pool = arg;

    return pool->is_shut || pool->figures.nidle > 0 ||
           nslots_taken(pool) < pool->capacity;
}

/* Takes a slot, with its idle connection or with NULL. */
static int take_slot(struct ord_connpool *pool, void **connection,
                     ord_ns deadline)
{
    int rc;

    ord_mutex_lock(&pool->lock);
    rc = ord_cond_timedwait(&pool->available, &pool->lock, is_available, pool,
                            deadline);
    if (rc == 0 && pool->is_shut)
        rc = EPIPE;
    if (rc == 0) {
        *connection =
            pool->figures.nidle > 0 ? pool->idle[--pool->figures.nidle] : NULL;
        pool->nmoving++;
    }
    ord_mutex_unlock(&pool->lock);
    return rc;
}

/* With the lock held: the slot that was moving is idle, lent or free now. */
static void settle_slot(struct ord_connpool *pool)
{
    pool->nmoving--;
    ord_cond_signal(&pool->available);
    if (pool->figures.nlent + pool->nmoving == 0)
        ord_cond_broadcast(&pool->all_back);
}

/* Closes the connection of a moving slot if it has broken. */
static void check(struct ord_connpool *pool, void **connection)
{
    const struct ord_connpool_calls *calls = &pool->calls;

    if (!*connection || !calls->is_healthy ||
        calls->is_healthy(calls->ctx, *connection))
        return;
    calls->close(calls->ctx, *connection);
    *connection = NULL;
    ord_mutex_lock(&pool->lock);
    pool->figures.nbroken++;
    ord_mutex_unlock(&pool->lock);
}

/* Opens a connection for a moving slot and lends it, or frees the slot. */
static int open_and_lend(struct ord_connpool *pool, void **connection,
                         ord_ns deadline)
{
    bool opens = !*connection;
    int rc =
        opens ? pool->calls.open(pool->calls.ctx, deadline, connection) : 0;

    ord_mutex_lock(&pool->lock);
    if (rc == 0)
        pool->lent[pool->figures.nlent++] = *connection;
    pool->figures.nopened += opens && rc == 0;
    pool->figures.nfailed += rc != 0;
    settle_slot(pool);
    ord_mutex_unlock(&pool->lock);
    return rc;
}

int ord_connpool_acquire(struct ord_connpool *pool, void **connection,
                         ord_ns deadline)
{
    void *found;
    int rc = take_slot(pool, &found, deadline);

    if (rc != 0)
        return rc;
    check(pool, &found);
    rc = open_and_lend(pool, &found, deadline);
    if (rc == 0)
        *connection = found;
    return rc;
}

/* With the lock held: false if it is not lent. */
static bool take_back(struct ord_connpool *pool, const void *connection)
{
    size_t n = pool->figures.nlent;

    for (size_t i = 0; i < n; i++) {
        if (pool->lent[i] != connection)
            continue;
        pool->lent[i] = pool->lent[n - 1];
        pool->figures.nlent--;
        pool->nmoving++;
        return true;
    }
    return false;
}

/* Closes the connection of a moving slot and frees the slot. */
static void close_and_free(struct ord_connpool *pool, void *connection)
{
    pool->calls.close(pool->calls.ctx, connection);
    ord_mutex_lock(&pool->lock);
    settle_slot(pool);
    ord_mutex_unlock(&pool->lock);
}

int ord_connpool_release(struct ord_connpool *pool, void *connection,
                         bool is_broken)
{
    bool was_lent, closes;

    ord_mutex_lock(&pool->lock);
    was_lent = take_back(pool, connection);
    closes = is_broken || pool->is_shut;
    if (was_lent && is_broken)
        pool->figures.nbroken++;
    if (was_lent && !closes) {
        pool->idle[pool->figures.nidle++] = connection;
        settle_slot(pool);
    }
    ord_mutex_unlock(&pool->lock);
    if (was_lent && closes)
        close_and_free(pool, connection);
    return was_lent ? 0 : EINVAL;
}

/* The next idle connection of a pool that is shut, or NULL. */
static void *take_idle(struct ord_connpool *pool)
{
    void *connection = NULL;

    ord_mutex_lock(&pool->lock);
    if (pool->figures.nidle > 0) {
        connection = pool->idle[--pool->figures.nidle];
        pool->nmoving++;
    }
    ord_mutex_unlock(&pool->lock);
    return connection;
}

static int are_all_back(void *arg)
{
    const struct ord_connpool *pool = arg;

    return pool->figures.nlent + pool->nmoving == 0;
}

int ord_connpool_shutdown(struct ord_connpool *pool, ord_ns deadline)
{
    void *connection;
    int rc;

    ord_mutex_lock(&pool->lock);
    pool->is_shut = true;
    ord_cond_broadcast(&pool->available);
    ord_mutex_unlock(&pool->lock);
    while ((connection = take_idle(pool)))
        close_and_free(pool, connection);
    ord_mutex_lock(&pool->lock);
    rc = ord_cond_timedwait(&pool->all_back, &pool->lock, are_all_back, pool,
                            deadline);
    ord_mutex_unlock(&pool->lock);
    return rc;
}

void ord_connpool_read(struct ord_connpool *pool,
                       struct ord_connpool_figures *figures)
{
    ord_mutex_lock(&pool->lock);
    *figures = pool->figures;
    ord_mutex_unlock(&pool->lock);
}
