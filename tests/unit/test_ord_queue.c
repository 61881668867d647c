/* SPDX-License-Identifier: MIT
 * test_ord_queue.c - the bounded queue, and its items against a model. */
#include <errno.h>
#include <stdio.h>

#include "ord_threads.h"

#include "ord/queue.h"

static void fill(struct ord_queue *q, uintptr_t first, uintptr_t last)
{
    for (uintptr_t n = first; n <= last; n++)
        assert_int_equal(ord_queue_offer(q, item_of(n)), 0);
}

static void assert_next(struct ord_queue *q, uintptr_t n)
{
    void *item;

    assert_int_equal(ord_queue_poll(q, &item), 0);
    assert_ptr_equal(item, item_of(n));
}

static void fifo_leaves_in_the_order_it_came(void **state)
{
    struct ord_queue q;

    (void)state;
    assert_int_equal(ord_queue_init(&q, ORD_FIFO, 3), 0);
    fill(&q, 1, 3);
    assert_next(&q, 1);
    fill(&q, 4, 4);
    for (uintptr_t n = 2; n <= 4; n++)
        assert_next(&q, n);
    assert_int_equal(ord_queue_destroy(&q), 0);
}

static void lifo_leaves_in_the_opposite_order(void **state)
{
    struct ord_queue q;

    (void)state;
    assert_int_equal(ord_queue_init(&q, ORD_LIFO, 3), 0);
    fill(&q, 1, 3);
    assert_next(&q, 3);
    fill(&q, 4, 4);
    assert_next(&q, 4);
    assert_next(&q, 2);
    assert_next(&q, 1);
    assert_int_equal(ord_queue_destroy(&q), 0);
}

static void priority_leaves_highest_first_and_equals_in_turn(void **state)
{
    static const int priorities[] = { 0, 5, -1, 5, 0 };
    static const uintptr_t expected[] = { 2, 4, 1, 5, 3 };
    struct ord_queue q;

    (void)state;
    assert_int_equal(ord_queue_init(&q, ORD_PRIORITY, 5), 0);
    for (uintptr_t i = 0; i < 5; i++)
        assert_int_equal(
            ord_queue_put_priority(&q, item_of(i + 1), priorities[i], 0), 0);
    for (int i = 0; i < 5; i++)
        assert_next(&q, expected[i]);
    assert_int_equal(ord_queue_destroy(&q), 0);
}

static void init_refuses_bad_arguments(void **state)
{
    struct ord_queue q;

    (void)state;
    assert_int_equal(ord_queue_init(&q, ORD_FIFO, 0), EINVAL);
    assert_int_equal(ord_queue_init(&q, (enum ord_order)7, 1), EINVAL);
}

static void offer_refuses_when_full_and_poll_when_empty(void **state)
{
    struct ord_queue q;
    void *item = &q;

    (void)state;
    assert_int_equal(ord_queue_init(&q, ORD_FIFO, 3), 0);
    assert_int_equal(ord_queue_poll(&q, &item), EAGAIN);
    assert_ptr_equal(item, &q);
    fill(&q, 1, 3);
    assert_int_equal(ord_queue_offer(&q, item_of(4)), EAGAIN);
    assert_int_equal(ord_queue_offer(&q, item_of(5)), EAGAIN);
    assert_int_equal(ord_queue_depth(&q), 3);
    assert_int_equal(ord_queue_destroy(&q), EBUSY);
    for (uintptr_t n = 1; n <= 3; n++)
        assert_next(&q, n);
    assert_int_equal(ord_queue_max_depth(&q), 3);
    assert_int_equal(ord_queue_destroy(&q), 0);
}

static void deadlines_end_put_get_and_join(void **state)
{
    struct ord_queue q;
    void *item = &q;
    ord_ns deadline = ord_deadline_after(3 * ORD_MS);

    (void)state;
    assert_int_equal(ord_queue_init(&q, ORD_FIFO, 1), 0);
    assert_int_equal(ord_queue_get(&q, &item, deadline), ETIMEDOUT);
    assert_true(ord_now() >= deadline);
    fill(&q, 1, 1);
    deadline = ord_deadline_after(3 * ORD_MS);
    assert_int_equal(ord_queue_put(&q, item_of(2), deadline), ETIMEDOUT);
    assert_true(ord_now() >= deadline);
    deadline = ord_deadline_after(3 * ORD_MS);
    assert_int_equal(ord_queue_join(&q, deadline), ETIMEDOUT);
    assert_true(ord_now() >= deadline);
    assert_next(&q, 1);
    assert_int_equal(ord_queue_destroy(&q), 0);
}

static void closed_refuses_producers_and_lets_consumers_drain(void **state)
{
    struct ord_queue q;
    void *item = &q;
    size_t ndisplaced = 9;

    (void)state;
    assert_int_equal(ord_queue_init(&q, ORD_FIFO, 3), 0);
    fill(&q, 1, 3);
    assert_int_equal(ord_queue_close(&q), 3);
    assert_int_equal(ord_queue_put(&q, item_of(4), ORD_NEVER), EPIPE);
    assert_int_equal(ord_queue_offer(&q, item_of(4)), EPIPE);
    assert_int_equal(ord_queue_displace(&q, item_of(4), &item, &ndisplaced),
                     EPIPE);
    assert_int_equal(ndisplaced, 9);
    for (uintptr_t n = 1; n <= 3; n++)
        assert_next(&q, n);
    assert_int_equal(ord_queue_get(&q, &item, ORD_NEVER), EPIPE);
    assert_int_equal(ord_queue_poll(&q, &item), EPIPE);
    assert_ptr_equal(item, &q);
    assert_int_equal(ord_queue_close(&q), 0);
    assert_int_equal(ord_queue_destroy(&q), 0);
}

struct waiter {
    struct ord_queue *queue;
    int rc;
};

static void *put_and_wait(void *arg)
{
    struct waiter *w = arg;

    w->rc = ord_queue_put(w->queue, item_of(2), ORD_NEVER);
    return NULL;
}

static void *get_and_wait(void *arg)
{
    struct waiter *w = arg;
    void *item;

    w->rc = ord_queue_get(w->queue, &item, ORD_NEVER);
    return NULL;
}

static void *join_and_wait(void *arg)
{
    struct waiter *w = arg;

    w->rc = ord_queue_join(w->queue, ORD_NEVER);
    return NULL;
}

static void close_wakes_waiting_producers(void **state)
{
    struct ord_queue q;
    struct waiter w[2] = { { &q, 0 }, { &q, 0 } };
    struct crew crew = { .n = 0 };

    (void)state;
    assert_int_equal(ord_queue_init(&q, ORD_FIFO, 1), 0);
    fill(&q, 1, 1);
    crew_add(&crew, put_and_wait, &w[0]);
    crew_add(&crew, put_and_wait, &w[1]);
    race_await_waiters(&q.lock, &q.not_full, 2);
    assert_int_equal(ord_queue_close(&q), 1);
    crew_join(&crew);
    assert_int_equal(w[0].rc, EPIPE);
    assert_int_equal(w[1].rc, EPIPE);
    assert_next(&q, 1);
    assert_int_equal(ord_queue_destroy(&q), 0);
}

static void close_wakes_waiting_consumers(void **state)
{
    struct ord_queue q;
    struct waiter w[2] = { { &q, 0 }, { &q, 0 } };
    struct crew crew = { .n = 0 };

    (void)state;
    assert_int_equal(ord_queue_init(&q, ORD_FIFO, 1), 0);
    crew_add(&crew, get_and_wait, &w[0]);
    crew_add(&crew, get_and_wait, &w[1]);
    race_await_waiters(&q.lock, &q.not_empty, 2);
    assert_int_equal(ord_queue_destroy(&q), EBUSY);
    ord_queue_close(&q);
    crew_join(&crew);
    assert_int_equal(w[0].rc, EPIPE);
    assert_int_equal(w[1].rc, EPIPE);
    assert_int_equal(ord_queue_destroy(&q), 0);
}

static void removal_makes_room_for_a_waiting_producer(void **state)
{
    struct ord_queue q;
    struct waiter w = { &q, -1 };
    struct crew crew = { .n = 0 };

    (void)state;
    assert_int_equal(ord_queue_init(&q, ORD_FIFO, 1), 0);
    fill(&q, 1, 1);
    crew_add(&crew, put_and_wait, &w);
    race_await_waiters(&q.lock, &q.not_full, 1);
    assert_int_equal(ord_queue_remove(&q, item_of(3)), ENOENT);
    assert_int_equal(ord_queue_remove(&q, item_of(1)), 0);
    crew_join(&crew);
    assert_int_equal(w.rc, 0);
    assert_next(&q, 2);
    assert_int_equal(ord_queue_destroy(&q), 0);
}

static void join_waits_until_each_item_is_done(void **state)
{
    struct ord_queue q;
    struct waiter w = { &q, -1 };
    struct crew crew = { .n = 0 };

    (void)state;
    assert_int_equal(ord_queue_init(&q, ORD_FIFO, 2), 0);
    assert_int_equal(ord_queue_join(&q, 0), 0);
    fill(&q, 1, 2);
    assert_int_equal(ord_queue_task_done(&q), EINVAL);
    crew_add(&crew, join_and_wait, &w);
    race_await_waiters(&q.lock, &q.all_done, 1);
    assert_next(&q, 1);
    assert_next(&q, 2);
    assert_int_equal(ord_queue_task_done(&q), 0);
    assert_int_equal(ord_queue_join(&q, 0), ETIMEDOUT);
    assert_int_equal(ord_queue_task_done(&q), 0);
    crew_join(&crew);
    assert_int_equal(w.rc, 0);
    assert_int_equal(ord_queue_task_done(&q), EINVAL);
    assert_int_equal(ord_queue_destroy(&q), 0);
}

static void displace_lets_the_last_to_leave_go(void **state)
{
    static const uintptr_t gone[] = { 1, 1, 2 };
    void *item;
    size_t n;

    (void)state;
    for (int order = ORD_FIFO; order <= ORD_PRIORITY; order++) {
        struct ord_queue q;

        assert_int_equal(ord_queue_init(&q, (enum ord_order)order, 2), 0);
        assert_int_equal(ord_queue_displace(&q, item_of(1), &item, &n), 0);
        assert_int_equal(n, 0);
        assert_int_equal(ord_queue_displace(&q, item_of(2), &item, &n), 0);
        assert_int_equal(ord_queue_displace(&q, item_of(3), &item, &n), 0);
        assert_int_equal(n, 1);
        assert_ptr_equal(item, item_of(gone[order]));
        while (ord_queue_poll(&q, &item) == 0)
            assert_int_equal(ord_queue_task_done(&q), 0);
        assert_int_equal(ord_queue_join(&q, 0), 0);
        assert_int_equal(ord_queue_destroy(&q), 0);
    }
}

/* The model of them: its items in the order they came. */
struct model {
    struct ord_item entries[8];
    size_t n;
};

static size_t model_next(const struct model *m, enum ord_order order)
{
    size_t next = 0;

    if (order == ORD_LIFO)
        return m->n - 1;
    if (order == ORD_PRIORITY)
        for (size_t i = 1; i < m->n; i++)
            if (m->entries[i].priority > m->entries[next].priority)
                next = i;
    return next;
}

static void *model_take(struct model *m, size_t i)
{
    void *item = m->entries[i].value;

    for (m->n--; i < m->n; i++)
        m->entries[i] = m->entries[i + 1];
    return item;
}

static void step_both(struct ord_items *items, struct model *m, unsigned *seed,
                      uintptr_t n)
{
    int action = rand_r(seed) % 5;

    if (action < 3 && m->n < items->capacity) {
        int priority = rand_r(seed) % 3;
        ord_items_add(items, item_of(n), priority);
        m->entries[m->n++] = (struct ord_item){ item_of(n), priority, n };
    } else if (action == 3 && m->n > 0) {
        void *item = model_take(m, (size_t)rand_r(seed) % m->n);
        assert_int_equal(ord_items_remove(items, item), 0);
    } else if (m->n > 0) {
        void *item = model_take(m, model_next(m, items->order));
        assert_ptr_equal(ord_items_take(items), item);
    }
    assert_int_equal(items->n, m->n);
}

static void items_agree_with_a_naive_model(void **state)
{
    const char *given = getenv("SEED");
    unsigned seed = given ? (unsigned)atoi(given) : (unsigned)ord_now();

    (void)state;
    print_message("SEED=%u\n", seed);
    for (int order = ORD_FIFO; order <= ORD_PRIORITY; order++) {
        struct ord_items items;
        struct model model = { .n = 0 };

        assert_int_equal(ord_items_init(&items, (enum ord_order)order, 8), 0);
        for (uintptr_t n = 1; n <= 5000; n++)
            step_both(&items, &model, &seed, n);
        ord_items_destroy(&items);
    }
}

struct stress {
    struct ord_queue queue;
    ord_ns end;
    uint64_t sum_in; /* atomic, as the next */
    uint64_t sum_out;
};

/* Takes each way in by turns; what was refused does not count. */
static void *produce(void *arg)
{
    struct stress *s = arg;
    uint64_t sum = 0;

    for (uintptr_t n = 1; n == 1 || ord_now() < s->end; n++) {
        int rc =
            n % 3 == 0 ? ord_queue_offer(&s->queue, item_of(n))
            : n % 3 == 1
                ? ord_queue_put(&s->queue, item_of(n), ORD_NEVER)
                : ord_queue_put_priority(&s->queue, item_of(n), (int)(n % 7),
                                         ord_deadline_after(20 * ORD_US));
        if (rc == 0)
            sum += n;
    }
    __atomic_fetch_add(&s->sum_in, sum, __ATOMIC_RELAXED);
    return NULL;
}

static void *consume(void *arg)
{
    struct stress *s = arg;
    uint64_t sum = 0;
    void *item;
    int rc;

    while ((rc = ord_queue_get(&s->queue, &item,
                               ord_deadline_after(50 * ORD_US))) != EPIPE) {
        if (rc != 0)
            continue;
        sum += (uintptr_t)item;
        ord_queue_task_done(&s->queue);
    }
    __atomic_fetch_add(&s->sum_out, sum, __ATOMIC_RELAXED);
    return NULL;
}

static void stress_loses_and_doubles_nothing(void **state)
{
    ord_ns whole = race_end() - ord_now();

    (void)state;
    for (int order = ORD_FIFO; order <= ORD_PRIORITY; order++) {
        struct stress s = { .end = ord_deadline_after(whole / 3) };
        struct crew producers = { .n = 0 };
        struct crew consumers = { .n = 0 };

        assert_int_equal(ord_queue_init(&s.queue, (enum ord_order)order, 4), 0);
        for (int i = 0; i < 3; i++) {
            crew_add(&producers, produce, &s);
            crew_add(&consumers, consume, &s);
        }
        crew_join(&producers);
        assert_int_equal(ord_queue_join(&s.queue, ord_deadline_after(PATIENCE)),
                         0);
        ord_queue_close(&s.queue);
        crew_join(&consumers);
        assert_true(s.sum_in > 0);
        assert_int_equal(s.sum_in, s.sum_out);
        assert_true(ord_queue_max_depth(&s.queue) <= 4);
        assert_int_equal(ord_queue_destroy(&s.queue), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fifo_leaves_in_the_order_it_came),
        cmocka_unit_test(lifo_leaves_in_the_opposite_order),
        cmocka_unit_test(priority_leaves_highest_first_and_equals_in_turn),
        cmocka_unit_test(init_refuses_bad_arguments),
        cmocka_unit_test(offer_refuses_when_full_and_poll_when_empty),
        cmocka_unit_test(deadlines_end_put_get_and_join),
        cmocka_unit_test(closed_refuses_producers_and_lets_consumers_drain),
        cmocka_unit_test(close_wakes_waiting_producers),
        cmocka_unit_test(close_wakes_waiting_consumers),
        cmocka_unit_test(removal_makes_room_for_a_waiting_producer),
        cmocka_unit_test(join_waits_until_each_item_is_done),
        cmocka_unit_test(displace_lets_the_last_to_leave_go),
        cmocka_unit_test(items_agree_with_a_naive_model),
        cmocka_unit_test(stress_loses_and_doubles_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
