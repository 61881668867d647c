/* SPDX-License-Identifier: MIT
 * test_ord_bucket.c - the token bucket, mostly by a clock turned by hand. */
#include <errno.h>

#include "ord_threads.h"

#include "ord/bucket.h"

static ord_ns read_hand(void *ctx)
{
    return __atomic_load_n((ord_ns *)ctx, __ATOMIC_ACQUIRE);
}

/* A clock that stands still but for turn(). */
struct hand {
    ord_ns now; /* atomic */
    struct ord_clock clock;
    struct ord_bucket bucket;
};

static void set_up(struct hand *h, int64_t rate, int64_t capacity)
{
    h->now = ORD_SECOND;
    h->clock = (struct ord_clock){ read_hand, &h->now };
    assert_int_equal(ord_bucket_init(&h->bucket, rate, capacity, &h->clock), 0);
}

static void turn(struct hand *h, ord_ns by)
{
    __atomic_fetch_add(&h->now, by, __ATOMIC_RELEASE);
    ord_bucket_clock_turned(&h->bucket);
}

static void it_starts_full_and_gives_no_more_than_it_has(void **state)
{
    struct hand h;

    (void)state;
    set_up(&h, 10, 3);
    assert_int_equal(ord_bucket_level(&h.bucket), 3);
    assert_int_equal(ord_bucket_trytake(&h.bucket, 2), 0);
    assert_int_equal(ord_bucket_trytake(&h.bucket, 2), EAGAIN);
    assert_int_equal(ord_bucket_trytake(&h.bucket, 1), 0);
    assert_int_equal(ord_bucket_trytake(&h.bucket, 1), EAGAIN);
    assert_int_equal(ord_bucket_destroy(&h.bucket), 0);
}

static void it_refills_continuously_up_to_its_capacity(void **state)
{
    struct hand h;

    (void)state;
    set_up(&h, 10, 3);
    assert_int_equal(ord_bucket_trytake(&h.bucket, 3), 0);
    turn(&h, 99 * ORD_MS);
    assert_int_equal(ord_bucket_trytake(&h.bucket, 1), EAGAIN);
    turn(&h, ORD_MS);
    assert_int_equal(ord_bucket_trytake(&h.bucket, 1), 0);
    turn(&h, 150 * ORD_MS);
    assert_int_equal(ord_bucket_trytake(&h.bucket, 1), 0);
    turn(&h, 50 * ORD_MS); /* with the half that was left */
    assert_int_equal(ord_bucket_trytake(&h.bucket, 1), 0);
    turn(&h, 1000000 * ORD_SECOND);
    assert_int_equal(ord_bucket_level(&h.bucket), 3);
    turn(&h, -ORD_SECOND);
    assert_int_equal(ord_bucket_level(&h.bucket), 3);
    assert_int_equal(ord_bucket_destroy(&h.bucket), 0);
}

static void many_small_refills_add_up_exactly(void **state)
{
    struct hand h;

    (void)state;
    set_up(&h, 3, 1000);
    assert_int_equal(ord_bucket_trytake(&h.bucket, 1000), 0);
    for (int i = 0; i < 100000; i++) {
        h.now += 3331;
        ord_bucket_level(&h.bucket);
    }
    h.now += 100 * ORD_SECOND - 100000 * (ord_ns)3331;
    assert_int_equal(ord_bucket_level(&h.bucket), 300);
    assert_int_equal(ord_bucket_destroy(&h.bucket), 0);
}

static void arguments_out_of_range_are_refused(void **state)
{
    struct hand h;
    struct ord_bucket b;

    (void)state;
    assert_int_equal(ord_bucket_init(&b, 0, 1, NULL), EINVAL);
    assert_int_equal(ord_bucket_init(&b, 1, 0, NULL), EINVAL);
    assert_int_equal(ord_bucket_init(&b, ORD_BUCKET_MAX + 1, 1, NULL), EINVAL);
    assert_int_equal(ord_bucket_init(&b, 1, ORD_BUCKET_MAX + 1, NULL), EINVAL);
    set_up(&h, ORD_BUCKET_MAX, ORD_BUCKET_MAX);
    assert_int_equal(ord_bucket_take(&h.bucket, 0, 0), EINVAL);
    assert_int_equal(ord_bucket_trytake(&h.bucket, -1), EINVAL);
    assert_int_equal(ord_bucket_trytake(&h.bucket, ORD_BUCKET_MAX + 1), EINVAL);
    assert_int_equal(ord_bucket_trytake(&h.bucket, ORD_BUCKET_MAX), 0);
    turn(&h, 5);
    assert_int_equal(ord_bucket_trytake(&h.bucket, 6), EAGAIN);
    assert_int_equal(ord_bucket_trytake(&h.bucket, 5), 0);
    assert_int_equal(ord_bucket_destroy(&h.bucket), 0);
}

struct taker {
    struct hand *hand;
    ord_ns deadline;
    int rc;
};

static void *take_one(void *arg)
{
    struct taker *t = arg;

    t->rc = ord_bucket_take(&t->hand->bucket, 1, t->deadline);
    return NULL;
}

static void a_waiter_gets_its_token_when_the_clock_is_there(void **state)
{
    struct hand h;
    struct taker t = { &h, ORD_NEVER, -1 };
    struct crew crew = { .n = 0 };

    (void)state;
    set_up(&h, 10, 1);
    assert_int_equal(ord_bucket_trytake(&h.bucket, 1), 0);
    crew_add(&crew, take_one, &t);
    race_await_waiters(&h.bucket.lock, &h.bucket.refilled, 1);
    assert_int_equal(ord_bucket_destroy(&h.bucket), EBUSY);
    turn(&h, 100 * ORD_MS);
    crew_join(&crew);
    assert_int_equal(t.rc, 0);
    assert_int_equal(ord_bucket_level(&h.bucket), 0);
    assert_int_equal(ord_bucket_destroy(&h.bucket), 0);
}

static void a_waiter_gives_up_when_its_clock_passes_the_deadline(void **state)
{
    struct hand h;
    struct taker t = { &h, ORD_SECOND + 50 * ORD_MS, -1 };
    struct crew crew = { .n = 0 };

    (void)state;
    set_up(&h, 10, 1);
    assert_int_equal(ord_bucket_trytake(&h.bucket, 1), 0);
    crew_add(&crew, take_one, &t);
    race_await_waiters(&h.bucket.lock, &h.bucket.refilled, 1);
    turn(&h, 50 * ORD_MS);
    crew_join(&crew);
    assert_int_equal(t.rc, ETIMEDOUT);
    turn(&h, 50 * ORD_MS);
    assert_int_equal(ord_bucket_level(&h.bucket), 1);
    assert_int_equal(ord_bucket_destroy(&h.bucket), 0);
}

static void by_the_real_clock_it_waits_as_long_as_it_must(void **state)
{
    struct ord_bucket b;
    ord_ns began = ord_now();

    (void)state;
    assert_int_equal(ord_bucket_init(&b, 1000, 1, NULL), 0);
    for (int i = 0; i < 6; i++)
        assert_int_equal(ord_bucket_take(&b, 1, ORD_NEVER), 0);
    assert_true(ord_now() - began >= 5 * ORD_MS);
    assert_int_equal(ord_bucket_destroy(&b), 0);
    assert_int_equal(ord_bucket_init(&b, 1, 1, NULL), 0);
    assert_int_equal(ord_bucket_take(&b, 1, ORD_NEVER), 0);
    assert_int_equal(ord_bucket_take(&b, 1, ord_deadline_after(ORD_MS)),
                     ETIMEDOUT);
    assert_int_equal(ord_bucket_destroy(&b), 0);
}

struct stress {
    struct ord_bucket bucket;
    ord_ns end;
    uint64_t ntaken; /* atomic */
};

static void *take_many(void *arg)
{
    struct stress *s = arg;

    int n = 1;

    do {
        if (ord_bucket_take(&s->bucket, n, s->end) == 0)
            __atomic_fetch_add(&s->ntaken, n, __ATOMIC_RELAXED);
        n = n % 3 + 1;
    } while (ord_now() < s->end);
    return NULL;
}

static void stress_never_exceeds_the_rate(void **state)
{
    struct stress s = { .end = race_end() };
    struct crew crew = { .n = 0 };
    ord_ns began = ord_now();

    (void)state;
    assert_int_equal(ord_bucket_init(&s.bucket, 20000, 5, NULL), 0);
    for (int i = 0; i < 4; i++)
        crew_add(&crew, take_many, &s);
    crew_join(&crew);
    assert_true(s.ntaken > 0);
    assert_true((ord_ns)s.ntaken <=
                5 + (ord_now() - began) / (ORD_SECOND / 20000));
    assert_int_equal(ord_bucket_destroy(&s.bucket), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_starts_full_and_gives_no_more_than_it_has),
        cmocka_unit_test(it_refills_continuously_up_to_its_capacity),
        cmocka_unit_test(many_small_refills_add_up_exactly),
        cmocka_unit_test(arguments_out_of_range_are_refused),
        cmocka_unit_test(a_waiter_gets_its_token_when_the_clock_is_there),
        cmocka_unit_test(a_waiter_gives_up_when_its_clock_passes_the_deadline),
        cmocka_unit_test(by_the_real_clock_it_waits_as_long_as_it_must),
        cmocka_unit_test(stress_never_exceeds_the_rate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
