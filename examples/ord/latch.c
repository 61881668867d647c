/* SPDX-License-Identifier: MIT
 * latch.c - opens once, when it has been counted down to 0. */
#include "ord/latch.h"

#include <errno.h>

#include "retire.h"

void ord_latch_init(struct ord_latch *latch, unsigned count)
{
    ord_mutex_init(&latch->mutex);
    ord_cond_init(&latch->opened);
    latch->count = count;
}

int ord_latch_destroy(struct ord_latch *latch)
{
    return retire(&latch->mutex, &latch->opened);
}

int ord_latch_count_down(struct ord_latch *latch, unsigned n)
{
    int rc = EINVAL;

    ord_mutex_lock(&latch->mutex);
    if (n <= latch->count) {
        latch->count -= n;
        rc = 0;
        if (latch->count == 0)
            ord_cond_broadcast(&latch->opened);
    }
    ord_mutex_unlock(&latch->mutex);
    return rc;
}

static int is_open(void *arg)
{
    return ((const struct ord_latch *)arg)->count == 0;
}

int ord_latch_timedwait(struct ord_latch *latch, ord_ns deadline)
{
    int rc;

    ord_mutex_lock(&latch->mutex);
    rc = ord_cond_timedwait(&latch->opened, &latch->mutex, is_open, latch,
                            deadline);
    ord_mutex_unlock(&latch->mutex);
    return rc;
}

void ord_latch_wait(struct ord_latch *latch)
{
    ord_latch_timedwait(latch, ORD_NEVER);
}

int ord_latch_trywait(struct ord_latch *latch)
{
    return ord_latch_count(latch) == 0 ? 0 : EAGAIN;
}

unsigned ord_latch_count(struct ord_latch *latch)
{
    unsigned count;

    ord_mutex_lock(&latch->mutex);
    count = latch->count;
    ord_mutex_unlock(&latch->mutex);
    return count;
}
