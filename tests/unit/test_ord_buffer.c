/* SPDX-License-Identifier: MIT
 * test_ord_buffer.c - the bounded buffer. */
#include <errno.h>

#include "ord_threads.h"

#include "ord/buffer.h"

static void items_leave_in_the_order_they_came(void **state)
{
    void *slots[3];
    struct ord_buffer b = ORD_BUFFER_INIT(slots);
    uintptr_t next_in = 1;
    uintptr_t next_out = 1;
    void *item;

    (void)state;
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 2; i++)
            assert_int_equal(ord_buffer_put(&b, item_of(next_in++), 0), 0);
        assert_int_equal(ord_buffer_depth(&b), 2);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(ord_buffer_get(&b, &item, 0), 0);
            assert_ptr_equal(item, item_of(next_out++));
        }
    }
    assert_int_equal(ord_buffer_destroy(&b), 0);
}

static void init_refuses_no_slots(void **state)
{
    void *slots[1];
    struct ord_buffer b;

    (void)state;
    assert_int_equal(ord_buffer_init(&b, slots, 0), EINVAL);
    assert_int_equal(ord_buffer_init(&b, NULL, 1), EINVAL);
    assert_int_equal(ord_buffer_init(&b, slots, 1), 0);
    assert_int_equal(ord_buffer_destroy(&b), 0);
}

static void full_and_empty_time_out_and_change_nothing(void **state)
{
    void *slots[1];
    struct ord_buffer b = ORD_BUFFER_INIT(slots);
    void *item = &b;
    ord_ns deadline = ord_deadline_after(5 * ORD_MS);

    (void)state;
    assert_int_equal(ord_buffer_get(&b, &item, deadline), ETIMEDOUT);
    assert_true(ord_now() >= deadline);
    assert_ptr_equal(item, &b);
    assert_int_equal(ord_buffer_put(&b, item_of(1), 0), 0);
    deadline = ord_deadline_after(5 * ORD_MS);
    assert_int_equal(ord_buffer_put(&b, item_of(2), deadline), ETIMEDOUT);
    assert_true(ord_now() >= deadline);
    assert_int_equal(ord_buffer_depth(&b), 1);
    assert_int_equal(ord_buffer_destroy(&b), EBUSY);
    assert_int_equal(ord_buffer_get(&b, &item, 0), 0);
    assert_ptr_equal(item, item_of(1));
    assert_int_equal(ord_buffer_destroy(&b), 0);
}

static void *get_one(void *arg)
{
    void *item = NULL;

    return ord_buffer_get(arg, &item, ORD_NEVER) == 0 ? item : NULL;
}

static void *put_seven(void *arg)
{
    return item_of((uintptr_t)ord_buffer_put(arg, item_of(7), ORD_NEVER));
}

static void a_put_wakes_a_waiting_get(void **state)
{
    void *slots[1];
    struct ord_buffer b = ORD_BUFFER_INIT(slots);
    pthread_t thread;
    void *got;

    (void)state;
    pthread_create(&thread, NULL, get_one, &b);
    race_await_waiters(&b.lock, &b.not_empty, 1);
    assert_int_equal(ord_buffer_destroy(&b), EBUSY);
    assert_int_equal(ord_buffer_put(&b, item_of(9), 0), 0);
    pthread_join(thread, &got);
    assert_ptr_equal(got, item_of(9));
    assert_int_equal(ord_buffer_destroy(&b), 0);
}

static void a_get_wakes_a_waiting_put(void **state)
{
    void *slots[1];
    struct ord_buffer b = ORD_BUFFER_INIT(slots);
    pthread_t thread;
    void *item;
    void *rc;

    (void)state;
    assert_int_equal(ord_buffer_put(&b, item_of(1), 0), 0);
    pthread_create(&thread, NULL, put_seven, &b);
    race_await_waiters(&b.lock, &b.not_full, 1);
    assert_int_equal(ord_buffer_get(&b, &item, 0), 0);
    pthread_join(thread, &rc);
    assert_null(rc);
    assert_int_equal(ord_buffer_get(&b, &item, 0), 0);
    assert_ptr_equal(item, item_of(7));
    assert_int_equal(ord_buffer_destroy(&b), 0);
}

/* Items 1 to n by each producer; a zero ends one consumer. */
struct stress {
    struct ord_buffer buffer;
    ord_ns end;
    uint64_t sum_in; /* atomic, as the next */
    uint64_t sum_out;
};

static void *produce(void *arg)
{
    struct stress *s = arg;
    uint64_t sum = 0;

    for (uintptr_t n = 1; n == 1 || ord_now() < s->end; n++) {
        ord_buffer_put(&s->buffer, item_of(n), ORD_NEVER);
        sum += n;
    }
    ord_buffer_put(&s->buffer, NULL, ORD_NEVER);
    __atomic_fetch_add(&s->sum_in, sum, __ATOMIC_RELAXED);
    return NULL;
}

static void *consume(void *arg)
{
    struct stress *s = arg;
    uint64_t sum = 0;
    void *item;

    while (ord_buffer_get(&s->buffer, &item, ORD_NEVER) == 0 && item)
        sum += (uintptr_t)item;
    __atomic_fetch_add(&s->sum_out, sum, __ATOMIC_RELAXED);
    return NULL;
}

static void stress_loses_and_doubles_nothing(void **state)
{
    void *slots[2];
    struct stress s = { .buffer = ORD_BUFFER_INIT(slots) };
    struct crew crew = { .n = 0 };

    (void)state;
    s.end = race_end();
    for (int i = 0; i < 3; i++) {
        crew_add(&crew, produce, &s);
        crew_add(&crew, consume, &s);
    }
    crew_join(&crew);
    assert_true(s.sum_in > 0);
    assert_int_equal(s.sum_in, s.sum_out);
    assert_int_equal(ord_buffer_destroy(&s.buffer), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_leave_in_the_order_they_came),
        cmocka_unit_test(init_refuses_no_slots),
        cmocka_unit_test(full_and_empty_time_out_and_change_nothing),
        cmocka_unit_test(a_put_wakes_a_waiting_get),
        cmocka_unit_test(a_get_wakes_a_waiting_put),
        cmocka_unit_test(stress_loses_and_doubles_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
