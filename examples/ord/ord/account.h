/* SPDX-License-Identifier: MIT
 *
 * ord/account.h - money moved between accounts, each under a lock of its own.
 *
 * A transfer needs two locks, and so does one the other way at the same time.
 * Here are two cures, and the disease; the third cure is ord/bank.h:
 *
 *     ord_transfer()         one order for all: by id
 *     ord_try_transfer()     never waits with a lock in hand
 *     ord_broken_transfer()  in the order of its arguments: can deadlock
 *
 * Ids are distinct: two accounts with one id are taken for the same account.
 * Amounts are whole units of whatever the caller counts. A transfer either
 * happens or changes nothing. Nothing here allocates.
 *
 * Threads: any thread may call anything at any time; balance is read and
 *          written with the mutex held, id is never written.
 *
 * Functions return 0 or an errno number:
 *
 *     EINVAL     an amount of 0 or less, or source and destination are one
 *     ENOSPC     too little money in the source
 *     EOVERFLOW  too much money for the destination
 *     ETIMEDOUT  the locks were not to be had in time
 *     EDEADLK    the caller holds one of the mutexes
 *     EBUSY      the account's mutex is held (destroy)
 */
#ifndef ORD_ACCOUNT_H
#define ORD_ACCOUNT_H

#include "ord/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ord_account {
    int64_t id;
    int64_t balance;
    struct ord_mutex mutex;
};

#define ORD_ACCOUNT_INIT(id, balance)                                          \
    {                                                                          \
        (id), (balance), ORD_MUTEX_INIT                                        \
    }

void ord_account_init(struct ord_account *account, int64_t id, int64_t balance);
int ord_account_destroy(struct ord_account *account); /* EBUSY */

/* The balance now. EDEADLK. */
int ord_account_balance(struct ord_account *account, int64_t *balance);

/* Locks by id, waits as long as it takes. EINVAL, ENOSPC, EOVERFLOW, EDEADLK.
 */
int ord_transfer(struct ord_account *src, struct ord_account *dst,
                 int64_t amount);

/* Takes both locks or none within timeout, which is tried once if 0 or less.
 * EINVAL, ENOSPC, EOVERFLOW, EDEADLK, ETIMEDOUT. */
int ord_try_transfer(struct ord_account *src, struct ord_account *dst,
                     int64_t amount, ord_ns timeout);

/* Locks src, then dst: deadlocks with its opposite. For tests of detectors.
 * EINVAL, ENOSPC, EOVERFLOW, EDEADLK. */
int ord_broken_transfer(struct ord_account *src, struct ord_account *dst,
                        int64_t amount);

/*
 * The transfer itself, with no lock taken, for who owns both accounts in some
 * other way. EINVAL, ENOSPC, EOVERFLOW.
 */
int ord_account_move(struct ord_account *src, struct ord_account *dst,
                     int64_t amount);

#ifdef __cplusplus
}
#endif

#endif
