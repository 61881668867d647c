/* SPDX-License-Identifier: MIT
 *
 * ord/connpool.h - connections that are lent out and come back.
 *
 * At most `capacity` connections exist at once, each in a slot. Who acquires
 * takes an idle one, the last that came back first, or opens one in a free
 * slot, or waits for either until a deadline. An idle connection is checked
 * before it is lent and replaced if it has broken. Opening, checking and
 * closing happen with no lock held; meanwhile the slot is kept, and it is given
 * back if opening fails.
 *
 * Memory:   all at init, for the slots; the connections are what open() makes.
 * Threads:  all functions may run at the same time, but for init and destroy.
 * Errors:   EINVAL     a capacity of 0, or a connection that is not lent
 *           ENOMEM     no memory at init
 *           ETIMEDOUT  the deadline has passed
 *           EPIPE      the pool is shut down
 *           EBUSY      a connection exists, or a thread is inside
 *           and what open() returns
 */
#ifndef ORD_CONNPOOL_H
#define ORD_CONNPOOL_H

#include "ord/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Called with no lock held, by several threads at once. */
struct ord_connpool_calls {
    /* 0 and *connection, not NULL; or an errno number. To be kept to the
     * deadline of the acquisition that it is for. */
    int (*open)(void *ctx, ord_ns deadline, void **connection);
    bool (*is_healthy)(void *ctx, void *connection); /* NULL: always */
    void (*close)(void *ctx, void *connection);
    void *ctx;
};

struct ord_connpool_figures {
    size_t nidle, nlent;
    uint64_t nopened;
    uint64_t nfailed; /* to be opened */
    uint64_t nbroken; /* found so by the check or said so at release */
};

struct ord_connpool {
    struct ord_mutex lock; /* protects all that follows */
    struct ord_cond available, all_back;
    struct ord_connpool_calls calls;
    void **idle, **lent;
    size_t capacity;
    size_t nmoving; /* slots whose connection is opened, checked or closed */
    bool is_shut;
    struct ord_connpool_figures figures;
};

int ord_connpool_init(struct ord_connpool *pool, size_t capacity,
                      const struct ord_connpool_calls *calls);
/* EINVAL, ENOMEM */

/* After a shutdown that returned 0. */
int ord_connpool_destroy(struct ord_connpool *pool); /* EBUSY */

/* Lends a connection, to be released once. Returns 0, ETIMEDOUT, EPIPE, or
 * open()'s error, after which another caller may use the slot. */
int ord_connpool_acquire(struct ord_connpool *pool, void **connection,
                         ord_ns deadline);

/* Gives a connection back: one in order is kept for the next, a broken one is
 * closed and its slot is free. */
int ord_connpool_release(struct ord_connpool *pool, void *connection,
                         bool is_broken); /* EINVAL */

/*
 * Refuses acquisitions from now on, those that wait included, closes what is
 * idle and waits until what is lent has come back and is closed. After
 * ETIMEDOUT it may be called again.
 */
int ord_connpool_shutdown(struct ord_connpool *pool, ord_ns deadline);

void ord_connpool_read(struct ord_connpool *pool,
                       struct ord_connpool_figures *figures);

#ifdef __cplusplus
}
#endif

#endif
