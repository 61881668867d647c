/* SPDX-License-Identifier: MIT
 *
 * test_ord_account.c - transfers that happen or change nothing.
 */
#include "ord_thread.h"

#include <errno.h>
#include <stdatomic.h>

#include "ord/account.h"

enum { N = 4, THREADS = 4, MONEY = 300 };

static struct ord_account accounts[N];
static struct ord_account *const a = &accounts[0], *const b = &accounts[1];

typedef int (*transfer)(struct ord_account *, struct ord_account *, int64_t);

static int try_within_a_moment(struct ord_account *src, struct ord_account *dst,
                               int64_t amount)
{
    return ord_try_transfer(src, dst, amount, ORD_MS);
}

/* ThreadSanitizer would report what is wrong with the broken one. */
static const transfer every[] = {
    ord_account_move,
    ord_transfer,
    try_within_a_moment,
#ifndef __SANITIZE_THREAD__
    ord_broken_transfer,
#endif
};
enum { LOCKING = 1 }; /* the first that locks */
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static int set_up(void **state)
{
    (void)state;
    for (int i = 0; i < N; i++) /* ids against addresses */
        ord_account_init(&accounts[i], 10 - i, MONEY);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < N; i++)
        assert_int_equal(ord_account_destroy(&accounts[i]), 0);
    return 0;
}

static int64_t balance_of(struct ord_account *account)
{
    int64_t balance = -1;

    assert_int_equal(ord_account_balance(account, &balance), 0);
    return balance;
}

static void assert_balances(int64_t of_a, int64_t of_b)
{
    assert_int_equal(balance_of(a), of_a);
    assert_int_equal(balance_of(b), of_b);
}

static void money_moves_both_ways(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(every); i++) {
        assert_int_equal(every[i](a, b, 100), 0);
        assert_balances(200, 400);
        assert_int_equal(every[i](b, a, 100), 0);
        assert_balances(300, 300);
    }
}

static void the_whole_balance_may_go_and_no_more(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(every); i++) {
        assert_int_equal(every[i](a, b, MONEY + 1), ENOSPC);
        assert_balances(300, 300);
        assert_int_equal(every[i](a, b, MONEY), 0);
        assert_balances(0, 600);
        assert_int_equal(every[i](a, b, 1), ENOSPC);
        assert_int_equal(every[i](b, a, MONEY), 0);
    }
}

static void no_money_or_less_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(every); i++) {
        assert_int_equal(every[i](a, b, 0), EINVAL);
        assert_int_equal(every[i](a, b, INT64_MIN), EINVAL);
    }
    assert_balances(300, 300);
}

static void an_account_does_not_pay_itself(void **state)
{
    struct ord_account same = ORD_ACCOUNT_INIT(a->id, MONEY);

    (void)state;
    for (size_t i = 0; i < COUNT(every); i++) {
        assert_int_equal(every[i](a, a, 1), EINVAL);
        assert_int_equal(every[i](a, &same, 1), EINVAL);
    }
    assert_balances(300, 300);
}

static void too_much_for_the_destination_is_refused(void **state)
{
    (void)state;
    b->balance = INT64_MAX - 1;
    for (size_t i = 0; i < COUNT(every); i++) {
        assert_int_equal(every[i](a, b, 2), EOVERFLOW);
        assert_balances(300, INT64_MAX - 1);
    }
    assert_int_equal(ord_transfer(a, b, 1), 0);
    assert_balances(299, INT64_MAX);
}

static void debts_are_not_lent_from(void **state)
{
    (void)state;
    a->balance = INT64_MIN;
    for (size_t i = 0; i < COUNT(every); i++)
        assert_int_equal(every[i](a, b, INT64_MAX), ENOSPC);
    assert_balances(INT64_MIN, 300);
}

static void a_lock_in_the_callers_hand_is_edeadlk(void **state)
{
    int64_t balance = 77;

    (void)state;
    ord_mutex_lock(&b->mutex);
    for (size_t i = LOCKING; i < COUNT(every); i++) {
        assert_int_equal(every[i](a, b, 1), EDEADLK);
        assert_int_equal(every[i](b, a, 1), EDEADLK);
    }
    assert_int_equal(ord_account_balance(b, &balance), EDEADLK);
    assert_int_equal(balance, 77);
    ord_mutex_unlock(&b->mutex);
    assert_balances(300, 300);
}

static void an_account_in_use_is_not_destroyed(void **state)
{
    (void)state;
    skip_if_tsan_would_report();
    ord_mutex_lock(&b->mutex);
    assert_int_equal(ord_account_destroy(b), EBUSY);
    ord_mutex_unlock(&b->mutex);
    assert_balances(300, 300);
}

static void *try_until(void *timeout)
{
    return result(ord_try_transfer(a, b, 1, *(ord_ns *)timeout));
}

static void a_try_times_out_and_nothing_has_changed(void **state)
{
    struct ord_account *held[] = { a, b };

    (void)state;
    for (int i = 0; i < 2; i++) {
        ord_mutex_lock(&held[i]->mutex);
        for (ord_ns timeout = -1; timeout <= ORD_MS; timeout += ORD_MS / 2) {
            ord_ns deadline = ord_deadline_after(timeout);

            assert_int_equal(in_a_thread(try_until, &timeout), ETIMEDOUT);
            assert_true(ord_now() >= deadline);
        }
        ord_mutex_unlock(&held[i]->mutex);
        assert_balances(300, 300);
    }
}

static void a_try_without_time_takes_what_is_free(void **state)
{
    ord_ns none = 0;

    (void)state;
    assert_int_equal(in_a_thread(try_until, &none), 0);
    assert_balances(299, 301);
}

static void *send_and_return(void *number)
{
    int way = atomic_fetch_add((atomic_int *)number, 1) % 2;
    struct ord_account *src = way ? a : b, *dst = way ? b : a;

    for (int i = 0; i < 50; i++)
        assert_int_equal(ord_transfer(src, dst, 1), 0);
    return NULL;
}

static void eight_workers_both_ways_leave_300_and_300(void **state)
{
    atomic_int number = 0;

    (void)state;
    race_run(8, send_and_return, &number);
    assert_balances(300, 300);
}

static struct {
    ord_ns end;
    atomic_int nstarted;
} stress;

static void *send_around(void *unused)
{
    int me = atomic_fetch_add(&stress.nstarted, 1);

    for (unsigned i = 0; ord_now() < stress.end; i++) {
        struct ord_account *src = &accounts[(i * 3 + (unsigned)me) % N];
        struct ord_account *dst = &accounts[(i * 5 / 2 + 1) % N];
        int rc = me % 2 ? ord_transfer(src, dst, i % 97)
                        : ord_try_transfer(src, dst, i % 97, ORD_MS);

        assert_true(rc == 0 || rc == EINVAL || rc == ENOSPC || rc == ETIMEDOUT);
    }
    return unused;
}

static void money_is_neither_made_nor_lost(void **state)
{
    int64_t sum = 0;

    (void)state;
    stress.end = race_end();
    atomic_store(&stress.nstarted, 0);
    race_run(THREADS, send_around, NULL);
    for (int i = 0; i < N; i++) {
        assert_true(balance_of(&accounts[i]) >= 0);
        sum += balance_of(&accounts[i]);
    }
    assert_int_equal(sum, N * MONEY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(money_moves_both_ways),
        TEST(the_whole_balance_may_go_and_no_more),
        TEST(no_money_or_less_is_refused),
        TEST(an_account_does_not_pay_itself),
        TEST(too_much_for_the_destination_is_refused),
        TEST(debts_are_not_lent_from),
        TEST(a_lock_in_the_callers_hand_is_edeadlk),
        TEST(an_account_in_use_is_not_destroyed),
        TEST(a_try_times_out_and_nothing_has_changed),
        TEST(a_try_without_time_takes_what_is_free),
        TEST(eight_workers_both_ways_leave_300_and_300),
        TEST(money_is_neither_made_nor_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
