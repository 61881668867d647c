/* SPDX-License-Identifier: MIT
 *
 * test_ord_barrier.c - rounds, the action, and what breaks and mends it.
 */
#include "ord_thread.h"

#include <errno.h>
#include <stdatomic.h>

#include "ord/barrier.h"

enum { N = 3 };

static struct ord_barrier barrier;
static pthread_t threads[N];

/* The action counts, may be kept inside, and returns what it is told. */
static struct {
    int nruns; /* written by the action alone, read after a round */
    int result;
    atomic_int keep_inside, is_inside;
} act;

static int action(void *arg)
{
    assert_ptr_equal(arg, &act);
    act.nruns++;
    /* It would deadlock here if a lock were held: */
    ord_barrier_waiting(&barrier);
    atomic_store(&act.is_inside, 1);
    while (atomic_load(&act.keep_inside))
        sched_yield();
    atomic_store(&act.is_inside, 0);
    return act.result;
}

static int set_up(void **state)
{
    (void)state;
    act.nruns = act.result = 0;
    atomic_store(&act.keep_inside, 0);
    return ord_barrier_init(&barrier, N, action, &act);
}

static int tear_down(void **state)
{
    (void)state;
    return ord_barrier_destroy(&barrier);
}

static void *arrive(void *unused)
{
    (void)unused;
    return result(ord_barrier_wait(&barrier));
}

static void *arrive_until(void *deadline)
{
    return result(ord_barrier_timedwait(&barrier, *(ord_ns *)deadline));
}

/* Starts n threads, which are then inside of a round that is not full. */
static void let_arrive(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        start(&threads[i], arrive, NULL);
    race_await_waiters(&barrier.mutex, &barrier.changed, n);
    assert_int_equal(ord_barrier_waiting(&barrier), n);
}

static void assert_join(unsigned n, int with)
{
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(join(threads[i]), with);
}

static int is_inside(void *unused)
{
    (void)unused;
    return atomic_load(&act.is_inside);
}

/* A full round of N, the last of which is kept in the action. */
static void fill_and_keep_inside(void)
{
    atomic_store(&act.keep_inside, 1);
    let_arrive(N - 1);
    start(&threads[N - 1], arrive, NULL);
    eventually(is_inside, NULL);
}

static void let_the_action_end(void)
{
    atomic_store(&act.keep_inside, 0);
}

static void all_go_on_when_the_last_has_arrived(void **state)
{
    (void)state;
    for (int round = 1; round <= 3; round++) {
        let_arrive(N - 1);
        assert_int_equal(ord_barrier_wait(&barrier), 0);
        assert_join(N - 1, 0);
        assert_int_equal(act.nruns, round);
        assert_int_equal(ord_barrier_waiting(&barrier), 0);
    }
}

static void one_thread_alone_never_waits(void **state)
{
    static struct ord_barrier one = ORD_BARRIER_INIT(1);

    (void)state;
    assert_int_equal(ord_barrier_wait(&one), 0);
    assert_int_equal(ord_barrier_timedwait(&one, 0), 0);
    assert_int_equal(ord_barrier_destroy(&one), 0);
}

static void a_meeting_of_nobody_is_refused(void **state)
{
    static struct ord_barrier none = ORD_BARRIER_INIT(0);

    (void)state;
    assert_int_equal(ord_barrier_wait(&none), EINVAL);
    assert_int_equal(ord_barrier_init(&none, 0, NULL, NULL), EINVAL);
}

static void a_timeout_breaks_it_for_all(void **state)
{
    ord_ns deadline;

    (void)state;
    let_arrive(N - 2);
    deadline = ord_deadline_after(ORD_MS);
    assert_int_equal(ord_barrier_timedwait(&barrier, deadline), ETIMEDOUT);
    assert_true(ord_now() >= deadline);
    assert_join(N - 2, ECANCELED);
    assert_true(ord_barrier_is_broken(&barrier));
    assert_int_equal(ord_barrier_wait(&barrier), ECANCELED);
    assert_int_equal(ord_barrier_timedwait(&barrier, 0), ECANCELED);
    assert_int_equal(act.nruns, 0);
}

static void a_broken_barrier_is_mended_by_a_reset(void **state)
{
    (void)state;
    assert_int_equal(ord_barrier_timedwait(&barrier, 0), ETIMEDOUT);
    ord_barrier_reset(&barrier);
    assert_false(ord_barrier_is_broken(&barrier));
    let_arrive(N - 1);
    assert_int_equal(ord_barrier_timedwait(&barrier, 0), 0);
    assert_join(N - 1, 0);
}

static void a_reset_sends_those_inside_away_and_breaks_nothing(void **state)
{
    (void)state;
    let_arrive(N - 1);
    ord_barrier_reset(&barrier);
    assert_join(N - 1, ECANCELED);
    assert_false(ord_barrier_is_broken(&barrier));
    assert_int_equal(ord_barrier_waiting(&barrier), 0);
    let_arrive(N - 1);
    assert_int_equal(ord_barrier_wait(&barrier), 0);
    assert_join(N - 1, 0);
}

static void an_action_that_fails_breaks_it(void **state)
{
    (void)state;
    act.result = EIO;
    let_arrive(N - 1);
    assert_int_equal(ord_barrier_wait(&barrier), EIO);
    assert_join(N - 1, ECANCELED);
    assert_true(ord_barrier_is_broken(&barrier));
}

static void a_timeout_during_the_action_breaks_it(void **state)
{
    ord_ns past = 0;

    (void)state;
    fill_and_keep_inside();
    assert_int_equal(in_a_thread(arrive_until, &past), ETIMEDOUT);
    assert_join(N - 1, ECANCELED);
    let_the_action_end();
    assert_int_equal(join(threads[N - 1]), ECANCELED);
    assert_true(ord_barrier_is_broken(&barrier));
}

static void a_reset_during_the_action_cancels_its_round(void **state)
{
    (void)state;
    fill_and_keep_inside();
    ord_barrier_reset(&barrier);
    assert_join(N - 1, ECANCELED);
    let_the_action_end();
    assert_int_equal(join(threads[N - 1]), ECANCELED);
    assert_false(ord_barrier_is_broken(&barrier));
}

static void who_comes_during_the_action_belongs_to_the_next_round(void **state)
{
    pthread_t early;

    (void)state;
    fill_and_keep_inside();
    start(&early, arrive, NULL);
    race_await_waiters(&barrier.mutex, &barrier.changed, N);
    assert_int_equal(ord_barrier_waiting(&barrier), N);
    let_the_action_end();
    assert_join(N, 0);
    assert_int_equal(act.nruns, 1);
    start(&threads[0], arrive, NULL);
    assert_int_equal(ord_barrier_wait(&barrier), 0);
    assert_join(1, 0);
    assert_int_equal(join(early), 0);
    assert_int_equal(act.nruns, 2);
}

static void it_is_not_destroyed_in_use(void **state)
{
    (void)state;
    let_arrive(1);
    assert_int_equal(ord_barrier_destroy(&barrier), EBUSY);
    ord_barrier_reset(&barrier);
    assert_join(1, ECANCELED);
    fill_and_keep_inside();
    ord_barrier_reset(&barrier);
    assert_join(N - 1, ECANCELED); /* only the action is left */
    assert_int_equal(ord_barrier_destroy(&barrier), EBUSY);
    let_the_action_end();
    assert_int_equal(join(threads[N - 1]), ECANCELED);
}

/* In each round each thread writes its cell; after it all read them all. */
static struct {
    ord_ns end;
    atomic_int nstarted;
    int cells[N];
    int stop; /* by the first thread, between two rounds */
} stress;

static void *take_part(void *unused)
{
    int me = atomic_fetch_add(&stress.nstarted, 1);

    for (int i = 1; !stress.stop; i++) {
        stress.cells[me] = i;
        assert_int_equal(ord_barrier_wait(&barrier), 0);
        for (int other = 0; other < N; other++)
            assert_int_equal(stress.cells[other], i);
        assert_int_equal(act.nruns, 3 * i - 2);
        assert_int_equal(ord_barrier_timedwait(&barrier, ORD_NEVER), 0);
        if (me == 0)
            stress.stop = ord_now() >= stress.end;
        assert_int_equal(ord_barrier_wait(&barrier), 0);
    }
    return unused;
}

static void rounds_follow_each_other_without_a_race(void **state)
{
    (void)state;
    stress.end = race_end();
    race_run(N, take_part, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(all_go_on_when_the_last_has_arrived),
        TEST(one_thread_alone_never_waits),
        TEST(a_meeting_of_nobody_is_refused),
        TEST(a_timeout_breaks_it_for_all),
        TEST(a_broken_barrier_is_mended_by_a_reset),
        TEST(a_reset_sends_those_inside_away_and_breaks_nothing),
        TEST(an_action_that_fails_breaks_it),
        TEST(a_timeout_during_the_action_breaks_it),
        TEST(a_reset_during_the_action_cancels_its_round),
        TEST(who_comes_during_the_action_belongs_to_the_next_round),
        TEST(it_is_not_destroyed_in_use),
        TEST(rounds_follow_each_other_without_a_race),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
