/* SPDX-License-Identifier: MIT
 * bank.c - one thread owns the accounts and applies transfers sent to it. */
#include "ord/bank.h"

#include <errno.h>
#include <stdbool.h>

/* A bank goes through these in order. */
enum { OPEN, CLOSING, CLOSED };

/* On the stack of its caller, who waits in submit() until it is answered or has
 * been taken back. Everything but what is asked is under the bank's mutex. */
struct ord_bank_request {
    struct ord_bank_request *next;
    enum { QUEUED, BEGUN, ANSWERED } state;
    int result;
    struct ord_cond answered;

    struct ord_account *src, *dst;
    int64_t amount;
    int64_t *balance; /* unless NULL, that of src is asked, and no transfer */
};

static void enqueue(struct ord_bank *bank, struct ord_bank_request *request)
{
    *bank->last = request;
    bank->last = &request->next;
    bank->nqueued++;
    ord_cond_signal(&bank->arrived);
}

static void unlink_request(struct ord_bank *bank, struct ord_bank_request **at)
{
    if (!(*at)->next)
        bank->last = at;
    *at = (*at)->next;
    bank->nqueued--;
    ord_cond_signal(&bank->has_room);
}

static int apply(struct ord_bank_request *request)
{
    if (!request->balance)
        return ord_account_move(request->src, request->dst, request->amount);
    *request->balance = request->src->balance;
    return 0;
}

static int has_work(void *arg)
{
    const struct ord_bank *bank = arg;

    return bank->first || bank->state != OPEN;
}

/* The owner. The balances are its own, so it applies without the mutex. */
static void *own(void *arg)
{
    struct ord_bank *bank = arg;

    ord_mutex_lock(&bank->mutex);
    while (ord_cond_wait(&bank->arrived, &bank->mutex, has_work, bank) == 0 &&
           bank->first) {
        struct ord_bank_request *request = bank->first;

        unlink_request(bank, &bank->first);
        request->state = BEGUN;
        ord_mutex_unlock(&bank->mutex);
        request->result = apply(request);
        ord_mutex_lock(&bank->mutex);
        request->state = ANSWERED;
        ord_cond_signal(&request->answered);
    }
    ord_mutex_unlock(&bank->mutex);
    return NULL;
}

int ord_bank_init(struct ord_bank *bank, size_t capacity)
{
    int rc;

    if (capacity == 0)
        return EINVAL;
    *bank = (struct ord_bank){ .capacity = capacity, .state = OPEN };
    bank->last = &bank->first;
    ord_mutex_init(&bank->mutex);
    ord_cond_init(&bank->arrived);
    ord_cond_init(&bank->has_room);
    ord_cond_init(&bank->left);
    rc = pthread_create(&bank->owner, NULL, own, bank);
    if (rc != 0) {
        bank->state = CLOSED;
        ord_bank_destroy(bank);
    }
    return rc;
}

static int has_room_or_closes(void *arg)
{
    const struct ord_bank *bank = arg;

    return bank->nqueued < bank->capacity || bank->state != OPEN;
}

static int is_answered(void *arg)
{
    const struct ord_bank_request *request = arg;

    return request->state == ANSWERED;
}

/* Its caller gives up: it leaves the mailbox unless the owner has it already,
 * who will then answer soon. */
static bool take_back(struct ord_bank *bank, struct ord_bank_request *request)
{
    struct ord_bank_request **at = &bank->first;

    if (request->state != QUEUED)
        return false;
    while (*at != request)
        at = &(*at)->next;
    unlink_request(bank, at);
    return true;
}

static int await_answer(struct ord_bank *bank, struct ord_bank_request *request,
                        ord_ns deadline)
{
    int rc = ord_cond_timedwait(&request->answered, &bank->mutex, is_answered,
                                request, deadline);

    if (rc == ETIMEDOUT && take_back(bank, request))
        return ETIMEDOUT;
    ord_cond_wait(&request->answered, &bank->mutex, is_answered, request);
    return request->result;
}

static int submit_locked(struct ord_bank *bank,
                         struct ord_bank_request *request, ord_ns deadline)
{
    int rc = ord_cond_timedwait(&bank->has_room, &bank->mutex,
                                has_room_or_closes, bank, deadline);

    if (rc != 0)
        return rc;
    if (bank->state != OPEN)
        return EPIPE;
    enqueue(bank, request);
    return await_answer(bank, request, deadline);
}

static int submit(struct ord_bank *bank, struct ord_bank_request *request,
                  ord_ns deadline)
{
    int rc;

    ord_cond_init(&request->answered);
    ord_mutex_lock(&bank->mutex);
    bank->ncallers++;
    rc = submit_locked(bank, request, deadline);
    if (--bank->ncallers == 0)
        ord_cond_broadcast(&bank->left);
    ord_mutex_unlock(&bank->mutex);
    ord_cond_destroy(&request->answered);
    return rc;
}

int ord_bank_timed_transfer(struct ord_bank *bank, struct ord_account *src,
                            struct ord_account *dst, int64_t amount,
                            ord_ns deadline)
{
    struct ord_bank_request request = { .src = src,
                                        .dst = dst,
                                        .amount = amount };

    return submit(bank, &request, deadline);
}

int ord_bank_transfer(struct ord_bank *bank, struct ord_account *src,
                      struct ord_account *dst, int64_t amount)
{
    return ord_bank_timed_transfer(bank, src, dst, amount, ORD_NEVER);
}

int ord_bank_balance(struct ord_bank *bank, struct ord_account *account,
                     int64_t *balance)
{
    struct ord_bank_request request = { .src = account, .balance = balance };

    return submit(bank, &request, ORD_NEVER);
}

static int nobody_is_inside(void *arg)
{
    return ((const struct ord_bank *)arg)->ncallers == 0;
}

static int is_closed(void *arg)
{
    return ((const struct ord_bank *)arg)->state == CLOSED;
}

/* Ends the owner. Called and left with the mutex held. */
static void shut(struct ord_bank *bank)
{
    bank->state = CLOSING;
    ord_cond_broadcast(&bank->arrived);
    ord_cond_broadcast(&bank->has_room);
    ord_cond_wait(&bank->left, &bank->mutex, nobody_is_inside, bank);
    ord_mutex_unlock(&bank->mutex);
    pthread_join(bank->owner, NULL);
    ord_mutex_lock(&bank->mutex);
    bank->state = CLOSED;
    ord_cond_broadcast(&bank->left);
}

int ord_bank_close(struct ord_bank *bank)
{
    ord_mutex_lock(&bank->mutex);
    if (bank->state == OPEN)
        shut(bank);
    ord_cond_wait(&bank->left, &bank->mutex, is_closed, bank);
    ord_mutex_unlock(&bank->mutex);
    return 0;
}

int ord_bank_destroy(struct ord_bank *bank)
{
    bool idle;

    ord_mutex_lock(&bank->mutex);
    idle = bank->state == CLOSED && bank->left.nwaiting == 0;
    ord_mutex_unlock(&bank->mutex);
    if (!idle)
        return EBUSY;
    ord_cond_destroy(&bank->left);
    ord_cond_destroy(&bank->has_room);
    ord_cond_destroy(&bank->arrived);
    return ord_mutex_destroy(&bank->mutex);
}
