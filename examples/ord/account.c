/* SPDX-License-Identifier: MIT
 * account.c - money moved between accounts, each under a lock of its own. */
#include "ord/account.h"

#include <errno.h>

#include "ord/order.h"

void ord_account_init(struct ord_account *account, int64_t id, int64_t balance)
{
    account->id = id;
    account->balance = balance;
    ord_mutex_init(&account->mutex);
}

int ord_account_destroy(struct ord_account *account)
{
    return ord_mutex_destroy(&account->mutex);
}

int ord_account_balance(struct ord_account *account, int64_t *balance)
{
    int rc = ord_mutex_lock(&account->mutex);

    if (rc != 0)
        return rc;
    *balance = account->balance;
    return ord_mutex_unlock(&account->mutex);
}

/* What can be refused before any lock is taken. */
static int check(const struct ord_account *src, const struct ord_account *dst,
                 int64_t amount)
{
    return amount <= 0 || src == dst || src->id == dst->id ? EINVAL : 0;
}

int ord_account_move(struct ord_account *src, struct ord_account *dst,
                     int64_t amount)
{
    int64_t sum;

    if (check(src, dst, amount) != 0)
        return EINVAL;
    if (src->balance < amount)
        return ENOSPC;
    if (__builtin_add_overflow(dst->balance, amount, &sum))
        return EOVERFLOW;
    src->balance -= amount;
    dst->balance = sum;
    return 0;
}

static int move_and_unlock(struct ord_account *src, struct ord_account *dst,
                           int64_t amount)
{
    int rc = ord_account_move(src, dst, amount);

    ord_unlock_pair(&src->mutex, &dst->mutex);
    return rc;
}

int ord_transfer(struct ord_account *src, struct ord_account *dst,
                 int64_t amount)
{
    struct ord_mutex *both[] = { &src->mutex, &dst->mutex };
    int64_t ids[] = { src->id, dst->id };
    int rc = check(src, dst, amount);

    if (rc == 0)
        rc = ord_lock_all(both, ids, 2);
    return rc ? rc : move_and_unlock(src, dst, amount);
}

int ord_try_transfer(struct ord_account *src, struct ord_account *dst,
                     int64_t amount, ord_ns timeout)
{
    ord_ns deadline = ord_deadline_after(timeout);
    struct ord_mutex *both[] = { &src->mutex, &dst->mutex };
    int rc = check(src, dst, amount);

    if (rc == 0)
        rc = ord_timedlock_all(both, 2, deadline);
    return rc ? rc : move_and_unlock(src, dst, amount);
}

int ord_broken_transfer(struct ord_account *src, struct ord_account *dst,
                        int64_t amount)
{
    int rc = check(src, dst, amount);

    if (rc == 0)
        rc = ord_mutex_lock(&src->mutex);
    if (rc != 0)
        return rc;
    rc = ord_mutex_lock(&dst->mutex); /* the bug: holds one, waits for one */
    if (rc == 0) {
        rc = ord_account_move(src, dst, amount);
        ord_mutex_unlock(&dst->mutex);
    }
    ord_mutex_unlock(&src->mutex);
    return rc;
}
