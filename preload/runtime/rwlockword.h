/* SPDX-License-Identifier: MIT
 *
 * rwlockword.h - what a read-write lock's own words say.
 *
 * glibc's __readers has the phase, whether a writer has it, and above that how
 * many readers do; __cur_writer is the writer's tid.
 */
#ifndef LH_RUNTIME_RWLOCKWORD_H
#define LH_RUNTIME_RWLOCKWORD_H

#include <pthread.h>
#include <stdbool.h>

enum {
    LH_RWLOCK_WRITE_PHASE = 1,
    LH_RWLOCK_WRITE_LOCKED = 2,
    LH_RWLOCK_READER_SHIFT = 3,
};

static inline bool lh_rwlock_is_read(const pthread_rwlock_t *rwlock)
{
    return rwlock->__data.__readers >> LH_RWLOCK_READER_SHIFT > 0 &&
           !(rwlock->__data.__readers & LH_RWLOCK_WRITE_PHASE);
}

static inline bool lh_rwlock_is_written(const pthread_rwlock_t *rwlock)
{
    const unsigned both = LH_RWLOCK_WRITE_PHASE | LH_RWLOCK_WRITE_LOCKED;

    return (rwlock->__data.__readers & both) == both;
}

/* Nobody has it or is about to. */
static inline bool lh_rwlock_is_free(const pthread_rwlock_t *rwlock)
{
    return rwlock->__data.__readers >> LH_RWLOCK_READER_SHIFT == 0 &&
           !(rwlock->__data.__readers & LH_RWLOCK_WRITE_LOCKED);
}

#endif
