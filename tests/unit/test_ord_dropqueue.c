/* SPDX-License-Identifier: MIT
 * test_ord_dropqueue.c - the queue that drops and counts. */
#include <errno.h>

#include "ord_threads.h"

#include "ord/dropqueue.h"

static void put_three(struct ord_dropqueue *q, uintptr_t expected_drop)
{
    void *dropped = NULL;

    assert_int_equal(ord_dropqueue_put(q, item_of(1), &dropped), 0);
    assert_int_equal(ord_dropqueue_put(q, item_of(2), &dropped), 0);
    assert_null(dropped);
    assert_int_equal(ord_dropqueue_put(q, item_of(3), &dropped), EAGAIN);
    assert_ptr_equal(dropped, item_of(expected_drop));
    assert_int_equal(ord_dropqueue_ndropped(q), 1);
}

static void assert_next(struct ord_dropqueue *q, uintptr_t n)
{
    void *item;

    assert_int_equal(ord_dropqueue_get(q, &item, 0), 0);
    assert_ptr_equal(item, item_of(n));
}

static void newest_is_dropped_handed_back_and_counted(void **state)
{
    struct ord_dropqueue q;

    (void)state;
    assert_int_equal(ord_dropqueue_init(&q, ORD_DROP_NEWEST, 2), 0);
    put_three(&q, 3);
    assert_next(&q, 1);
    assert_next(&q, 2);
    assert_int_equal(ord_dropqueue_destroy(&q), 0);
}

static void oldest_is_dropped_handed_back_and_counted(void **state)
{
    struct ord_dropqueue q;

    (void)state;
    assert_int_equal(ord_dropqueue_init(&q, ORD_DROP_OLDEST, 2), 0);
    put_three(&q, 1);
    assert_next(&q, 2);
    assert_next(&q, 3);
    assert_int_equal(ord_dropqueue_destroy(&q), 0);
}

static void init_refuses_bad_arguments(void **state)
{
    struct ord_dropqueue q;

    (void)state;
    assert_int_equal(ord_dropqueue_init(&q, (enum ord_drop)9, 2), EINVAL);
    assert_int_equal(ord_dropqueue_init(&q, ORD_DROP_OLDEST, 0), EINVAL);
}

static void closed_refuses_without_counting_and_drains(void **state)
{
    void *item = &item;

    (void)state;
    for (int which = ORD_DROP_NEWEST; which <= ORD_DROP_OLDEST; which++) {
        struct ord_dropqueue q;

        assert_int_equal(ord_dropqueue_init(&q, (enum ord_drop)which, 1), 0);
        assert_int_equal(ord_dropqueue_get(&q, &item, 0), ETIMEDOUT);
        assert_int_equal(ord_dropqueue_put(&q, item_of(1), &item), 0);
        assert_int_equal(ord_dropqueue_destroy(&q), EBUSY);
        assert_int_equal(ord_dropqueue_close(&q), 1);
        assert_int_equal(ord_dropqueue_put(&q, item_of(2), &item), EPIPE);
        assert_int_equal(ord_dropqueue_ndropped(&q), 0);
        assert_next(&q, 1);
        assert_int_equal(ord_dropqueue_get(&q, &item, ORD_NEVER), EPIPE);
        assert_int_equal(ord_dropqueue_destroy(&q), 0);
    }
}

struct stress {
    struct ord_dropqueue queue;
    ord_ns end;
    uint64_t nin; /* atomic, as the rest */
    uint64_t nout;
    uint64_t ndropped;
};

static void *produce(void *arg)
{
    struct stress *s = arg;
    void *dropped;

    while (ord_now() < s->end) {
        __atomic_fetch_add(&s->nin, 1, __ATOMIC_RELAXED);
        if (ord_dropqueue_put(&s->queue, s, &dropped) == EAGAIN)
            __atomic_fetch_add(&s->ndropped, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void *consume(void *arg)
{
    struct stress *s = arg;
    void *item;

    while (ord_dropqueue_get(&s->queue, &item, ORD_NEVER) == 0)
        __atomic_fetch_add(&s->nout, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void stress_takes_out_or_counts_each_item(void **state)
{
    ord_ns whole = race_end() - ord_now();

    (void)state;
    for (int which = ORD_DROP_NEWEST; which <= ORD_DROP_OLDEST; which++) {
        struct stress s = { .end = ord_deadline_after(whole / 2) };
        struct crew producers = { .n = 0 };
        struct crew consumers = { .n = 0 };

        assert_int_equal(ord_dropqueue_init(&s.queue, (enum ord_drop)which, 4),
                         0);
        for (int i = 0; i < 3; i++)
            crew_add(&producers, produce, &s);
        crew_add(&consumers, consume, &s);
        crew_join(&producers);
        ord_dropqueue_close(&s.queue);
        crew_join(&consumers);
        assert_int_equal(s.nin, s.nout + s.ndropped);
        assert_int_equal(s.ndropped, ord_dropqueue_ndropped(&s.queue));
        assert_int_equal(ord_dropqueue_destroy(&s.queue), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newest_is_dropped_handed_back_and_counted),
        cmocka_unit_test(oldest_is_dropped_handed_back_and_counted),
        cmocka_unit_test(init_refuses_bad_arguments),
        cmocka_unit_test(closed_refuses_without_counting_and_drains),
        cmocka_unit_test(stress_takes_out_or_counts_each_item),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
