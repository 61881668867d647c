/* SPDX-License-Identifier: MIT
 *
 * fixed_transfer.c - broken_transfer.c, repaired three ways.
 *
 * By order: the account with the lower number is locked first, whichever way
 * the money goes. By giving up: both locks or none, within a time. By a single
 * owner: the transfers are sent to a bank, which is the only one to touch the
 * accounts.
 */
#include <inttypes.h>
#include <ord/account.h>
#include <ord/bank.h>
#include <stdio.h>

static struct ord_account savings = ORD_ACCOUNT_INIT(1, 300);
static struct ord_account checking = ORD_ACCOUNT_INIT(2, 300);
static struct ord_bank bank;

static int by_order(struct ord_account *from, struct ord_account *to)
{
    return ord_transfer(from, to, 1);
}

static int by_giving_up(struct ord_account *from, struct ord_account *to)
{
    return ord_try_transfer(from, to, 1, 10 * ORD_SECOND);
}

static int by_single_owner(struct ord_account *from, struct ord_account *to)
{
    return ord_bank_transfer(&bank, from, to, 1);
}

static int (*transfer)(struct ord_account *from, struct ord_account *to);
static int failed; /* atomic */

static void *clerk(void *is_evening)
{
    for (int i = 0; i < 100; i++)
        if (transfer(is_evening ? &checking : &savings,
                     is_evening ? &savings : &checking) != 0)
            __atomic_fetch_add(&failed, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void run(const char *name,
                int (*how)(struct ord_account *, struct ord_account *))
{
    pthread_t morning, evening;
    int64_t a = 0, b = 0;

    transfer = how;
    pthread_create(&morning, NULL, clerk, NULL);
    pthread_create(&evening, NULL, clerk, &transfer);
    pthread_join(morning, NULL);
    pthread_join(evening, NULL);
    ord_account_balance(&savings, &a);
    ord_account_balance(&checking, &b);
    printf("%s: savings %" PRId64 ", checking %" PRId64 ", failed %d\n", name,
           a, b, failed);
}

int main(void)
{
    run("by order", by_order);
    run("by giving up", by_giving_up);
    if (ord_bank_init(&bank, 8) != 0)
        return 1;
    run("by a single owner", by_single_owner);
    ord_bank_close(&bank);
    ord_bank_destroy(&bank);
    return 0;
}
