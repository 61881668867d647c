/* SPDX-License-Identifier: MIT
 * thread.h - what pthread_join and thrd_join share. */
#ifndef LH_HOOKS_THREAD_H
#define LH_HOOKS_THREAD_H

#include <pthread.h>
#include <stdint.h>

/* Joins, and tells the detector. Returns what pthread_join returns. */
int lh_join(pthread_t handle, void **result, void *pc, uintptr_t cfa);

#endif
