/* SPDX-License-Identifier: MIT
 *
 * condcheck.h - is a condition waited on with one mutex at a time?
 *
 * While a thread is blocked on a condition, others may wait on it with the
 * same mutex only. A thread that was woken is not blocked on it any more, even
 * if it has not got its mutex yet: what it sleeps on, the kernel tells.
 *
 * Threads:  any, without the detector's lock.
 */
#ifndef LH_RUNTIME_CONDCHECK_H
#define LH_RUNTIME_CONDCHECK_H

#include <pthread.h>
#include <stdint.h>

/* Before a wait: LH017 if another mutex is waited with right now. */
void lh_condcheck_begin(pthread_cond_t *condition, pthread_mutex_t *mutex,
                        void *pc, uintptr_t cfa);

/* After it. */
void lh_condcheck_end(void);

#endif
