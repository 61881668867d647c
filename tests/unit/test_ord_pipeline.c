/* SPDX-License-Identifier: MIT
 * test_ord_pipeline.c - stages joined by bounded queues. */
#include <errno.h>

#include "ord_threads.h"

#include "ord/pipeline.h"

static int add_one(void *ctx, void *in, void **out)
{
    (void)ctx;
    *out = item_of((uintptr_t)in + 1);
    return 0;
}

static int twice(void *ctx, void *in, void **out)
{
    (void)ctx;
    *out = item_of((uintptr_t)in * 2);
    return 0;
}

/* Odd numbers end here. */
static int keep_even(void *ctx, void *in, void **out)
{
    (void)ctx;
    if ((uintptr_t)in % 2 == 0)
        *out = in;
    return 0;
}

static int fail_always(void *ctx, void *in, void **out)
{
    *out = in;
    return *(int *)ctx;
}

static struct ord_pipeline *make(const struct ord_stage *stages, size_t n)
{
    struct ord_pipeline *p;

    assert_int_equal(ord_pipeline_create(&p, stages, n, 1, NULL), 0);
    return p;
}

static void assert_next(struct ord_pipeline *p, uintptr_t n)
{
    void *item;

    assert_int_equal(ord_pipeline_get(p, &item, ORD_NEVER), 0);
    assert_ptr_equal(item, item_of(n));
}

static void assert_end(struct ord_pipeline *p)
{
    void *item = p;

    assert_int_equal(ord_pipeline_get(p, &item, ORD_NEVER), EPIPE);
    assert_ptr_equal(item, p);
    assert_int_equal(ord_pipeline_destroy(p), 0);
}

static void items_pass_each_stage_in_order_and_then_the_end(void **state)
{
    static const struct ord_stage stages[] = { { add_one, NULL, 1, 2 },
                                               { twice, NULL, 1, 1 } };
    struct ord_pipeline *p = make(stages, 2);

    (void)state;
    for (uintptr_t n = 1; n <= 4; n++)
        assert_int_equal(ord_pipeline_put(p, item_of(n), ORD_NEVER), 0);
    assert_int_equal(ord_pipeline_destroy(p), EBUSY);
    ord_pipeline_close(p);
    assert_int_equal(ord_pipeline_put(p, item_of(5), ORD_NEVER), EPIPE);
    for (uintptr_t n = 1; n <= 4; n++)
        assert_next(p, (n + 1) * 2);
    assert_end(p);
}

static void a_filter_lets_nothing_on_but_the_end(void **state)
{
    static const struct ord_stage stages[] = { { keep_even, NULL, 1, 4 } };
    struct ord_pipeline *p = make(stages, 1);

    (void)state;
    for (uintptr_t n = 1; n <= 3; n++)
        assert_int_equal(ord_pipeline_put(p, item_of(n), ORD_NEVER), 0);
    ord_pipeline_close(p);
    assert_next(p, 2);
    assert_end(p);
}

static void the_end_gets_through_when_every_item_fails(void **state)
{
    int error = ENOSPC;
    const struct ord_stage stages[] = { { fail_always, &error, 2, 1 },
                                        { add_one, NULL, 2, 1 } };
    struct ord_pipeline *p = make(stages, 2);
    void *item;
    int first = 0;

    (void)state;
    for (uintptr_t n = 1; n <= 5; n++)
        assert_int_equal(ord_pipeline_put(p, item_of(n), ORD_NEVER), 0);
    ord_pipeline_close(p);
    assert_int_equal(ord_pipeline_get(p, &item, ORD_NEVER), EPIPE);
    assert_int_equal(ord_pipeline_nfailed(p, &first), 5);
    assert_int_equal(first, ENOSPC);
    assert_end(p);
}

/* Puts until each queue is full and the stage stands: as many as the two queues
 * hold, and one in the stage's hands. */
static void fill(struct ord_pipeline *p)
{
    for (uintptr_t n = 1; n <= 3; n++)
        assert_int_equal(ord_pipeline_put(p, item_of(n), ORD_NEVER), 0);
    assert_int_equal(
        ord_pipeline_put(p, item_of(4), ord_deadline_after(2 * ORD_MS)),
        ETIMEDOUT);
}

static void the_end_gets_through_full_queues(void **state)
{
    static const struct ord_stage stages[] = { { add_one, NULL, 1, 1 } };
    struct ord_pipeline *p = make(stages, 1);

    (void)state;
    fill(p);
    ord_pipeline_close(p);
    for (uintptr_t n = 2; n <= 4; n++)
        assert_next(p, n);
    assert_end(p);
}

static size_t ndiscarded; /* atomic */

static void discard(void *item)
{
    (void)item;
    __atomic_fetch_add(&ndiscarded, 1, __ATOMIC_RELAXED);
}

static void stop_drops_what_is_on_its_way_and_counts_it(void **state)
{
    static const struct ord_stage stages[] = { { add_one, NULL, 1, 1 } };
    struct ord_pipeline *p;

    (void)state;
    ndiscarded = 0;
    assert_int_equal(ord_pipeline_create(&p, stages, 1, 1, discard), 0);
    fill(p);
    assert_int_equal(ord_pipeline_stop(p), 3);
    assert_int_equal(ndiscarded, 3);
    assert_int_equal(ord_pipeline_stop(p), 3);
    assert_int_equal(ord_pipeline_put(p, NULL, ORD_NEVER), EPIPE);
    assert_end(p);
}

static void get_ends_at_its_deadline(void **state)
{
    static const struct ord_stage stages[] = { { add_one, NULL, 1, 1 } };
    struct ord_pipeline *p = make(stages, 1);
    ord_ns deadline = ord_deadline_after(2 * ORD_MS);
    void *item;

    (void)state;
    assert_int_equal(ord_pipeline_get(p, &item, deadline), ETIMEDOUT);
    assert_true(ord_now() >= deadline);
    ord_pipeline_close(p);
    assert_end(p);
}

static void create_refuses_bad_arguments(void **state)
{
    static const struct ord_stage bad[] = { { NULL, NULL, 1, 1 },
                                            { add_one, NULL, 0, 1 },
                                            { add_one, NULL, 1, 0 } };
    static const struct ord_stage good = { add_one, NULL, 1, 1 };
    struct ord_pipeline *p = NULL;

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(ord_pipeline_create(&p, &bad[i], 1, 1, NULL), EINVAL);
    assert_int_equal(ord_pipeline_create(&p, &good, 0, 1, NULL), EINVAL);
    assert_int_equal(ord_pipeline_create(&p, &good, 1, 0, NULL), EINVAL);
    assert_null(p);
}

struct feed {
    struct ord_pipeline *pipeline;
    ord_ns end;
    size_t nput;
};

static void *feed_it(void *arg)
{
    struct feed *f = arg;

    while (ord_now() < f->end &&
           ord_pipeline_put(f->pipeline, item_of(1), ORD_NEVER) == 0)
        f->nput++;
    return NULL;
}

static const struct ord_stage wide[] = { { add_one, NULL, 2, 2 },
                                         { twice, NULL, 3, 2 },
                                         { add_one, NULL, 2, 1 } };

/* Reads to the end, or stops it after twenty items. */
static void stress_once(ord_ns end, bool stop)
{
    struct feed f = { .end = end };
    struct crew crew = { .n = 0 };
    size_t ngot = 0;
    void *item;

    ndiscarded = 0;
    assert_int_equal(ord_pipeline_create(&f.pipeline, wide, 3, 2, discard), 0);
    crew_add(&crew, feed_it, &f);
    while (ord_now() < end && !(stop && ngot == 20)) {
        if (ord_pipeline_get(f.pipeline, &item, end) != 0)
            continue;
        assert_ptr_equal(item, item_of(5));
        ngot++;
    }
    if (stop)
        ord_pipeline_stop(f.pipeline);
    ord_pipeline_close(f.pipeline);
    while (ord_pipeline_get(f.pipeline, &item, ORD_NEVER) == 0)
        ngot++;
    crew_join(&crew);
    assert_int_equal(f.nput, ngot + ndiscarded);
    assert_int_equal(ord_pipeline_destroy(f.pipeline), 0);
}

static void stress_gets_or_drops_each_item(void **state)
{
    ord_ns whole = race_end() - ord_now();
    ord_ns end = ord_deadline_after(whole / 2);

    (void)state;
    stress_once(end, false);
    end = ord_deadline_after(whole / 2);
    while (ord_now() < end)
        stress_once(end, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_pass_each_stage_in_order_and_then_the_end),
        cmocka_unit_test(a_filter_lets_nothing_on_but_the_end),
        cmocka_unit_test(the_end_gets_through_when_every_item_fails),
        cmocka_unit_test(the_end_gets_through_full_queues),
        cmocka_unit_test(stop_drops_what_is_on_its_way_and_counts_it),
        cmocka_unit_test(get_ends_at_its_deadline),
        cmocka_unit_test(create_refuses_bad_arguments),
        cmocka_unit_test(stress_gets_or_drops_each_item),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
