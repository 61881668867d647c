/* SPDX-License-Identifier: MIT
 *
 * mutexcheck.h - is a mutex used as it may be?
 *
 * Each is called where a hook is about to pass a call on, looks at the mutex's
 * own words, and reports what they show to be wrong (misuse.h). Nothing is
 * reported when they do not agree with what was seen: a lock may be taken in
 * code that is not watched. mtx_t is the same thing.
 *
 * Threads:  any, without the detector's lock.
 */
#ifndef LH_RUNTIME_MUTEXCHECK_H
#define LH_RUNTIME_MUTEXCHECK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/detector.h"
#include "runtime/mutexword.h"
#include "runtime/thread.h"

/* Is this a forked child? Set before it has a second thread. */
extern bool lh_mutexcheck_forked __attribute__((visibility("hidden")));

void lh_mutexcheck_hopeless(pthread_mutex_t *mutex, void *pc, uintptr_t cfa);

/* Before a request that would wait for ever: LH003 if the caller holds it,
 * LH020 if only the parent of this process has its holder. */
static inline void lh_mutexcheck_request(pthread_mutex_t *mutex, void *pc,
                                         uintptr_t cfa)
{
    int32_t holder = lh_mutex_holder(mutex);

    if (holder > 0 && lh_self &&
        __builtin_expect(holder == lh_self->tid || lh_mutexcheck_forked ||
                             lh_detector_is_unknown_process(),
                         0))
        lh_mutexcheck_hopeless(mutex, pc, cfa);
}

/* Before a release by a thread that is not known to hold it: LH010, LH011. */
void lh_mutexcheck_release(pthread_mutex_t *mutex, void *pc, uintptr_t cfa);

/* Before a condition wait: LH017 if it is not held, LH013. */
void lh_mutexcheck_wait(pthread_mutex_t *mutex, void *pc, uintptr_t cfa);

/* Before it is initialized: LH014 if it is held. */
void lh_mutexcheck_init(pthread_mutex_t *mutex, void *pc, uintptr_t cfa);

/* Before it is destroyed: LH012 if it is held. And after it was. */
void lh_mutexcheck_destroy(pthread_mutex_t *mutex, void *pc, uintptr_t cfa);
void lh_mutexcheck_destroyed(pthread_mutex_t *mutex, void *pc, uintptr_t cfa);

/* Around a call that a destroyed mutex refuses: LH013 if it was destroyed. */
void lh_mutexcheck_refused(pthread_mutex_t *mutex, void *pc, uintptr_t cfa);

#endif
