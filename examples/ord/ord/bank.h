/* SPDX-License-Identifier: MIT
 *
 * ord/bank.h - one thread owns the accounts and applies transfers sent to it.
 *
 * The third cure for a transfer that needs two locks: no lock at all. Callers
 * put requests into a mailbox and wait for the answers; the owner takes them
 * out, first come first served, and nobody else touches a balance.
 *
 *     ord_bank_init(&bank, 64);
 *     rc = ord_bank_transfer(&bank, &savings, &checking, 100);
 *     ...
 *     ord_bank_close(&bank);
 *     ord_bank_destroy(&bank);
 *
 * Ownership: an account belongs to the bank from the first request that names
 *            it until the bank is closed; its mutex is not used. The mailbox is
 *            a list of requests on the stacks of waiting callers, so that the
 *            bank allocates nothing but the stack of its thread.
 * Threads:   any thread may transfer, ask and close at any time. Destroy comes
 *            last and alone. Closing wakes who waits for room in the mailbox.
 *
 * Functions return 0 or an errno number:
 *
 *     EINVAL     a capacity of 0; an amount of 0 or less; source is destination
 *     ENOSPC     too little money in the source
 *     EOVERFLOW  too much money for the destination
 *     ETIMEDOUT  not begun by the deadline: nothing has changed
 *     EPIPE      the bank is closed: nothing has changed
 *     EAGAIN     the thread could not be created (init)
 *     EBUSY      the bank has not been closed (destroy)
 */
#ifndef ORD_BANK_H
#define ORD_BANK_H

#include <stddef.h>

#include "ord/account.h"
#include "ord/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ord_bank_request;

/* All of it private. */
struct ord_bank {
    struct ord_mutex mutex; /* over the rest, but not over the accounts */
    struct ord_cond arrived, has_room, left;
    struct ord_bank_request *first, **last; /* the mailbox */
    size_t nqueued, capacity, ncallers;
    int state;
    pthread_t owner;
};

/* Opens a bank whose mailbox holds `capacity` requests. EINVAL, EAGAIN. */
int ord_bank_init(struct ord_bank *bank, size_t capacity);

/* Waits for room, then for the result. EINVAL, ENOSPC, EOVERFLOW, EPIPE. */
int ord_bank_transfer(struct ord_bank *bank, struct ord_account *src,
                      struct ord_account *dst, int64_t amount);

/*
 * The same, but gives up at the deadline, whether the request waits for room or
 * for its turn; one that the owner has begun is always awaited. EINVAL, ENOSPC,
 * EOVERFLOW, EPIPE, ETIMEDOUT.
 */
int ord_bank_timed_transfer(struct ord_bank *bank, struct ord_account *src,
                            struct ord_account *dst, int64_t amount,
                            ord_ns deadline);

/* The balance after all transfers that were queued before. EPIPE. */
int ord_bank_balance(struct ord_bank *bank, struct ord_account *account,
                     int64_t *balance);

/* Refuses what is new, lets the owner finish what is in the mailbox, and waits
 * until every caller has left. Returns 0, to those who close it again too. */
int ord_bank_close(struct ord_bank *bank);

int ord_bank_destroy(struct ord_bank *bank); /* EBUSY */

#ifdef __cplusplus
}
#endif

#endif
