/* SPDX-License-Identifier: MIT
 *
 * cond.h - a wait for a condition, by pthread_cond_t or by cnd_t of C11.
 *
 * glibc releases the mutex and asks for it again inside, without a call that
 * can be seen.
 */
#ifndef LH_HOOKS_COND_H
#define LH_HOOKS_COND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct lh_slot;

struct lh_cond_wait {
    pthread_mutex_t *mutex;
    struct lh_slot *slot;
    bool was_held;
};

/* Before the real call. cond: a pthread_cond_t or a cnd_t. */
struct lh_cond_wait lh_cond_begin(void *cond, pthread_mutex_t *mutex, void *pc,
                                  uintptr_t cfa);

/* After it; rc is an errno number. */
void lh_cond_end(struct lh_cond_wait *wait, int rc);

/* For pthread_cleanup_push around it: cancelled, or ended by pthread_exit. */
void lh_cond_cancelled(void *wait);

#endif
