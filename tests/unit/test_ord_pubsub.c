/* SPDX-License-Identifier: MIT
 * test_ord_pubsub.c - publish and subscribe. */
#include <errno.h>

#include "ord_threads.h"

#include "ord/pubsub.h"

static void assert_next(struct ord_subscription *sub, uintptr_t n)
{
    void *message;

    assert_int_equal(ord_subscription_get(sub, &message, 0), 0);
    assert_ptr_equal(message, item_of(n));
}

static size_t publish(struct ord_topic *topic, uintptr_t n)
{
    size_t ndropped = 99;

    assert_int_equal(ord_topic_publish(topic, item_of(n), &ndropped), 0);
    return ndropped;
}

static void each_subscriber_gets_each_message_after_it_came(void **state)
{
    struct ord_topic topic = ORD_TOPIC_INIT;
    struct ord_subscription a;
    struct ord_subscription b;
    void *message;

    (void)state;
    assert_int_equal(publish(&topic, 1), 0);
    assert_int_equal(ord_subscribe(&topic, &a, 4, ORD_DROP_OLDEST), 0);
    assert_int_equal(publish(&topic, 2), 0);
    assert_int_equal(ord_subscribe(&topic, &b, 4, ORD_DROP_OLDEST), 0);
    assert_int_equal(publish(&topic, 3), 0);
    assert_next(&a, 2);
    assert_next(&a, 3);
    assert_next(&b, 3);
    assert_int_equal(ord_subscription_get(&b, &message, 0), ETIMEDOUT);
    assert_int_equal(ord_unsubscribe(&a), 0);
    assert_int_equal(ord_unsubscribe(&a), ENOENT);
    assert_int_equal(publish(&topic, 4), 0);
    assert_int_equal(ord_subscription_get(&a, &message, ORD_NEVER), EPIPE);
    assert_next(&b, 4);
    assert_int_equal(ord_unsubscribe(&b), 0);
    assert_int_equal(ord_subscription_destroy(&a), 0);
    assert_int_equal(ord_subscription_destroy(&b), 0);
    assert_int_equal(ord_topic_destroy(&topic), 0);
}

static void
a_slow_subscriber_loses_what_it_chose_and_it_is_counted(void **state)
{
    struct ord_topic topic;
    struct ord_subscription oldest;
    struct ord_subscription newest;

    (void)state;
    ord_topic_init(&topic);
    assert_int_equal(ord_subscribe(&topic, &oldest, 2, ORD_DROP_OLDEST), 0);
    assert_int_equal(ord_subscribe(&topic, &newest, 2, ORD_DROP_NEWEST), 0);
    for (uintptr_t n = 1; n <= 4; n++)
        assert_int_equal(publish(&topic, n), n > 2 ? 2 : 0);
    assert_int_equal(ord_subscription_ndropped(&oldest), 2);
    assert_int_equal(ord_subscription_ndropped(&newest), 2);
    assert_next(&oldest, 3);
    assert_next(&oldest, 4);
    assert_next(&newest, 1);
    assert_next(&newest, 2);
    assert_int_equal(ord_unsubscribe(&oldest), 0);
    assert_int_equal(ord_unsubscribe(&newest), 0);
    assert_int_equal(ord_subscription_destroy(&oldest), 0);
    assert_int_equal(ord_subscription_destroy(&newest), 0);
    assert_int_equal(ord_topic_destroy(&topic), 0);
}

static void a_closed_topic_refuses_and_its_subscribers_drain(void **state)
{
    struct ord_topic topic = ORD_TOPIC_INIT;
    struct ord_subscription a;
    struct ord_subscription late;
    void *message;
    size_t n = 9;

    (void)state;
    assert_int_equal(ord_subscribe(&topic, &a, 0, ORD_DROP_OLDEST), EINVAL);
    assert_int_equal(ord_subscribe(&topic, &a, 1, ORD_DROP_OLDEST), 0);
    assert_int_equal(publish(&topic, 1), 0);
    ord_topic_close(&topic);
    assert_int_equal(ord_topic_publish(&topic, item_of(2), &n), EPIPE);
    assert_int_equal(n, 9);
    assert_int_equal(ord_subscribe(&topic, &late, 1, ORD_DROP_OLDEST), EPIPE);
    assert_int_equal(ord_subscription_destroy(&a), EBUSY);
    assert_int_equal(ord_topic_destroy(&topic), EBUSY);
    assert_int_equal(ord_unsubscribe(&a), 0);
    assert_int_equal(ord_subscription_destroy(&a), EBUSY);
    assert_next(&a, 1);
    assert_int_equal(ord_subscription_get(&a, &message, ORD_NEVER), EPIPE);
    assert_int_equal(ord_subscription_destroy(&a), 0);
    assert_int_equal(ord_topic_destroy(&topic), 0);
}

struct stress {
    struct ord_topic topic;
    ord_ns end;
    uint64_t npublished; /* atomic, as the rest */
    uint64_t ndropped;
};

static void *publish_many(void *arg)
{
    struct stress *s = arg;

    while (ord_now() < s->end) {
        size_t ndropped = publish(&s->topic, 1);
        __atomic_fetch_add(&s->npublished, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&s->ndropped, ndropped, __ATOMIC_RELAXED);
    }
    return NULL;
}

struct reader {
    struct ord_subscription sub;
    uint64_t nread;
};

static void *read_all(void *arg)
{
    struct reader *r = arg;
    void *message;

    while (ord_subscription_get(&r->sub, &message, ORD_NEVER) == 0)
        r->nread++;
    return NULL;
}

/* Comes and goes while messages are published. */
static void *pass_by(void *arg)
{
    struct stress *s = arg;
    struct ord_subscription sub;
    void *message;

    while (ord_now() < s->end) {
        assert_int_equal(ord_subscribe(&s->topic, &sub, 4096, ORD_DROP_NEWEST),
                         0);
        assert_int_equal(ord_unsubscribe(&sub), 0);
        while (ord_subscription_get(&sub, &message, ORD_NEVER) == 0)
            ;
        /* What was dropped for it is in the publishers' count. */
        __atomic_fetch_sub(&s->ndropped, ord_subscription_ndropped(&sub),
                           __ATOMIC_RELAXED);
        assert_int_equal(ord_subscription_destroy(&sub), 0);
    }
    return NULL;
}

static void stress_reads_or_counts_each_message(void **state)
{
    struct stress s = { .topic = ORD_TOPIC_INIT, .end = race_end() };
    struct reader r[2] = { { .nread = 0 }, { .nread = 0 } };
    struct crew publishers = { .n = 0 };
    struct crew readers = { .n = 0 };
    uint64_t ndropped = 0;

    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            ord_subscribe(&s.topic, &r[i].sub, 8, (enum ord_drop)i), 0);
    for (int i = 0; i < 2; i++) {
        crew_add(&readers, read_all, &r[i]);
        crew_add(&publishers, publish_many, &s);
    }
    crew_add(&publishers, pass_by, &s);
    crew_join(&publishers);
    ord_topic_close(&s.topic);
    crew_join(&readers);
    for (int i = 0; i < 2; i++) {
        uint64_t lost = ord_subscription_ndropped(&r[i].sub);
        assert_int_equal(r[i].nread + lost, s.npublished);
        ndropped += lost;
        assert_int_equal(ord_unsubscribe(&r[i].sub), 0);
        assert_int_equal(ord_subscription_destroy(&r[i].sub), 0);
    }
    assert_int_equal(ndropped, s.ndropped);
    assert_int_equal(ord_topic_destroy(&s.topic), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_subscriber_gets_each_message_after_it_came),
        cmocka_unit_test(
            a_slow_subscriber_loses_what_it_chose_and_it_is_counted),
        cmocka_unit_test(a_closed_topic_refuses_and_its_subscribers_drain),
        cmocka_unit_test(stress_reads_or_counts_each_message),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
