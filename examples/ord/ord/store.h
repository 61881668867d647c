/* SPDX-License-Identifier: MIT
 *
 * ord/store.h - values by name, each with the version it has reached.
 *
 * A value's first version is 1 and each write adds one. A writer who read
 * version v writes only if v is still the version (optimistic: a loser reads
 * and tries again), or claims the name first and makes the others wait
 * (pessimistic). Which is better depends on how often writers meet.
 *
 * A claim belongs to one thread and one name. No lock is held meanwhile, so
 * the claimant's function may take its time and use the store; other writers
 * of that name wait for it, readers do not.
 *
 * Memory:   all at init; names are copied. Names are never removed.
 * Threads:  all functions may run at the same time, but for init and destroy.
 * Errors:   EINVAL        an argument is out of its range
 *           ENOMEM        no memory at init
 *           ENAMETOOLONG  the name has ORD_STORE_NAME bytes or more
 *           ENOENT        there is no such name
 *           ENOSPC        a new name does not fit
 *           EAGAIN        another thread has written first
 *           EDEADLK       the calling thread has claimed that name itself
 *           ETIMEDOUT     the deadline has passed
 *           EBUSY         a name is claimed, or a thread waits
 */
#ifndef ORD_STORE_H
#define ORD_STORE_H

#include "ord/base.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ORD_STORE_NAME 32 /* bytes, with the terminating zero */

struct ord_versioned {
    int64_t value;
    uint64_t version;
};

struct ord_store_entry;

struct ord_store {
    struct ord_mutex lock; /* protects all that follows */
    struct ord_cond unclaimed;
    struct ord_store_entry *entries;
    size_t capacity, nentries, nclaimed;
};

int ord_store_init(struct ord_store *store, size_t capacity);
/* EINVAL, ENOMEM */
int ord_store_destroy(struct ord_store *store); /* EBUSY */

/* Gives the name a value, whatever it had. `version` receives the version that
 * this makes, and may be NULL. */
int ord_store_put(struct ord_store *store, const char *name, int64_t value,
                  uint64_t *version); /* ENAMETOOLONG, ENOSPC, EDEADLK */

int ord_store_read(struct ord_store *store, const char *name,
                   struct ord_versioned *out); /* ENOENT */

/* Writes if `version` is still the name's version. */
int ord_store_compare_and_set(struct ord_store *store, const char *name,
                              uint64_t version,
                              int64_t value); /* ENOENT, EAGAIN, EDEADLK */

/* Computes *next from a value; not 0 gives the update up and is its result.
 * Called with no lock held. */
typedef int (*ord_store_function)(int64_t value, int64_t *next, void *arg);

/*
 * The optimistic update: read, compute, compare and set.
 *
 * f    called once an attempt, so at most max_attempts times.
 * out  receives what was written. May be NULL.
 * Returns 0, what f returned, EINVAL if max_attempts is 0, ENOENT, EDEADLK, or
 * EAGAIN when every attempt met a conflict.
 */
int ord_store_update(struct ord_store *store, const char *name,
                     ord_store_function f, void *arg, unsigned max_attempts,
                     struct ord_versioned *out);

/*
 * The pessimistic update: claim, compute, write, release.
 *
 * f    called once.
 * out  receives what was written. May be NULL.
 * Returns 0, what f returned, ENOENT, EDEADLK, or ETIMEDOUT when the name was
 * claimed by others until the deadline.
 */
int ord_store_update_claimed(struct ord_store *store, const char *name,
                             ord_store_function f, void *arg, ord_ns deadline,
                             struct ord_versioned *out);

#ifdef __cplusplus
}
#endif

#endif
