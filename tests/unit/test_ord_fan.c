/* SPDX-License-Identifier: MIT
 * test_ord_fan.c - one producer's side of several queues. */
#include <errno.h>

#include "ord_threads.h"

#include "ord/fan.h"

#define N 3

static void open_queues(struct ord_queue q[N], size_t capacity)
{
    for (int i = 0; i < N; i++)
        assert_int_equal(ord_queue_init(&q[i], ORD_FIFO, capacity), 0);
}

static void destroy_queues(struct ord_queue q[N])
{
    void *item;

    for (int i = 0; i < N; i++) {
        while (ord_queue_poll(&q[i], &item) == 0)
            ;
        assert_int_equal(ord_queue_destroy(&q[i]), 0);
    }
}

static void assert_next(struct ord_queue *q, uintptr_t n)
{
    void *item;

    assert_int_equal(ord_queue_poll(q, &item), 0);
    assert_ptr_equal(item, item_of(n));
}

static void put_goes_round_robin(void **state)
{
    struct ord_queue q[N];
    struct ord_fan fan = ORD_FAN_INIT(q);

    (void)state;
    open_queues(q, 2);
    for (uintptr_t n = 0; n < 6; n++)
        assert_int_equal(ord_fan_put(&fan, item_of(n), 0), 0);
    for (uintptr_t n = 0; n < 6; n++)
        assert_next(&q[n % N], n);
    destroy_queues(q);
}

static void put_waits_for_its_turn_and_passes_over_the_closed(void **state)
{
    struct ord_queue q[N];
    struct ord_fan fan;

    (void)state;
    assert_int_equal(ord_fan_init(&fan, q, 0), EINVAL);
    assert_int_equal(ord_fan_init(&fan, NULL, 1), EINVAL);
    assert_int_equal(ord_fan_init(&fan, q, N), 0);
    open_queues(q, 1);
    ord_queue_close(&q[0]);
    assert_int_equal(ord_fan_put(&fan, item_of(1), 0), 0);
    assert_int_equal(ord_fan_put(&fan, item_of(2), 0), ETIMEDOUT);
    assert_next(&q[1], 1);
    ord_fan_close(&fan);
    assert_int_equal(ord_fan_put(&fan, item_of(3), ORD_NEVER), EPIPE);
    assert_int_equal(ord_fan_offer(&fan, item_of(3)), EPIPE);
    destroy_queues(q);
}

static void offer_finds_a_queue_with_room(void **state)
{
    struct ord_queue q[N];
    struct ord_fan fan = ORD_FAN_INIT(q);

    (void)state;
    open_queues(q, 1);
    assert_int_equal(ord_queue_offer(&q[0], item_of(9)), 0);
    assert_int_equal(ord_fan_offer(&fan, item_of(1)), 0);
    assert_int_equal(ord_fan_offer(&fan, item_of(2)), 0);
    assert_int_equal(ord_fan_offer(&fan, item_of(3)), EAGAIN);
    assert_next(&q[1], 1);
    assert_next(&q[2], 2);
    destroy_queues(q);
}

static void broadcast_reaches_all_and_says_how_many(void **state)
{
    struct ord_queue q[N];
    struct ord_fan fan = ORD_FAN_INIT(q);
    size_t n = 9;

    (void)state;
    open_queues(q, 1);
    assert_int_equal(ord_fan_broadcast(&fan, item_of(1), 0, &n), 0);
    assert_int_equal(n, 3);
    assert_next(&q[0], 1);
    assert_next(&q[2], 1);
    assert_int_equal(ord_fan_broadcast(&fan, item_of(2), 0, &n), ETIMEDOUT);
    assert_int_equal(n, 2);
    assert_next(&q[0], 2);
    assert_next(&q[2], 2);
    ord_queue_close(&q[1]);
    assert_int_equal(ord_fan_broadcast(&fan, item_of(3), 0, &n), 0);
    assert_int_equal(n, 2);
    ord_fan_close(&fan);
    assert_int_equal(ord_fan_broadcast(&fan, item_of(4), 0, &n), EPIPE);
    assert_int_equal(n, 0);
    destroy_queues(q);
}

struct stress {
    struct ord_queue queues[N];
    struct ord_fan fan;
    ord_ns end;
    uint64_t nin; /* atomic, as the next */
    uint64_t nout;
};

static void *produce(void *arg)
{
    struct stress *s = arg;
    size_t n;

    do {
        assert_int_equal(ord_fan_put(&s->fan, s, ORD_NEVER), 0);
        assert_int_equal(ord_fan_broadcast(&s->fan, s, ORD_NEVER, &n), 0);
        __atomic_fetch_add(&s->nin, n + 1, __ATOMIC_RELAXED);
    } while (ord_now() < s->end);
    return NULL;
}

struct consumer {
    struct stress *s;
    struct ord_queue *queue;
};

static void *consume(void *arg)
{
    struct consumer *c = arg;
    void *item;

    while (ord_queue_get(c->queue, &item, ORD_NEVER) == 0)
        __atomic_fetch_add(&c->s->nout, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void stress_loses_nothing(void **state)
{
    struct stress s = { .end = race_end() };
    struct consumer c[N];
    struct crew producers = { .n = 0 };
    struct crew consumers = { .n = 0 };

    (void)state;
    open_queues(s.queues, 2);
    assert_int_equal(ord_fan_init(&s.fan, s.queues, N), 0);
    for (int i = 0; i < N; i++) {
        c[i] = (struct consumer){ &s, &s.queues[i] };
        crew_add(&producers, produce, &s);
        crew_add(&consumers, consume, &c[i]);
    }
    crew_join(&producers);
    ord_fan_close(&s.fan);
    crew_join(&consumers);
    assert_true(s.nin > 0);
    assert_int_equal(s.nin, s.nout);
    destroy_queues(s.queues);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(put_goes_round_robin),
        cmocka_unit_test(put_waits_for_its_turn_and_passes_over_the_closed),
        cmocka_unit_test(offer_finds_a_queue_with_room),
        cmocka_unit_test(broadcast_reaches_all_and_says_how_many),
        cmocka_unit_test(stress_loses_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
