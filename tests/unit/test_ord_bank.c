/* SPDX-License-Identifier: MIT
 *
 * test_ord_bank.c - a single owner, its mailbox and its end.
 *
 * A test that needs a mailbox which does not empty stalls the owner: it waits
 * for its first letter, and a signal handler that spins is run on it.
 */
#include "ord_thread.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>

#include "ord/bank.h"

enum { CAPACITY = 2, THREADS = 4, N = 4, MONEY = 300 };

static struct ord_bank bank;
static struct ord_account accounts[N];
static struct ord_account *const a = &accounts[0], *const b = &accounts[1];
static atomic_int stalled;

static void spin_while_stalled(int signal_number)
{
    (void)signal_number;
    atomic_store(&stalled, 2);
    while (atomic_load(&stalled))
        sched_yield();
}

static int is_stalled(void *unused)
{
    (void)unused;
    return atomic_load(&stalled) == 2;
}

static void stall_the_owner(void)
{
    race_await_waiters(&bank.mutex, &bank.arrived, 1);
    atomic_store(&stalled, 1);
    assert_int_equal(pthread_kill(bank.owner, SIGUSR1), 0);
    eventually(is_stalled, NULL);
}

static void let_the_owner_go_on(void)
{
    atomic_store(&stalled, 0);
}

static int set_up(void **state)
{
    struct sigaction action = { .sa_handler = spin_while_stalled };

    (void)state;
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < N; i++)
        ord_account_init(&accounts[i], i, MONEY);
    return ord_bank_init(&bank, CAPACITY);
}

static int tear_down(void **state)
{
    (void)state;
    assert_int_equal(ord_bank_close(&bank), 0);
    assert_int_equal(ord_bank_destroy(&bank), 0);
    return 0;
}

static void assert_balances(int64_t of_a, int64_t of_b)
{
    int64_t balance = -1;

    assert_int_equal(ord_bank_balance(&bank, a, &balance), 0);
    assert_int_equal(balance, of_a);
    assert_int_equal(ord_bank_balance(&bank, b, &balance), 0);
    assert_int_equal(balance, of_b);
}

/* What a caller in another thread asks for, and what it gets. */
struct caller {
    pthread_t thread;
    int64_t amount;
    ord_ns deadline;
};

static void *transfer(void *arg)
{
    struct caller *caller = arg;

    return result(
        ord_bank_timed_transfer(&bank, a, b, caller->amount, caller->deadline));
}

static int mailbox_holds(void *count)
{
    size_t nqueued;

    ord_mutex_lock(&bank.mutex);
    nqueued = bank.nqueued;
    ord_mutex_unlock(&bank.mutex);
    return nqueued == *(size_t *)count;
}

/* Fills the mailbox of a stalled owner with 10 and 20, in that order. */
static void fill(struct caller callers[CAPACITY])
{
    for (size_t i = 1; i <= CAPACITY; i++) {
        struct caller *caller = &callers[i - 1];

        caller->amount = 10 * (int64_t)i;
        caller->deadline = ORD_NEVER;
        start(&caller->thread, transfer, caller);
        eventually(mailbox_holds, &i);
    }
}

static void a_transfer_is_applied_before_its_caller_goes_on(void **state)
{
    (void)state;
    assert_int_equal(ord_bank_transfer(&bank, a, b, 100), 0);
    assert_balances(200, 400);
    assert_int_equal(ord_bank_timed_transfer(&bank, b, a, 100, ORD_NEVER), 0);
    assert_balances(300, 300);
}

static void what_cannot_be_done_is_answered_and_changes_nothing(void **state)
{
    (void)state;
    assert_int_equal(ord_bank_transfer(&bank, a, b, 0), EINVAL);
    assert_int_equal(ord_bank_transfer(&bank, a, a, 1), EINVAL);
    assert_int_equal(ord_bank_transfer(&bank, a, b, MONEY + 1), ENOSPC);
    assert_balances(300, 300);
    accounts[2].balance = INT64_MAX;
    assert_int_equal(ord_bank_transfer(&bank, a, &accounts[2], 1), EOVERFLOW);
    assert_balances(300, 300);
}

static void a_mailbox_without_room_is_refused(void **state)
{
    struct ord_bank none;

    (void)state;
    assert_int_equal(ord_bank_init(&none, 0), EINVAL);
}

static void a_closed_bank_refuses_and_changes_nothing(void **state)
{
    int64_t balance = 77;

    (void)state;
    assert_int_equal(ord_bank_close(&bank), 0);
    assert_int_equal(ord_bank_transfer(&bank, a, b, 1), EPIPE);
    assert_int_equal(ord_bank_balance(&bank, a, &balance), EPIPE);
    assert_int_equal(balance, 77);
    assert_int_equal(a->balance, MONEY);
    assert_int_equal(ord_bank_close(&bank), 0);
}

static void an_open_bank_is_not_destroyed(void **state)
{
    (void)state;
    assert_int_equal(ord_bank_destroy(&bank), EBUSY);
    assert_int_equal(ord_bank_transfer(&bank, a, b, 1), 0);
}

static void a_deadline_in_the_mailbox_takes_the_request_back(void **state)
{
    (void)state;
    stall_the_owner();
    for (ord_ns timeout = -1; timeout <= ORD_MS; timeout += ORD_MS / 2) {
        ord_ns deadline = ord_deadline_after(timeout);

        assert_int_equal(ord_bank_timed_transfer(&bank, a, b, 1, deadline),
                         ETIMEDOUT);
        assert_true(ord_now() >= deadline);
    }
    let_the_owner_go_on();
    assert_balances(300, 300);
}

static void a_deadline_for_room_is_kept_and_the_others_are_applied(void **state)
{
    struct caller callers[CAPACITY];
    ord_ns deadline = ord_deadline_after(ORD_MS);

    (void)state;
    stall_the_owner();
    fill(callers);
    assert_int_equal(ord_bank_timed_transfer(&bank, a, b, 1, deadline),
                     ETIMEDOUT);
    let_the_owner_go_on();
    for (int i = 0; i < CAPACITY; i++)
        assert_int_equal(join(callers[i].thread), 0);
    assert_balances(270, 330);
}

static void a_request_taken_back_makes_room_for_another(void **state)
{
    struct caller first = { .amount = 1 }, second = { .amount = 2 },
                  third = { .amount = 4 };
    size_t one = 1, two = 2;

    (void)state;
    stall_the_owner();
    first.deadline = ORD_NEVER;
    start(&first.thread, transfer, &first);
    eventually(mailbox_holds, &one);
    second.deadline = ord_deadline_after(20 * ORD_MS);
    start(&second.thread, transfer, &second);
    third.deadline = ORD_NEVER;
    assert_int_equal(join(second.thread), ETIMEDOUT); /* it was the last */
    start(&third.thread, transfer, &third);
    eventually(mailbox_holds, &two);
    let_the_owner_go_on();
    assert_int_equal(join(first.thread), 0);
    assert_int_equal(join(third.thread), 0);
    assert_balances(295, 305);
}

static void *close_it(void *unused)
{
    (void)unused;
    return result(ord_bank_close(&bank));
}

static void
closing_drains_the_mailbox_and_refuses_who_waits_for_room(void **state)
{
    struct caller callers[CAPACITY],
        late = { .amount = 100, .deadline = ORD_NEVER };
    pthread_t closers[2];

    (void)state;
    stall_the_owner();
    fill(callers);
    start(&late.thread, transfer, &late);
    race_await_waiters(&bank.mutex, &bank.has_room, 1);
    for (int i = 0; i < 2; i++)
        start(&closers[i], close_it, NULL);
    assert_int_equal(join(late.thread), EPIPE);
    assert_int_equal(ord_bank_destroy(&bank), EBUSY);
    let_the_owner_go_on();
    for (int i = 0; i < CAPACITY; i++)
        assert_int_equal(join(callers[i].thread), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(join(closers[i]), 0);
    assert_int_equal(a->balance, 270);
    assert_int_equal(b->balance, 330);
}

static struct {
    ord_ns end;
    atomic_int nstarted;
} stress;

static void *send_around(void *unused)
{
    int me = atomic_fetch_add(&stress.nstarted, 1);

    for (unsigned i = 0;; i++) {
        struct ord_account *src = &accounts[(i * 3 + (unsigned)me) % N];
        struct ord_account *dst = &accounts[(i * 5 / 2 + 1) % N];
        ord_ns deadline = me % 2 ? ORD_NEVER : ord_deadline_after(20 * ORD_US);
        int rc = ord_bank_timed_transfer(&bank, src, dst, i % 97, deadline);

        if (rc == EPIPE)
            return unused;
        assert_true(rc == 0 || rc == EINVAL || rc == ENOSPC || rc == ETIMEDOUT);
        if (me == 0 && ord_now() >= stress.end)
            ord_bank_close(&bank);
    }
}

static void money_is_neither_made_nor_lost_until_the_bank_closes(void **state)
{
    int64_t sum = 0;

    (void)state;
    stress.end = race_end();
    atomic_store(&stress.nstarted, 0);
    race_run(THREADS, send_around, NULL);
    for (int i = 0; i < N; i++)
        sum += accounts[i].balance;
    assert_int_equal(sum, N * MONEY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_transfer_is_applied_before_its_caller_goes_on),
        TEST(what_cannot_be_done_is_answered_and_changes_nothing),
        TEST(a_mailbox_without_room_is_refused),
        TEST(a_closed_bank_refuses_and_changes_nothing),
        TEST(an_open_bank_is_not_destroyed),
        TEST(a_deadline_in_the_mailbox_takes_the_request_back),
        TEST(a_deadline_for_room_is_kept_and_the_others_are_applied),
        TEST(a_request_taken_back_makes_room_for_another),
        TEST(closing_drains_the_mailbox_and_refuses_who_waits_for_room),
        TEST(money_is_neither_made_nor_lost_until_the_bank_closes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
