/* SPDX-License-Identifier: MIT
 * test_ord_procpool.c - worker processes that answer calls.
 *
 * The workers are this program again, with "worker" as its argument. */
#include "ord/procpool.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ord_race.h"

enum { DOUBLE, PID, FAIL, DIE, HANG, LARGE };

struct request {
    int what;
    int number;
};

static int handle(const void *request, size_t request_bytes, void *reply,
                  size_t *reply_bytes, void *arg)
{
    struct request r;
    int answer;

    (void)arg;
    if (request_bytes != sizeof r)
        return EINVAL;
    memcpy(&r, request, sizeof r);
    if (r.what == FAIL)
        return ERANGE;
    if (r.what == DIE)
        _exit(1);
    while (r.what == HANG)
        pause();
    answer = r.what == PID ? getpid() : 2 * r.number;
    memcpy(reply, &answer, sizeof answer);
    *reply_bytes = r.what == LARGE ? ORD_PROCPOOL_MAX : sizeof answer;
    return 0;
}

static char self[] = "/proc/self/exe", as_worker[] = "worker";
static char *const worker_argv[] = { self, as_worker, NULL };
static struct ord_procpool pool;

static int setup(void **state)
{
    (void)state;
    return ord_procpool_init(&pool, 2, worker_argv);
}

static int teardown(void **state)
{
    (void)state;
    assert_int_equal(
        ord_procpool_shutdown(&pool, ord_deadline_after(20 * ORD_SECOND)), 0);
    assert_int_equal(ord_procpool_destroy(&pool), 0);
    /* Every worker was reaped. */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    return 0;
}

static int call(int what, int number, int *answer, ord_ns deadline)
{
    struct request request = { what, number };
    size_t size = 0;
    int rc = ord_procpool_call(&pool, &request, sizeof request, answer,
                               sizeof *answer, &size, deadline);

    assert_int_equal(size, rc == 0 ? sizeof *answer : 0);
    return rc;
}

static void a_call_is_answered_by_another_process(void **state)
{
    int answer;

    (void)state;
    assert_int_equal(call(DOUBLE, 21, &answer, ORD_NEVER), 0);
    assert_int_equal(answer, 42);
    assert_int_equal(call(PID, 0, &answer, ORD_NEVER), 0);
    assert_int_not_equal(answer, getpid());
}

static void the_handlers_error_is_the_callers(void **state)
{
    int answer = 7;

    (void)state;
    assert_int_equal(call(FAIL, 0, &answer, ORD_NEVER), ERANGE);
    assert_int_equal(answer, 7);
    assert_int_equal(ord_procpool_nreplaced(&pool), 0);
}

static void requests_and_replies_must_fit(void **state)
{
    static char large[ORD_PROCPOOL_MAX + 1];
    size_t size = 0;
    int answer;

    (void)state;
    assert_int_equal(ord_procpool_call(&pool, large, 0, large, 1, &size, 0),
                     EINVAL);
    assert_int_equal(
        ord_procpool_call(&pool, large, sizeof large, large, 1, &size, 0),
        EMSGSIZE);
    assert_int_equal(call(LARGE, 0, &answer, ORD_NEVER), EMSGSIZE);
    assert_int_equal(call(DOUBLE, 1, &answer, ORD_NEVER), 0);
    assert_int_equal(answer, 2);
}

static void a_worker_that_dies_is_replaced(void **state)
{
    int answer;

    (void)state;
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(call(DIE, 0, &answer, ORD_NEVER), ECONNRESET);
        assert_int_equal(ord_procpool_nreplaced(&pool), i);
        assert_int_equal(call(DOUBLE, i, &answer, ORD_NEVER), 0);
        assert_int_equal(answer, 2 * i);
    }
}

static void a_worker_that_hangs_is_killed_at_the_deadline(void **state)
{
    int answer;

    (void)state;
    assert_int_equal(call(HANG, 0, &answer, ord_deadline_after(5 * ORD_MS)),
                     ETIMEDOUT);
    assert_int_equal(ord_procpool_nreplaced(&pool), 1);
    assert_int_equal(call(DOUBLE, 3, &answer, ORD_NEVER), 0);
    assert_int_equal(answer, 6);
}

static void a_program_that_is_not_there_is_an_error(void **state)
{
    char path[] = "/nonexistent/program";
    char *const none[] = { path, NULL };
    struct ord_procpool empty;

    (void)state;
    assert_int_equal(ord_procpool_init(&empty, 0, none), EINVAL);
    assert_int_equal(ord_procpool_init(&empty, 2, none), ENOENT);
    assert_int_equal(ord_procpool_init(&empty, SIZE_MAX, none), ENOMEM);
}

static void a_pool_that_is_shut_refuses_calls(void **state)
{
    int answer;

    (void)state;
    assert_int_equal(ord_procpool_destroy(&pool), EBUSY);
    assert_int_equal(ord_procpool_shutdown(&pool, ORD_NEVER), 0);
    assert_int_equal(call(DOUBLE, 1, &answer, ORD_NEVER), EPIPE);
}

static void *hang_for_a_while(void *arg)
{
    int answer;

    assert_int_equal(call(HANG, 0, &answer, *(ord_ns *)arg), ETIMEDOUT);
    return NULL;
}

static void shutdown_waits_for_the_calls_inside(void **state)
{
    ord_ns end = ord_deadline_after(300 * ORD_MS);
    pthread_t callers[2];
    size_t nbusy = 0;
    int answer;

    (void)state;
    for (int i = 0; i < 2; i++)
        pthread_create(&callers[i], NULL, hang_for_a_while, &end);
    while (nbusy < 2 && ord_now() < end) {
        ord_mutex_lock(&pool.lock);
        nbusy = pool.nbusy;
        ord_mutex_unlock(&pool.lock);
        sched_yield();
    }
    assert_int_equal(call(DOUBLE, 1, &answer, ord_deadline_after(ORD_MS)),
                     ETIMEDOUT);
    assert_int_equal(ord_procpool_shutdown(&pool, ord_deadline_after(ORD_MS)),
                     ETIMEDOUT);
    assert_int_equal(ord_procpool_destroy(&pool), EBUSY);
    for (int i = 0; i < 2; i++)
        pthread_join(callers[i], NULL);
}

static void *call_until(void *arg)
{
    const ord_ns *end = arg;

    for (int i = 0; ord_now() < *end; i++) {
        int answer = 0;
        if (i % 50 == 49) {
            assert_int_equal(call(DIE, 0, &answer, ORD_NEVER), ECONNRESET);
            continue;
        }
        assert_int_equal(call(DOUBLE, i, &answer, ORD_NEVER), 0);
        assert_int_equal(answer, 2 * i);
    }
    return NULL;
}

static void every_caller_gets_its_own_answer_under_stress(void **state)
{
    ord_ns end = race_end();

    (void)state;
    race_run(4, call_until, &end);
    assert_int_equal(pool.nbusy, 0);
}

#define WITH_POOL(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        WITH_POOL(a_call_is_answered_by_another_process),
        WITH_POOL(the_handlers_error_is_the_callers),
        WITH_POOL(requests_and_replies_must_fit),
        WITH_POOL(a_worker_that_dies_is_replaced),
        WITH_POOL(a_worker_that_hangs_is_killed_at_the_deadline),
        cmocka_unit_test(a_program_that_is_not_there_is_an_error),
        WITH_POOL(a_pool_that_is_shut_refuses_calls),
        WITH_POOL(shutdown_waits_for_the_calls_inside),
        WITH_POOL(every_caller_gets_its_own_answer_under_stress),
    };

    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return ord_procpool_serve(handle, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
