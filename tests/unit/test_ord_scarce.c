/* SPDX-License-Identifier: MIT
 *
 * test_ord_scarce.c - what owns memory or threads, when there is none left.
 *
 * Memory is asked for in amounts that nobody has. Threads are denied by an
 * interposed pthread_create(), which fails from the nth call on: every place
 * where a start can fail is passed, and what was started before has ended.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ord_race.h"

#include <dlfcn.h>
#include <errno.h>

#include "ord/bank.h"
#include "ord/dropqueue.h"
#include "ord/pipeline.h"
#include "ord/pool.h"
#include "ord/queue.h"
#include "ord/thread.h"
#include "ord/timer.h"

/* How many more threads may be made; -1: any. */
static int threads_left = -1;

typedef int (*create_fn)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                         void *);

int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                   void *(*routine)(void *), void *arg)
{
    if (threads_left == 0)
        return EAGAIN;
    if (threads_left > 0)
        threads_left--;
    return ((create_fn)dlsym(RTLD_NEXT, "pthread_create"))(thread, attr,
                                                           routine, arg);
}

static void a_queue_that_does_not_fit_is_refused(void **state)
{
    struct ord_queue queue;
    struct ord_dropqueue dropping;

    (void)state;
    assert_int_equal(ord_queue_init(&queue, ORD_FIFO, SIZE_MAX), ENOMEM);
    assert_int_equal(ord_queue_init(&queue, ORD_PRIORITY, SIZE_MAX / 64),
                     ENOMEM);
    assert_int_equal(ord_dropqueue_init(&dropping, ORD_DROP_NEWEST, SIZE_MAX),
                     ENOMEM);
}

static void a_pool_whose_queue_does_not_fit_is_refused(void **state)
{
    struct ord_pool *pool = NULL;

    (void)state;
    assert_int_equal(ord_pool_create(&pool, 2, SIZE_MAX), ENOMEM);
    assert_null(pool);
}

static int work(void *arg, void **result)
{
    *result = arg;
    return 0;
}

static void a_pool_without_all_its_workers_is_not_made(void **state)
{
    struct ord_pool *pool;
    size_t ndrained;

    (void)state;
    for (int n = 0; n < 4; n++) {
        pool = NULL;
        threads_left = n;
        assert_int_equal(ord_pool_create(&pool, 4, 8), EAGAIN);
        threads_left = -1;
        assert_null(pool);
    }
    assert_int_equal(ord_pool_create(&pool, 4, 8), 0);
    assert_int_equal(ord_pool_shutdown(pool, ORD_DRAIN, &ndrained), 0);
    assert_int_equal(ord_pool_destroy(pool), 0);
}

static void never(void *unused)
{
    (void)unused;
}

static void what_needs_one_thread_says_so(void **state)
{
    struct ord_thread thread;
    struct ord_periodic periodic;
    struct ord_timer timer;
    struct ord_bank bank;

    (void)state;
    threads_left = 0;
    assert_int_equal(ord_thread_start(&thread, work, NULL), EAGAIN);
    assert_int_equal(ord_periodic_start(&periodic, ORD_SECOND, never, NULL),
                     EAGAIN);
    assert_int_equal(ord_timer_start(&timer, ORD_NEVER, never, NULL), EAGAIN);
    assert_int_equal(ord_bank_init(&bank, 4), EAGAIN);
    threads_left = -1;
}

static int pass(void *ctx, void *in, void **out)
{
    (void)ctx;
    *out = in;
    return 0;
}

static void a_pipeline_without_all_its_stages_is_not_made(void **state)
{
    const struct ord_stage stage = { pass, NULL, 1, 4 };
    const struct ord_stage stages[] = { stage, stage, stage };
    const struct ord_stage huge = { pass, NULL, 1, SIZE_MAX };
    struct ord_pipeline *pipeline = NULL;

    (void)state;
    for (int n = 0; n < 3; n++) {
        threads_left = n;
        assert_int_equal(ord_pipeline_create(&pipeline, stages, 3, 4, NULL),
                         EAGAIN);
        threads_left = -1;
        assert_null(pipeline);
    }
    assert_int_equal(ord_pipeline_create(&pipeline, &huge, 1, 4, NULL), ENOMEM);
    assert_null(pipeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queue_that_does_not_fit_is_refused),
        cmocka_unit_test(a_pool_whose_queue_does_not_fit_is_refused),
        cmocka_unit_test(a_pool_without_all_its_workers_is_not_made),
        cmocka_unit_test(what_needs_one_thread_says_so),
        cmocka_unit_test(a_pipeline_without_all_its_stages_is_not_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
