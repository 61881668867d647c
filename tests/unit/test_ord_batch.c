/* SPDX-License-Identifier: MIT
 * test_ord_batch.c - many tasks of a pool at once. */
#include <errno.h>
#include <semaphore.h>

#include "ord_threads.h"

#include "ord/batch.h"

static struct ord_pool *pool_of(unsigned nworkers, size_t capacity)
{
    struct ord_pool *pool;

    assert_int_equal(ord_pool_create(&pool, nworkers, capacity), 0);
    return pool;
}

static void end(struct ord_pool *pool)
{
    size_t n;

    assert_int_equal(ord_pool_shutdown(pool, ORD_DRAIN, &n), 0);
    assert_int_equal(ord_pool_destroy(pool), 0);
}

static int square(void *arg, void **result)
{
    uintptr_t n = (uintptr_t)arg;

    *result = item_of(n * n);
    return n == 7 ? ERANGE : 0;
}

static void map_answers_in_the_order_of_its_input(void **state)
{
    struct ord_pool *pool = pool_of(3, 2);
    void *args[20];
    void *results[20];
    int errors[20];

    (void)state;
    for (uintptr_t i = 0; i < 20; i++)
        args[i] = item_of(i);
    assert_int_equal(ord_map(pool, square, args, 20, results, errors), ERANGE);
    for (uintptr_t i = 0; i < 20; i++) {
        assert_int_equal(errors[i], i == 7 ? ERANGE : 0);
        assert_ptr_equal(results[i], item_of(i * i));
    }
    assert_int_equal(ord_map(pool, square, args, 7, results, errors), 0);
    assert_int_equal(ord_map(pool, square, args, 0, NULL, NULL), 0);
    end(pool);
}

static void map_on_a_pool_that_is_shut_down_has_that_error(void **state)
{
    struct ord_pool *pool = pool_of(1, 1);
    void *args[2] = { NULL, NULL };
    void *results[2];
    int errors[2] = { 0, 0 };
    size_t n;

    (void)state;
    assert_int_equal(ord_pool_shutdown(pool, ORD_DROP, &n), 0);
    assert_int_equal(ord_map(pool, square, args, 2, results, errors), EPIPE);
    assert_int_equal(errors[1], EPIPE);
    assert_int_equal(ord_pool_destroy(pool), 0);
}

struct nested {
    struct ord_pool *pool;
    int errors[3];
};

static int map_inside(void *arg, void **result)
{
    struct nested *n = arg;
    void *args[3] = { item_of(1), item_of(2), item_of(3) };
    void *results[3];

    (void)result;
    return ord_map(n->pool, square, args, 3, results, n->errors);
}

static int nested_map(unsigned nworkers)
{
    struct nested n = { .pool = pool_of(nworkers, 2) };
    void *args[1] = { &n };
    void *results[1];
    int errors[1];
    int rc = ord_map(n.pool, map_inside, args, 1, results, errors);

    end(n.pool);
    return rc;
}

static void map_in_a_task_works_or_is_refused_but_never_hangs(void **state)
{
    (void)state;
    assert_int_equal(nested_map(2), 0);
    assert_int_equal(nested_map(1), ECANCELED);
}

/* Waits for a task of its own, which may be refused. */
static int submit_and_wait(void *arg, void **result)
{
    struct ord_future f = ORD_FUTURE_INIT;
    int rc = ord_pool_submit(arg, &f, square, item_of(2), ORD_NEVER);

    (void)result;
    if (rc == 0)
        rc = ord_future_wait(&f, ORD_NEVER);
    while (rc == EDEADLK && ord_future_cancel(&f) != 0)
        if (ord_future_wait(&f, ORD_NEVER) == 0)
            rc = 0;
    return rc;
}

static int map_of_waits_inside(void *arg, void **result)
{
    void *args[2] = { arg, arg };
    void *results[2];
    int errors[2];

    (void)result;
    return ord_map(arg, submit_and_wait, args, 2, results, errors);
}

static void map_in_a_task_ends_even_if_its_tasks_wait(void **state)
{
    (void)state;
    for (int i = 0; i < 300; i++) {
        struct ord_pool *pool = pool_of(2, 4);
        void *args[1] = { pool };
        void *results[1];
        int errors[1];
        int rc = ord_map(pool, map_of_waits_inside, args, 1, results, errors);

        assert_true(rc == 0 || rc == EDEADLK || rc == ECANCELED);
        end(pool);
    }
}

static void completions_come_as_they_end_each_once(void **state)
{
    struct ord_future f[3] = { ORD_FUTURE_INIT, ORD_FUTURE_INIT,
                               ORD_FUTURE_INIT };
    static const int order[] = { 2, 0, 1 };
    struct ord_completion c;
    struct ord_future *ended = NULL;

    (void)state;
    assert_int_equal(ord_completion_init(&c, f, 0), EINVAL);
    assert_int_equal(ord_completion_init(&c, f, 3), 0);
    assert_int_equal(ord_completion_next(&c, &ended, 0), ETIMEDOUT);
    assert_null(ended);
    for (int i = 0; i < 3; i++)
        assert_int_equal(ord_future_finish(&f[order[i]], i, NULL), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ord_completion_destroy(&c), EBUSY);
        assert_int_equal(ord_completion_next(&c, &ended, ORD_NEVER), 0);
        assert_ptr_equal(ended, &f[order[i]]);
        assert_int_equal(ord_future_destroy(ended), 0);
    }
    assert_int_equal(ord_completion_next(&c, &ended, ORD_NEVER), EPIPE);
    assert_int_equal(ord_completion_destroy(&c), 0);
}

static void a_rated_submission_needs_a_token(void **state)
{
    struct ord_pool *pool = pool_of(1, 4);
    struct ord_bucket bucket;
    struct ord_future f[2] = { ORD_FUTURE_INIT, ORD_FUTURE_INIT };

    (void)state;
    assert_int_equal(ord_bucket_init(&bucket, 1, 1, NULL), 0);
    assert_int_equal(
        ord_submit_rated(&bucket, pool, &f[0], square, NULL, ORD_NEVER), 0);
    assert_int_equal(ord_submit_rated(&bucket, pool, &f[1], square, NULL,
                                      ord_deadline_after(ORD_MS)),
                     ETIMEDOUT);
    assert_int_equal(ord_future_wait(&f[0], ORD_NEVER), 0);
    assert_int_equal(ord_future_destroy(&f[0]), 0);
    assert_int_equal(ord_future_destroy(&f[1]), 0);
    end(pool);
    assert_int_equal(ord_bucket_destroy(&bucket), 0);
}

/* Which numbers were said, a bit each. */
static void note_number(size_t nended, size_t nsubmitted, void *arg)
{
    uint64_t bit = (uint64_t)1 << nended;

    assert_true(nended <= nsubmitted);
    assert_int_equal(
        __atomic_fetch_or((uint64_t *)arg, bit, __ATOMIC_RELAXED) & bit, 0);
}

static void progress_says_each_number_once(void **state)
{
    struct ord_pool *pool = pool_of(3, 4);
    struct ord_tracked t[9];
    struct ord_progress p;
    uint64_t said = 0;
    size_t n;

    (void)state;
    ord_progress_init(&p, note_number, &said);
    for (int i = 0; i < 9; i++)
        ord_future_init(&t[i].future);
    for (uintptr_t i = 0; i < 8; i++)
        assert_int_equal(
            ord_progress_submit(&p, pool, &t[i], square, item_of(i), ORD_NEVER),
            0);
    for (int i = 0; i < 8; i++)
        assert_int_equal(ord_future_wait(&t[i].future, ORD_NEVER), 0);
    assert_int_equal(said, 0x1fe);
    assert_int_equal(ord_pool_shutdown(pool, ORD_DRAIN, &n), 0);
    assert_int_equal(
        ord_progress_submit(&p, pool, &t[8], square, NULL, ORD_NEVER), EPIPE);
    assert_int_equal(p.nsubmitted, 8);
    assert_int_equal(ord_progress_destroy(&p), 0);
    assert_int_equal(ord_pool_destroy(pool), 0);
}

static void progress_is_not_destroyed_while_a_task_runs(void **state)
{
    struct ord_progress p;
    uint64_t said = 0;

    (void)state;
    ord_progress_init(&p, note_number, &said);
    p.nsubmitted = 1;
    assert_int_equal(ord_progress_destroy(&p), EBUSY);
    p.nsubmitted = 0;
    assert_int_equal(ord_progress_destroy(&p), 0);
}

struct stress {
    struct ord_pool *pool;
    ord_ns end;
};

static void collect_some(struct ord_pool *pool)
{
    struct ord_future f[6];
    struct ord_completion c;
    struct ord_future *ended;
    size_t n = 0;

    for (int i = 0; i < 6; i++)
        ord_future_init(&f[i]);
    assert_int_equal(ord_completion_init(&c, f, 6), 0);
    for (int i = 0; i < 6; i++)
        assert_int_equal(ord_pool_submit(pool, &f[i], square, NULL, ORD_NEVER),
                         0);
    for (; ord_completion_next(&c, &ended, ORD_NEVER) == 0; n++)
        assert_int_equal(ord_future_destroy(ended), 0);
    assert_int_equal(n, 6);
    assert_int_equal(ord_completion_destroy(&c), 0);
}

static void *map_and_collect(void *arg)
{
    struct stress *s = arg;
    void *args[7] = { 0, item_of(1), item_of(2), item_of(3) };
    void *results[7];
    int errors[7];

    while (ord_now() < s->end) {
        assert_int_equal(ord_map(s->pool, square, args, 7, results, errors), 0);
        assert_ptr_equal(results[3], item_of(9));
        collect_some(s->pool);
    }
    return NULL;
}

static void stress_maps_and_collects(void **state)
{
    struct stress s = { .pool = pool_of(2, 3), .end = race_end() };
    struct crew crew = { .n = 0 };

    (void)state;
    for (int i = 0; i < 3; i++)
        crew_add(&crew, map_and_collect, &s);
    crew_join(&crew);
    end(s.pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(map_answers_in_the_order_of_its_input),
        cmocka_unit_test(map_on_a_pool_that_is_shut_down_has_that_error),
        cmocka_unit_test(map_in_a_task_works_or_is_refused_but_never_hangs),
        cmocka_unit_test(map_in_a_task_ends_even_if_its_tasks_wait),
        cmocka_unit_test(completions_come_as_they_end_each_once),
        cmocka_unit_test(a_rated_submission_needs_a_token),
        cmocka_unit_test(progress_says_each_number_once),
        cmocka_unit_test(progress_is_not_destroyed_while_a_task_runs),
        cmocka_unit_test(stress_maps_and_collects),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
