/* SPDX-License-Identifier: MIT
 *
 * test_ord_order.c - several mutexes: sorted, all or none, hand over hand.
 */
#include "ord_thread.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "ord/order.h"

enum { N = 5, THREADS = 4, MANY = 60 };

static struct ord_mutex m[N];
static struct ord_mutex *all[N];

static int set_up(void **state)
{
    (void)state;
    for (int i = 0; i < N; i++) {
        ord_mutex_init(&m[i]);
        all[N - 1 - i] = &m[i];
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < N; i++)
        assert_int_equal(ord_mutex_destroy(&m[i]), 0);
    return 0;
}

static void *try_one(void *mutex)
{
    int rc = ord_mutex_trylock(mutex);

    if (rc == 0)
        ord_mutex_unlock(mutex);
    return result(rc);
}

static int is_taken(struct ord_mutex *mutex)
{
    return in_a_thread(try_one, mutex) == EBUSY;
}

static void assert_all_are(int taken)
{
    for (int i = 0; i < N; i++)
        assert_int_equal(is_taken(&m[i]), taken);
}

static void a_pair_is_taken_whichever_way_it_is_named(void **state)
{
    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(ord_lock_pair(&m[turn], &m[!turn]), 0);
        assert_true(is_taken(&m[0]) && is_taken(&m[1]));
        assert_int_equal(ord_unlock_pair(&m[0], &m[1]), 0);
        assert_all_are(0);
    }
}

static void a_pair_of_one_mutex_is_refused(void **state)
{
    (void)state;
    assert_int_equal(ord_lock_pair(&m[0], &m[0]), EINVAL);
    assert_int_equal(ord_lock_pair(&m[0], NULL), EINVAL);
    assert_all_are(0);
}

static void all_are_taken_in_the_order_of_addresses(void **state)
{
    (void)state;
    assert_int_equal(ord_lock_all(all, NULL, N), 0);
    for (int i = 0; i < N; i++)
        assert_ptr_equal(all[i], &m[i]);
    assert_all_are(1);
    assert_int_equal(ord_unlock_all(all, N), 0);
    assert_all_are(0);
}

static void ranks_order_and_addresses_break_ties(void **state)
{
    struct ord_mutex *set[N] = { &m[0], &m[4], &m[1], &m[3], &m[2] };
    int64_t ranks[N] = { 9, INT64_MIN, 7, 7, INT64_MAX };
    struct ord_mutex *sorted[N] = { &m[4], &m[1], &m[3], &m[0], &m[2] };
    int64_t sorted_ranks[N] = { INT64_MIN, 7, 7, 9, INT64_MAX };

    (void)state;
    assert_int_equal(ord_lock_all(set, ranks, N), 0);
    assert_memory_equal(set, sorted, sizeof set);
    assert_memory_equal(ranks, sorted_ranks, sizeof ranks);
    assert_int_equal(ord_unlock_all(set, N), 0);
}

static void many_are_sorted_and_none_is_lost(void **state)
{
    static struct ord_mutex many[MANY];
    static struct ord_mutex *set[MANY];

    (void)state;
    for (size_t n = 0; n <= MANY; n++) {
        for (size_t i = 0; i < n; i++) {
            ord_mutex_init(&many[i]);
            set[i * 61 % n] = &many[i]; /* a prime above MANY: a shuffle */
        }
        assert_int_equal(ord_lock_all(set, NULL, n), 0);
        for (size_t i = 0; i < n; i++)
            assert_ptr_equal(set[i], &many[i]);
        assert_int_equal(ord_unlock_all(set, n), 0);
    }
}

static void twins_are_refused_whatever_their_ranks(void **state)
{
    struct ord_mutex *set[] = { &m[2], &m[0], &m[1], &m[2] };
    int64_t ranks[] = { 1, 2, 3, 4 };

    (void)state;
    assert_int_equal(ord_lock_all(set, ranks, 4), EINVAL);
    assert_int_equal(ord_lock_all(set, NULL, 4), EINVAL);
    assert_int_equal(ord_trylock_all(set, 4, NULL), EINVAL);
    assert_int_equal(ord_timedlock_all(set, 4, ORD_NEVER), EINVAL);
    set[3] = NULL;
    assert_int_equal(ord_lock_all(set, NULL, 4), EINVAL);
    assert_all_are(0);
}

static void none_of_nothing_is_no_error(void **state)
{
    (void)state;
    assert_int_equal(ord_lock_all(all, NULL, 0), 0);
    assert_int_equal(ord_trylock_all(all, 0, NULL), 0);
    assert_int_equal(ord_timedlock_all(all, 0, 0), 0);
    assert_int_equal(ord_unlock_all(all, 0), 0);
}

static void one_held_already_is_edeadlk_and_the_rest_is_released(void **state)
{
    (void)state;
    ord_mutex_lock(&m[3]);
    assert_int_equal(ord_lock_all(all, NULL, N), EDEADLK);
    assert_int_equal(ord_timedlock_all(all, N, ORD_NEVER), EDEADLK);
    assert_false(is_taken(&m[0]));
    assert_true(is_taken(&m[3]));
    ord_mutex_unlock(&m[3]);
}

static void unlocking_goes_on_after_one_that_is_not_held(void **state)
{
    (void)state;
    skip_if_tsan_would_report();
    ord_lock_pair(&m[0], &m[1]);
    assert_int_equal(ord_unlock_all(all, N), EPERM);
    assert_all_are(0);
    assert_int_equal(ord_unlock_pair(&m[0], &m[1]), EPERM);
}

static void *try_all(void *at)
{
    struct ord_mutex *set[N];
    int rc;

    memcpy(set, all, sizeof set);
    rc = ord_trylock_all(set, N, at);
    if (rc == 0)
        ord_unlock_all(set, N);
    return result(rc);
}

static void trying_takes_none_when_one_is_busy_and_says_which(void **state)
{
    size_t at = 0;

    (void)state;
    ord_mutex_lock(&m[2]);
    assert_int_equal(in_a_thread(try_all, &at), EBUSY);
    assert_int_equal(at, 2);
    assert_false(is_taken(&m[0]) || is_taken(&m[1]) || is_taken(&m[3]));
    ord_mutex_lock(&m[1]);
    assert_int_equal(in_a_thread(try_all, &at), EBUSY);
    assert_int_equal(at, 2); /* it began there, not at 0 */
    ord_mutex_unlock(&m[2]);
    assert_int_equal(in_a_thread(try_all, &at), EBUSY);
    assert_int_equal(at, 1); /* around the end */
    ord_mutex_unlock(&m[1]);
    assert_int_equal(in_a_thread(try_all, &at), 0);
    assert_int_equal(in_a_thread(try_all, NULL), 0);
    assert_all_are(0);
}

static void a_start_out_of_range_is_refused(void **state)
{
    size_t at = N;

    (void)state;
    assert_int_equal(ord_trylock_all(all, N, &at), EINVAL);
    assert_int_equal(at, N);
}

static void *lock_all_until(void *deadline)
{
    struct ord_mutex *set[N];
    int rc;

    memcpy(set, all, sizeof set);
    rc = ord_timedlock_all(set, N, *(ord_ns *)deadline);
    if (rc == 0)
        ord_unlock_all(set, N);
    return result(rc);
}

static void a_deadline_leaves_none_taken(void **state)
{
    (void)state;
    ord_mutex_lock(&m[4]);
    for (ord_ns timeout = -ORD_MS; timeout <= 2 * ORD_MS; timeout += ORD_MS) {
        ord_ns deadline = ord_deadline_after(timeout);

        assert_int_equal(in_a_thread(lock_all_until, &deadline), ETIMEDOUT);
        assert_true(ord_now() >= deadline);
        assert_false(is_taken(&m[0]) || is_taken(&m[3]));
    }
    ord_mutex_unlock(&m[4]);
}

static void what_is_free_is_taken_after_the_deadline_too(void **state)
{
    ord_ns past = 0;

    (void)state;
    assert_int_equal(in_a_thread(lock_all_until, &past), 0);
}

static void waiting_for_all_holds_none(void **state)
{
    ord_ns never = ORD_NEVER;
    pthread_t waiter;

    (void)state;
    ord_mutex_lock(&m[3]);
    start(&waiter, lock_all_until, &never);
    for (int i = 0; i < 20; i++) { /* each comes free while m[3] is taken */
        ord_mutex_lock(&m[i % 3]);
        ord_mutex_unlock(&m[i % 3]);
    }
    ord_mutex_unlock(&m[3]);
    assert_int_equal(join(waiter), 0);
}

static void a_walk_holds_the_next_before_it_leaves_the_last(void **state)
{
    (void)state;
    assert_int_equal(ord_lock_next(NULL, &m[0]), 0);
    assert_int_equal(ord_lock_next(&m[0], &m[1]), 0);
    assert_false(is_taken(&m[0]));
    assert_true(is_taken(&m[1]));
    assert_int_equal(ord_lock_next(&m[1], NULL), 0);
    assert_all_are(0);
}

static void a_step_that_fails_changes_nothing(void **state)
{
    (void)state;
    assert_int_equal(ord_lock_next(NULL, NULL), EINVAL);
    assert_int_equal(ord_lock_next(&m[0], &m[0]), EINVAL);
    ord_lock_pair(&m[0], &m[1]);
    assert_int_equal(ord_lock_next(&m[0], &m[1]), EDEADLK);
    assert_true(is_taken(&m[0]) && is_taken(&m[1]));
    ord_unlock_pair(&m[0], &m[1]);
}

static void a_step_from_what_is_not_held_changes_nothing(void **state)
{
    (void)state;
    skip_if_tsan_would_report();
    assert_int_equal(ord_lock_next(&m[0], &m[1]), EPERM);
    assert_int_equal(ord_lock_next(&m[0], NULL), EPERM);
    assert_all_are(0);
}

/* Threads that each have a way of their own through the same mutexes. */
static struct {
    ord_ns end;
    atomic_int nstarted;
    long visits[N]; /* each under its mutex */
} stress;

static void *go_one_way(void *unused)
{
    int way = atomic_fetch_add(&stress.nstarted, 1);
    size_t at = 0;

    do {
        struct ord_mutex *set[] = { &m[way], &m[(way + 2) % N],
                                    &m[(way + 1) % N] };
        int rc = way == 0   ? ord_trylock_all(set, 3, &at)
                 : way == 1 ? ord_timedlock_all(set, 3, stress.end)
                            : ord_lock_all(set, NULL, 3);

        for (size_t i = 0; i < 3 && rc == 0; i++)
            stress.visits[set[i] - m]++;
        if (rc == 0)
            ord_unlock_all(set, 3);
        else
            assert_true(rc == EBUSY || rc == ETIMEDOUT);
    } while (ord_now() < stress.end);
    return unused;
}

static void all_ways_together_neither_race_nor_deadlock(void **state)
{
    (void)state;
    memset(&stress, 0, sizeof stress);
    stress.end = race_end();
    race_run(THREADS, go_one_way, NULL);
    assert_all_are(0);
    assert_true(stress.visits[2] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_pair_is_taken_whichever_way_it_is_named),
        TEST(a_pair_of_one_mutex_is_refused),
        TEST(all_are_taken_in_the_order_of_addresses),
        TEST(ranks_order_and_addresses_break_ties),
        TEST(many_are_sorted_and_none_is_lost),
        TEST(twins_are_refused_whatever_their_ranks),
        TEST(none_of_nothing_is_no_error),
        TEST(one_held_already_is_edeadlk_and_the_rest_is_released),
        TEST(unlocking_goes_on_after_one_that_is_not_held),
        TEST(trying_takes_none_when_one_is_busy_and_says_which),
        TEST(a_start_out_of_range_is_refused),
        TEST(a_deadline_leaves_none_taken),
        TEST(what_is_free_is_taken_after_the_deadline_too),
        TEST(waiting_for_all_holds_none),
        TEST(a_walk_holds_the_next_before_it_leaves_the_last),
        TEST(a_step_that_fails_changes_nothing),
        TEST(a_step_from_what_is_not_held_changes_nothing),
        TEST(all_ways_together_neither_race_nor_deadlock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
