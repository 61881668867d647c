/* SPDX-License-Identifier: MIT
 *
 * ord/shm.h - a counter and an array that processes share and survive.
 *
 * They lie in shared memory under a robust mutex. What a holder changes is kept
 * only when he unlocks: if he dies before, the next one to lock finds the state
 * of the last unlock (ORD_SHM_REPAIR), or nobody ever locks again
 * (ORD_SHM_REFUSE). A holder who dies may be a process or a thread.
 *
 * A child gets the region by fork, or its descriptor, and attaches to that.
 *
 * Memory:   the region is freed when nobody has it mapped or open.
 * Threads:  all functions on one region may run at the same time in all
 *           processes, but for create, attach and detach of one handle.
 * Errors:   EINVAL           0 cells, an index out of range, not a region
 *           ENOMEM           no memory, or none so large
 *           EPERM            the calling thread does not hold the lock
 *           EDEADLK          it holds it already
 *           ETIMEDOUT        the deadline has passed
 *           EOVERFLOW        the counter would overflow
 *           ENOTRECOVERABLE  a holder died and the region refuses
 *           EBUSY            the calling thread holds the lock
 *           and those of memfd_create(2) and mmap(2)
 */
#ifndef ORD_SHM_H
#define ORD_SHM_H

#include "ord/base.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ord_shm_policy {
    ORD_SHM_REPAIR, /* undo what the dead holder changed */
    ORD_SHM_REFUSE  /* ENOTRECOVERABLE from then on */
};

struct ord_shm_region;

struct ord_shm {
    struct ord_shm_region *region;
    int fd; /* of the region, close-on-exec; the handle's own */
};

/* n  cells in the array, all 0 as the counter is. */
int ord_shm_create(struct ord_shm *shm, size_t n, enum ord_shm_policy policy);
/* fd  of a region; stays the caller's. */
int ord_shm_attach(struct ord_shm *shm, int fd);
int ord_shm_detach(struct ord_shm *shm); /* EBUSY */

size_t ord_shm_size(const struct ord_shm *shm); /* cells in the array */

int ord_shm_lock(struct ord_shm *shm, ord_ns deadline);
/* EDEADLK, ETIMEDOUT, ENOTRECOVERABLE */
int ord_shm_unlock(struct ord_shm *shm); /* EPERM; keeps the changes */

/* Between lock and unlock. */
int ord_shm_get(struct ord_shm *shm, size_t index,
                int64_t *value); /* EINVAL, EPERM */
int ord_shm_set(struct ord_shm *shm, size_t index,
                int64_t value); /* EINVAL, EPERM */

/* Adds to the counter; 0 reads it. Locks by itself, unless the caller holds the
 * lock: then it is one of his changes. `result` may be NULL. */
int ord_shm_add(struct ord_shm *shm, int64_t n, int64_t *result,
                ord_ns deadline); /* EOVERFLOW, and as lock */

/* How many holders died and had their changes undone. */
uint64_t ord_shm_nrepairs(const struct ord_shm *shm);

#ifdef __cplusplus
}
#endif

#endif
