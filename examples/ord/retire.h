/* SPDX-License-Identifier: MIT
 * retire.h - destroys a mutex and its condition, unless somebody waits. */
#ifndef ORD_RETIRE_H
#define ORD_RETIRE_H

#include "ord/base.h"

/* EBUSY if a thread waits, or has been woken and not left yet. */
static inline int retire(struct ord_mutex *mutex, struct ord_cond *cond)
{
    int rc = ord_mutex_lock(mutex);

    if (rc != 0)
        return rc;
    rc = ord_cond_destroy(cond);
    ord_mutex_unlock(mutex);
    return rc ? rc : ord_mutex_destroy(mutex);
}

#endif
