/* SPDX-License-Identifier: MIT
 * test_ord_future.c - results that are not there yet. */
#include <errno.h>

#include "ord_threads.h"

#include "ord/future.h"

static void assert_ended(struct ord_future *f, int error, void *result)
{
    int e = -1;
    void *r = f;

    assert_int_equal(ord_future_wait(f, 0), 0);
    assert_int_equal(ord_future_result(f, &e, &r), 0);
    assert_int_equal(e, error);
    assert_ptr_equal(r, result);
}

static void a_result_is_there_once_it_is_finished(void **state)
{
    struct ord_future f = ORD_FUTURE_INIT;
    int error = 5;
    void *result = &f;

    (void)state;
    assert_int_equal(ord_future_result(&f, &error, &result), EAGAIN);
    assert_int_equal(error, 5);
    assert_ptr_equal(result, &f);
    assert_int_equal(ord_future_begin(&f), 0);
    assert_int_equal(ord_future_begin(&f), EBUSY);
    assert_int_equal(ord_future_destroy(&f), EBUSY);
    assert_int_equal(ord_future_finish(&f, 0, item_of(3)), 0);
    assert_int_equal(ord_future_finish(&f, 0, item_of(4)), EBUSY);
    assert_ended(&f, 0, item_of(3));
    assert_int_equal(ord_future_destroy(&f), 0);
}

static void an_error_is_kept(void **state)
{
    struct ord_future f;

    (void)state;
    ord_future_init(&f);
    assert_int_equal(ord_future_finish(&f, ENOSPC, NULL), 0);
    assert_ended(&f, ENOSPC, NULL);
    assert_int_equal(ord_future_destroy(&f), 0);
}

static void wait_ends_at_its_deadline(void **state)
{
    struct ord_future f = ORD_FUTURE_INIT;
    ord_ns deadline = ord_deadline_after(3 * ORD_MS);

    (void)state;
    assert_int_equal(ord_future_wait(&f, deadline), ETIMEDOUT);
    assert_true(ord_now() >= deadline);
    assert_int_equal(ord_future_destroy(&f), 0);
}

static void only_what_has_not_begun_is_cancelled(void **state)
{
    struct ord_future f = ORD_FUTURE_INIT;
    struct ord_future g = ORD_FUTURE_INIT;

    (void)state;
    assert_int_equal(ord_future_cancel(&f), 0);
    assert_int_equal(ord_future_cancel(&f), EBUSY);
    assert_int_equal(ord_future_begin(&f), EBUSY);
    assert_int_equal(ord_future_finish(&f, 0, NULL), EBUSY);
    assert_ended(&f, ECANCELED, NULL);
    assert_int_equal(ord_future_begin(&g), 0);
    assert_int_equal(ord_future_cancel(&g), EBUSY);
    assert_int_equal(ord_future_finish(&g, 0, NULL), 0);
    assert_int_equal(ord_future_destroy(&f), 0);
    assert_int_equal(ord_future_destroy(&g), 0);
}

static int withdraw_or_not(void *self, struct ord_future *f)
{
    (void)f;
    return *(int *)self;
}

static void a_queued_one_is_cancelled_only_if_it_can_be_withdrawn(void **state)
{
    static const struct ord_executor executor = { withdraw_or_not, NULL, NULL };
    struct ord_future f = ORD_FUTURE_INIT;
    int rc = ENOENT;

    (void)state;
    assert_int_equal(ord_future_queue(&f, &executor, &rc, NULL, NULL), 0);
    assert_int_equal(ord_future_queue(&f, &executor, &rc, NULL, NULL), EBUSY);
    assert_int_equal(ord_future_destroy(&f), EBUSY);
    assert_int_equal(ord_future_cancel(&f), EBUSY);
    ord_future_unqueue(&f);
    assert_int_equal(ord_future_queue(&f, &executor, &rc, NULL, NULL), 0);
    rc = 0;
    assert_int_equal(ord_future_cancel(&f), 0);
    assert_ended(&f, ECANCELED, NULL);
    assert_int_equal(ord_future_destroy(&f), 0);
}

/* Writes down the order of the calls, and that the lock was free in them. */
struct note {
    struct ord_done done;
    int *ncalls;
    int turn;
};

static void take_note(struct ord_future *f, void *arg)
{
    struct note *note = arg;
    int error;
    void *result;

    note->turn = ++*note->ncalls;
    assert_int_equal(ord_future_result(f, &error, &result), 0);
    assert_ptr_equal(result, item_of(8));
}

static void callbacks_run_once_in_turn_and_without_the_lock(void **state)
{
    struct ord_future f = ORD_FUTURE_INIT;
    int ncalls = 0;
    struct note notes[3];

    (void)state;
    for (int i = 0; i < 3; i++)
        notes[i] = (struct note){ { take_note, &notes[i], NULL }, &ncalls, 0 };
    ord_future_on_done(&f, &notes[0].done);
    ord_future_on_done(&f, &notes[1].done);
    assert_int_equal(ncalls, 0);
    assert_int_equal(ord_future_finish(&f, 0, item_of(8)), 0);
    assert_int_equal(ncalls, 2);
    ord_future_on_done(&f, &notes[2].done);
    for (int i = 0; i < 3; i++)
        assert_int_equal(notes[i].turn, i + 1);
    assert_int_equal(ord_future_destroy(&f), 0);
}

static void *wait_for(void *arg)
{
    return item_of((uintptr_t)ord_future_wait(arg, ORD_NEVER));
}

static void finish_wakes_every_waiter(void **state)
{
    struct ord_future f = ORD_FUTURE_INIT;
    struct crew crew = { .n = 0 };

    (void)state;
    for (int i = 0; i < 3; i++)
        crew_add(&crew, wait_for, &f);
    race_await_waiters(&f.lock, &f.done, 3);
    assert_int_equal(ord_future_destroy(&f), EBUSY);
    assert_int_equal(ord_future_finish(&f, 0, NULL), 0);
    crew_join(&crew);
    assert_int_equal(ord_future_destroy(&f), 0);
}

/* A future on the waiter's stack, finished by another thread, is gone as soon
 * as the wait returns. */
struct race {
    struct ord_future *future; /* atomic: the next to end */
    ord_ns end;
    uint64_t nfinished; /* atomic */
};

static void *finish_each(void *arg)
{
    struct race *r = arg;
    struct ord_future *f;

    while ((f = __atomic_exchange_n(&r->future, NULL, __ATOMIC_ACQ_REL)) !=
           (void *)r) {
        if (!f)
            sched_yield();
        else if (ord_future_finish(f, 0, NULL) == 0)
            __atomic_fetch_add(&r->nfinished, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void stress_destroys_right_after_the_wait(void **state)
{
    struct race r = { .end = race_end() };
    struct crew crew = { .n = 0 };
    uint64_t n = 0;

    (void)state;
    crew_add(&crew, finish_each, &r);
    for (; ord_now() < r.end; n++) {
        struct ord_future f = ORD_FUTURE_INIT;
        __atomic_store_n(&r.future, &f, __ATOMIC_RELEASE);
        if (n % 2 == 0 || ord_future_wait(&f, ord_deadline_after(ORD_US)) != 0)
            assert_int_equal(ord_future_wait(&f, ORD_NEVER), 0);
        assert_int_equal(ord_future_destroy(&f), 0);
    }
    __atomic_store_n(&r.future, (void *)&r, __ATOMIC_RELEASE);
    crew_join(&crew);
    assert_int_equal(r.nfinished, n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_result_is_there_once_it_is_finished),
        cmocka_unit_test(an_error_is_kept),
        cmocka_unit_test(wait_ends_at_its_deadline),
        cmocka_unit_test(only_what_has_not_begun_is_cancelled),
        cmocka_unit_test(a_queued_one_is_cancelled_only_if_it_can_be_withdrawn),
        cmocka_unit_test(callbacks_run_once_in_turn_and_without_the_lock),
        cmocka_unit_test(finish_wakes_every_waiter),
        cmocka_unit_test(stress_destroys_right_after_the_wait),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
