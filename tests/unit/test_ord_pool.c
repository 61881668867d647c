/* SPDX-License-Identifier: MIT
 * test_ord_pool.c - workers over a bounded queue. */
#include <errno.h>
#include <semaphore.h>

#include "ord_threads.h"

#include "ord/pool.h"

/* A gate holds a worker in a task until the test lets it go. */
struct gate {
    struct ord_future future;
    sem_t entered;
    sem_t open;
};

static int pass_gate(void *arg, void **result)
{
    struct gate *gate = arg;

    (void)result;
    sem_post(&gate->entered);
    sem_wait(&gate->open);
    return 0;
}

/* Returns once the task stands in the gate. */
static void occupy(struct ord_pool *pool, struct gate *gate)
{
    ord_future_init(&gate->future);
    sem_init(&gate->entered, 0, 0);
    sem_init(&gate->open, 0, 0);
    assert_int_equal(
        ord_pool_submit(pool, &gate->future, pass_gate, gate, ORD_NEVER), 0);
    sem_wait(&gate->entered);
}

static void let_go(struct gate *gate)
{
    sem_post(&gate->open);
    assert_int_equal(ord_future_wait(&gate->future, ORD_NEVER), 0);
    assert_int_equal(ord_future_destroy(&gate->future), 0);
    sem_destroy(&gate->entered);
    sem_destroy(&gate->open);
}

/* Prices an order, unless it is number 5. */
static int price(void *arg, void **result)
{
    uintptr_t n = (uintptr_t)arg;

    if (n == 5)
        return EACCES;
    *result = item_of(50 + 25 * n);
    return 0;
}

static int error_of(struct ord_future *f)
{
    int error = -1;
    void *result;

    assert_int_equal(ord_future_wait(f, ORD_NEVER), 0);
    assert_int_equal(ord_future_result(f, &error, &result), 0);
    return error;
}

static void end(struct ord_pool *pool, enum ord_shutdown how, size_t expected)
{
    size_t n = 99;

    assert_int_equal(ord_pool_shutdown(pool, how, &n), 0);
    assert_int_equal(n, expected);
    assert_int_equal(ord_pool_destroy(pool), 0);
}

static void an_error_goes_to_its_future_and_kills_no_worker(void **state)
{
    struct ord_pool *pool;
    struct ord_future f[9];

    (void)state;
    assert_int_equal(ord_pool_create(&pool, 1, 4), 0);
    for (uintptr_t n = 1; n <= 8; n++) {
        ord_future_init(&f[n]);
        assert_int_equal(
            ord_pool_submit(pool, &f[n], price, item_of(n), ORD_NEVER), 0);
    }
    for (uintptr_t n = 1; n <= 8; n++) {
        int error;
        void *result;

        assert_int_equal(ord_future_wait(&f[n], ORD_NEVER), 0);
        assert_int_equal(ord_future_result(&f[n], &error, &result), 0);
        assert_int_equal(error, n == 5 ? EACCES : 0);
        assert_ptr_equal(result, n == 5 ? NULL : item_of(50 + 25 * n));
        assert_int_equal(ord_future_destroy(&f[n]), 0);
    }
    end(pool, ORD_DRAIN, 0);
}

static void create_and_shutdown_refuse_bad_arguments(void **state)
{
    struct ord_pool *pool = NULL;
    size_t n;

    (void)state;
    assert_int_equal(ord_pool_create(&pool, 0, 1), EINVAL);
    assert_int_equal(ord_pool_create(&pool, 1, 0), EINVAL);
    assert_null(pool);
    assert_int_equal(ord_pool_create(&pool, 3, 1), 0);
    assert_int_equal(ord_pool_nworkers(pool), 3);
    assert_int_equal(ord_pool_shutdown(pool, (enum ord_shutdown)7, &n), EINVAL);
    end(pool, ORD_DROP, 0);
}

static void a_full_queue_refuses_or_times_out(void **state)
{
    struct ord_pool *pool;
    struct gate gate;
    struct ord_future queued = ORD_FUTURE_INIT;
    struct ord_future refused = ORD_FUTURE_INIT;
    ord_ns deadline;

    (void)state;
    assert_int_equal(ord_pool_create(&pool, 1, 1), 0);
    occupy(pool, &gate);
    assert_int_equal(ord_pool_offer(pool, &queued, price, item_of(1)), 0);
    assert_int_equal(ord_pool_offer(pool, &queued, price, item_of(1)), EBUSY);
    assert_int_equal(ord_pool_submit(pool, &queued, price, NULL, 0), EBUSY);
    assert_int_equal(ord_pool_offer(pool, &refused, price, NULL), EAGAIN);
    deadline = ord_deadline_after(3 * ORD_MS);
    assert_int_equal(ord_pool_submit(pool, &refused, price, NULL, deadline),
                     ETIMEDOUT);
    assert_true(ord_now() >= deadline);
    assert_int_equal(ord_future_destroy(&refused), 0);
    let_go(&gate);
    assert_int_equal(error_of(&queued), 0);
    end(pool, ORD_DRAIN, 0);
}

static void a_queued_task_can_be_cancelled_and_is_gone_at_once(void **state)
{
    struct ord_pool *pool;
    struct gate gate;
    struct ord_future f = ORD_FUTURE_INIT;

    (void)state;
    assert_int_equal(ord_pool_create(&pool, 1, 1), 0);
    occupy(pool, &gate);
    assert_int_equal(ord_future_cancel(&gate.future), EBUSY);
    assert_int_equal(ord_pool_offer(pool, &f, price, item_of(1)), 0);
    assert_int_equal(ord_future_cancel(&f), 0);
    assert_int_equal(error_of(&f), ECANCELED);
    assert_int_equal(ord_future_destroy(&f), 0);
    let_go(&gate);
    end(pool, ORD_DRAIN, 0);
}

struct shutdown {
    struct ord_pool *pool;
    enum ord_shutdown how;
    size_t n;
};

static void *shut_down(void *arg)
{
    struct shutdown *s = arg;

    return item_of((uintptr_t)ord_pool_shutdown(s->pool, s->how, &s->n));
}

/* Two tasks wait behind the gate when the pool is shut down. */
static void shut_down_with_two_queued(enum ord_shutdown how, int expected)
{
    struct shutdown s = { .how = how };
    struct ord_future f[2] = { ORD_FUTURE_INIT, ORD_FUTURE_INIT };
    struct ord_future late = ORD_FUTURE_INIT;
    struct crew crew = { .n = 0 };
    struct gate gate;
    int rc;

    assert_int_equal(ord_pool_create(&s.pool, 1, 2), 0);
    occupy(s.pool, &gate);
    for (uintptr_t i = 0; i < 2; i++)
        assert_int_equal(ord_pool_offer(s.pool, &f[i], price, item_of(i)), 0);
    assert_int_equal(ord_pool_destroy(s.pool), EBUSY);
    crew_add(&crew, shut_down, &s);
    while ((rc = ord_pool_offer(s.pool, &late, price, NULL)) == EAGAIN)
        sched_yield();
    assert_int_equal(rc, EPIPE); /* it closes before it drops */
    assert_int_equal(ord_pool_submit(s.pool, &late, price, NULL, ORD_NEVER),
                     EPIPE);
    assert_int_equal(ord_pool_shutdown(s.pool, how, &s.n), EPIPE);
    let_go(&gate);
    crew_join(&crew);
    assert_int_equal(s.n, 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(error_of(&f[i]), expected);
    assert_int_equal(ord_pool_destroy(s.pool), 0);
}

static void shutdown_drains_and_says_how_many(void **state)
{
    (void)state;
    shut_down_with_two_queued(ORD_DRAIN, 0);
}

static void shutdown_drops_cancels_and_says_how_many(void **state)
{
    (void)state;
    shut_down_with_two_queued(ORD_DROP, ECANCELED);
}

/* A task that does something to its own pool and returns what that said. */
struct inner {
    struct ord_pool *pool;
    struct ord_future *target;
    sem_t *start; /* waited for first, unless NULL */
    struct ord_future more[2];
};

static int wait_inside(void *arg, void **result)
{
    struct inner *in = arg;

    (void)result;
    if (in->start)
        sem_wait(in->start);
    return ord_future_wait(in->target, ORD_NEVER);
}

static int submit_and_wait_inside(void *arg, void **result)
{
    struct inner *in = arg;
    int rc = ord_pool_submit(in->pool, &in->more[0], price, NULL, ORD_NEVER);

    (void)result;
    return rc ? rc : ord_future_wait(&in->more[0], ORD_NEVER);
}

static int submit_twice_inside(void *arg, void **result)
{
    struct inner *in = arg;
    int rc = ord_pool_submit(in->pool, &in->more[0], price, NULL, ORD_NEVER);

    (void)result;
    if (rc == 0)
        rc = ord_pool_submit(in->pool, &in->more[1], price, NULL, ORD_NEVER);
    return rc;
}

static int shut_down_inside(void *arg, void **result)
{
    struct inner *in = arg;
    size_t n;

    (void)result;
    return ord_pool_shutdown(in->pool, ORD_DROP, &n);
}

/* Runs one task in a pool of so many workers. */
static int run_inside(unsigned nworkers, ord_task task)
{
    struct inner in = { .more = { ORD_FUTURE_INIT, ORD_FUTURE_INIT } };
    struct ord_future f = ORD_FUTURE_INIT;
    size_t n;
    int error;

    assert_int_equal(ord_pool_create(&in.pool, nworkers, 1), 0);
    in.target = &f;
    assert_int_equal(ord_pool_submit(in.pool, &f, task, &in, ORD_NEVER), 0);
    error = error_of(&f);
    assert_int_equal(ord_pool_shutdown(in.pool, ORD_DRAIN, &n), 0);
    assert_int_equal(ord_pool_destroy(in.pool), 0);
    return error;
}

static void a_task_may_wait_while_a_worker_is_left(void **state)
{
    (void)state;
    assert_int_equal(run_inside(2, submit_and_wait_inside), 0);
}

static void a_wait_by_the_last_worker_is_refused(void **state)
{
    (void)state;
    assert_int_equal(run_inside(1, submit_and_wait_inside), EDEADLK);
}

static void a_wait_for_itself_is_refused(void **state)
{
    (void)state;
    assert_int_equal(run_inside(3, wait_inside), EDEADLK);
}

static void a_submission_by_the_last_worker_is_refused_when_full(void **state)
{
    (void)state;
    assert_int_equal(run_inside(1, submit_twice_inside), EDEADLK);
}

static int help_inside(void *arg, void **result)
{
    struct inner *in = arg;
    int rc = ord_pool_help(in->pool);

    (void)result;
    if (rc != EAGAIN)
        return -1;
    ord_pool_submit(in->pool, &in->more[0], price, NULL, ORD_NEVER);
    rc = ord_pool_help(in->pool);
    return rc ? rc : ord_future_wait(&in->more[0], 0);
}

static void a_task_may_run_a_queued_one_itself(void **state)
{
    struct ord_pool *pool;

    (void)state;
    assert_int_equal(run_inside(1, help_inside), 0);
    assert_int_equal(ord_pool_create(&pool, 1, 1), 0);
    assert_int_equal(ord_pool_help(pool), EINVAL);
    end(pool, ORD_DRAIN, 0);
}

static void shutdown_in_a_task_is_refused(void **state)
{
    (void)state;
    assert_int_equal(run_inside(2, shut_down_inside), EDEADLK);
}

static void two_tasks_that_wait_for_each_other_lose_one_wait(void **state)
{
    struct ord_future f[2] = { ORD_FUTURE_INIT, ORD_FUTURE_INIT };
    struct ord_pool *pool;
    sem_t start;
    struct inner in[2];
    int errors[2];

    (void)state;
    sem_init(&start, 0, 0);
    assert_int_equal(ord_pool_create(&pool, 3, 2), 0);
    for (int i = 0; i < 2; i++) {
        in[i] = (struct inner){ .target = &f[1 - i], .start = &start };
        assert_int_equal(
            ord_pool_submit(pool, &f[i], wait_inside, &in[i], ORD_NEVER), 0);
    }
    sem_post(&start);
    sem_post(&start);
    errors[0] = error_of(&f[0]);
    errors[1] = error_of(&f[1]);
    assert_int_equal(errors[0] + errors[1], EDEADLK);
    end(pool, ORD_DRAIN, 0);
    sem_destroy(&start);
}

/* Tasks that count, some cancelled, some submitted by tasks. */
struct stress {
    struct ord_pool *pool;
    ord_ns end;
    uint64_t nrun; /* atomic, as the rest */
    uint64_t naccepted;
    uint64_t ncancelled;
};

static int count(void *arg, void **result)
{
    struct stress *s = arg;

    (void)result;
    __atomic_fetch_add(&s->nrun, 1, __ATOMIC_RELAXED);
    return 0;
}

static void try_one(struct stress *s, bool cancel)
{
    struct ord_future f = ORD_FUTURE_INIT;
    int rc = ord_pool_submit(s->pool, &f, count, s,
                             ord_deadline_after(cancel ? ORD_US : ORD_MS));

    if (rc == 0) {
        __atomic_fetch_add(&s->naccepted, 1, __ATOMIC_RELAXED);
        rc = cancel ? ord_future_cancel(&f) : EBUSY;
        if (rc == EBUSY)
            rc = ord_future_wait(&f, ORD_NEVER);
        else
            __atomic_fetch_add(&s->ncancelled, 1, __ATOMIC_RELAXED);
        /* A wait by the last worker: it must take the task back. */
        while (rc == EDEADLK && ord_future_cancel(&f) != 0)
            rc = ord_future_wait(&f, ORD_NEVER);
        if (rc == EDEADLK)
            __atomic_fetch_add(&s->ncancelled, 1, __ATOMIC_RELAXED);
    }
    assert_int_equal(ord_future_destroy(&f), 0);
}

static int nest(void *arg, void **result)
{
    try_one(arg, false);
    return count(arg, result);
}

static void *submit_many(void *arg)
{
    struct stress *s = arg;

    for (unsigned i = 0; ord_now() < s->end; i++) {
        struct ord_future f = ORD_FUTURE_INIT;
        try_one(s, i % 2 == 0);
        if (ord_pool_offer(s->pool, &f, nest, s) != 0)
            continue;
        __atomic_fetch_add(&s->naccepted, 1, __ATOMIC_RELAXED);
        ord_future_wait(&f, ORD_NEVER);
        assert_int_equal(ord_future_destroy(&f), 0);
    }
    return NULL;
}

static void stress_runs_or_cancels_each_task(void **state)
{
    struct stress s = { .end = race_end() };
    struct crew crew = { .n = 0 };

    (void)state;
    assert_int_equal(ord_pool_create(&s.pool, 2, 2), 0);
    for (int i = 0; i < 4; i++)
        crew_add(&crew, submit_many, &s);
    crew_join(&crew);
    end(s.pool, ORD_DRAIN, 0);
    assert_int_equal(s.naccepted, s.nrun + s.ncancelled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_goes_to_its_future_and_kills_no_worker),
        cmocka_unit_test(create_and_shutdown_refuse_bad_arguments),
        cmocka_unit_test(a_full_queue_refuses_or_times_out),
        cmocka_unit_test(a_queued_task_can_be_cancelled_and_is_gone_at_once),
        cmocka_unit_test(shutdown_drains_and_says_how_many),
        cmocka_unit_test(shutdown_drops_cancels_and_says_how_many),
        cmocka_unit_test(a_task_may_wait_while_a_worker_is_left),
        cmocka_unit_test(a_wait_by_the_last_worker_is_refused),
        cmocka_unit_test(a_wait_for_itself_is_refused),
        cmocka_unit_test(a_submission_by_the_last_worker_is_refused_when_full),
        cmocka_unit_test(a_task_may_run_a_queued_one_itself),
        cmocka_unit_test(shutdown_in_a_task_is_refused),
        cmocka_unit_test(two_tasks_that_wait_for_each_other_lose_one_wait),
        cmocka_unit_test(stress_runs_or_cancels_each_task),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
