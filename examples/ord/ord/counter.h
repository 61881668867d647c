/* SPDX-License-Identifier: MIT
 *
 * ord/counter.h - three counters: behind a lock, in shards, and unsafe.
 *
 * The locked one is exact at every instant. The sharded one spreads the adding
 * threads over cache lines of their own and is exact once they are joined (or
 * ordered in another way); a total read meanwhile has every add that is ordered
 * before it, and perhaps later ones. The unsafe one loses increments, and is
 * here to show it: it reads and writes in two atomic steps, so that it is wrong
 * without being undefined, and no race detector has cause to speak.
 *
 * Memory:   they stand alone and never allocate.
 * Threads:  all functions may run at the same time, but for init and destroy.
 * Errors:   EBUSY   locked while it is destroyed
 *           EAGAIN  the system refuses a thread
 */
#ifndef ORD_COUNTER_H
#define ORD_COUNTER_H

#include "ord/base.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ord_counter_locked {
    struct ord_mutex lock;
    int64_t value; /* under the lock */
};
#define ORD_COUNTER_LOCKED_INIT                                                \
    {                                                                          \
        ORD_MUTEX_INIT, 0                                                      \
    }

void ord_counter_locked_init(struct ord_counter_locked *counter);
int ord_counter_locked_destroy(struct ord_counter_locked *counter); /* EBUSY */
void ord_counter_locked_add(struct ord_counter_locked *counter, int64_t n);
int64_t ord_counter_locked_read(struct ord_counter_locked *counter);

#define ORD_COUNTER_SHARDS 16
#define ORD_COUNTER_LINE 64 /* bytes in a cache line */

struct ord_counter_shard {
    int64_t value; /* atomic */
    char padding[ORD_COUNTER_LINE - sizeof(int64_t)];
};
struct ord_counter_sharded {
    struct ord_counter_shard shards[ORD_COUNTER_SHARDS];
};
#define ORD_COUNTER_SHARDED_INIT                                               \
    {                                                                          \
        {                                                                      \
            {                                                                  \
                0,                                                             \
                {                                                              \
                    0                                                          \
                }                                                              \
            }                                                                  \
        }                                                                      \
    }

void ord_counter_sharded_init(struct ord_counter_sharded *counter);
void ord_counter_sharded_add(struct ord_counter_sharded *counter, int64_t n);
int64_t ord_counter_sharded_read(const struct ord_counter_sharded *counter);

struct ord_counter_unsafe {
    int64_t value; /* atomic, but its read and its write are two operations */
};
#define ORD_COUNTER_UNSAFE_INIT                                                \
    {                                                                          \
        0                                                                      \
    }

void ord_counter_unsafe_init(struct ord_counter_unsafe *counter);
void ord_counter_unsafe_add(struct ord_counter_unsafe *counter, int64_t n);
int64_t ord_counter_unsafe_read(const struct ord_counter_unsafe *counter);

/*
 * The lost update, forced: a second thread and the caller each read the
 * counter, meet at a barrier, and only then write what they read plus one. Two
 * increments are applied and the counter is one higher, at every run.
 *
 * Returns 0, or EAGAIN with nothing done.
 */
int ord_counter_lose_update(struct ord_counter_unsafe *counter);

#ifdef __cplusplus
}
#endif

#endif
