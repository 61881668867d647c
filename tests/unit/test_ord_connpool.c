/* SPDX-License-Identifier: MIT
 * test_ord_connpool.c - connections that are lent out and come back. */
#include "ord/connpool.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ord_race.h"

/* A server of connections: each is one heap block, so that what is not closed
 * is a leak and what is closed twice an error. */
struct connection {
    bool is_healthy;
    bool in_use; /* atomic; by a borrower */
};

static struct ord_connpool pool;
static int open_fails;      /* with this error, if not 0 */
static size_t nopen, npeak; /* atomic */

static int open_one(void *ctx, ord_ns deadline, void **connection)
{
    struct connection *c;

    (void)ctx;
    (void)deadline;
    /* Would be EDEADLK if the lock were held here. */
    assert_int_equal(ord_mutex_lock(&pool.lock), 0);
    assert_int_equal(ord_mutex_unlock(&pool.lock), 0);
    if (open_fails)
        return open_fails;
    c = calloc(1, sizeof *c);
    assert_non_null(c);
    c->is_healthy = true;
    *connection = c;
    if (__atomic_add_fetch(&nopen, 1, __ATOMIC_RELAXED) >
        __atomic_load_n(&npeak, __ATOMIC_RELAXED))
        __atomic_fetch_add(&npeak, 1, __ATOMIC_RELAXED);
    return 0;
}

static bool is_healthy(void *ctx, void *connection)
{
    (void)ctx;
    assert_int_equal(ord_mutex_lock(&pool.lock), 0);
    assert_int_equal(ord_mutex_unlock(&pool.lock), 0);
    return ((struct connection *)connection)->is_healthy;
}

static void close_one(void *ctx, void *connection)
{
    (void)ctx;
    assert_int_equal(ord_mutex_lock(&pool.lock), 0);
    assert_int_equal(ord_mutex_unlock(&pool.lock), 0);
    __atomic_fetch_sub(&nopen, 1, __ATOMIC_RELAXED);
    free(connection);
}

static const struct ord_connpool_calls calls = { open_one, is_healthy,
                                                 close_one, NULL };

static int setup(void **state)
{
    (void)state;
    open_fails = 0;
    nopen = npeak = 0;
    return ord_connpool_init(&pool, 2, &calls);
}

static int teardown(void **state)
{
    (void)state;
    assert_int_equal(ord_connpool_shutdown(&pool, ORD_NEVER), 0);
    assert_int_equal(nopen, 0);
    return ord_connpool_destroy(&pool);
}

static struct connection *acquire(void)
{
    void *connection = NULL;

    assert_int_equal(ord_connpool_acquire(&pool, &connection, ORD_NEVER), 0);
    return connection;
}

static struct ord_connpool_figures figures(void)
{
    struct ord_connpool_figures f;

    ord_connpool_read(&pool, &f);
    return f;
}

static void one_that_came_back_is_lent_again(void **state)
{
    struct connection *first = acquire();

    (void)state;
    assert_int_equal(ord_connpool_release(&pool, first, false), 0);
    assert_int_equal(figures().nidle, 1);
    assert_ptr_equal(acquire(), first);
    assert_int_equal(figures().nopened, 1);
    assert_int_equal(figures().nlent, 1);
    ord_connpool_release(&pool, first, false);
}

static void no_more_than_the_capacity_are_open(void **state)
{
    struct connection *first = acquire(), *second = acquire();
    void *third = NULL;

    (void)state;
    assert_ptr_not_equal(first, second);
    assert_int_equal(
        ord_connpool_acquire(&pool, &third, ord_deadline_after(ORD_MS)),
        ETIMEDOUT);
    assert_null(third);
    assert_int_equal(nopen, 2);
    ord_connpool_release(&pool, first, false);
    ord_connpool_release(&pool, second, false);
}

static void an_open_that_fails_gives_its_slot_back(void **state)
{
    struct connection *first, *second;
    void *none = NULL;

    (void)state;
    open_fails = ECONNREFUSED;
    for (int i = 0; i < 5; i++)
        assert_int_equal(ord_connpool_acquire(&pool, &none, ORD_NEVER),
                         ECONNREFUSED);
    assert_null(none);
    assert_int_equal(figures().nfailed, 5);
    open_fails = 0;
    first = acquire();
    second = acquire();
    ord_connpool_release(&pool, first, false);
    ord_connpool_release(&pool, second, false);
}

static void a_broken_idle_connection_is_replaced(void **state)
{
    struct connection *first = acquire(), *second;

    (void)state;
    first->is_healthy = false;
    ord_connpool_release(&pool, first, false);
    second = acquire();
    assert_true(second->is_healthy);
    assert_int_equal(figures().nbroken, 1);
    assert_int_equal(figures().nopened, 2);
    assert_int_equal(nopen, 1);
    ord_connpool_release(&pool, second, false);
}

static void a_broken_one_whose_replacement_fails_frees_its_slot(void **state)
{
    struct connection *first = acquire();
    void *none;

    (void)state;
    first->is_healthy = false;
    ord_connpool_release(&pool, first, false);
    open_fails = ECONNREFUSED;
    assert_int_equal(ord_connpool_acquire(&pool, &none, ORD_NEVER),
                     ECONNREFUSED);
    assert_int_equal(figures().nidle + figures().nlent, 0);
    open_fails = 0;
    ord_connpool_release(&pool, acquire(), false);
}

static void one_released_as_broken_is_closed(void **state)
{
    (void)state;
    assert_int_equal(ord_connpool_release(&pool, acquire(), true), 0);
    assert_int_equal(nopen, 0);
    assert_int_equal(figures().nbroken, 1);
    assert_int_equal(figures().nidle, 0);
}

static void what_is_not_lent_is_not_taken_back(void **state)
{
    struct connection *first = acquire();

    (void)state;
    assert_int_equal(ord_connpool_release(&pool, state, false), EINVAL);
    assert_int_equal(ord_connpool_release(&pool, first, false), 0);
    assert_int_equal(ord_connpool_release(&pool, first, false), EINVAL);
    assert_int_equal(ord_connpool_release(&pool, first, true), EINVAL);
    assert_int_equal(figures().nbroken, 0);
}

static void a_pool_of_none_is_refused(void **state)
{
    struct ord_connpool none;

    (void)state;
    assert_int_equal(ord_connpool_init(&none, 0, &calls), EINVAL);
    assert_int_equal(ord_connpool_init(&none, SIZE_MAX, &calls), ENOMEM);
}

struct borrower {
    pthread_t thread;
    int rc;
    void *connection;
};

static void *borrow(void *arg)
{
    struct borrower *borrower = arg;

    borrower->rc =
        ord_connpool_acquire(&pool, &borrower->connection, ORD_NEVER);
    return NULL;
}

static void start_waiting(struct borrower *borrower)
{
    pthread_create(&borrower->thread, NULL, borrow, borrower);
    race_await_waiters(&pool.lock, &pool.available, 1);
}

static void one_who_waits_gets_what_comes_back(void **state)
{
    struct connection *first = acquire(), *second = acquire();
    struct borrower borrower;

    (void)state;
    start_waiting(&borrower);
    assert_int_equal(ord_connpool_destroy(&pool), EBUSY);
    ord_connpool_release(&pool, second, false);
    pthread_join(borrower.thread, NULL);
    assert_int_equal(borrower.rc, 0);
    assert_ptr_equal(borrower.connection, second);
    ord_connpool_release(&pool, first, false);
    ord_connpool_release(&pool, second, false);
}

static void one_who_waits_opens_one_for_a_broken_one(void **state)
{
    struct connection *first = acquire(), *second = acquire();
    struct borrower borrower;

    (void)state;
    start_waiting(&borrower);
    ord_connpool_release(&pool, second, true);
    pthread_join(borrower.thread, NULL);
    assert_int_equal(borrower.rc, 0);
    assert_int_equal(figures().nopened, 3);
    ord_connpool_release(&pool, borrower.connection, false);
    ord_connpool_release(&pool, first, false);
}

static void shutdown_refuses_and_waits_for_what_is_lent(void **state)
{
    struct connection *first = acquire(), *second = acquire();
    struct borrower borrower;
    void *none;

    (void)state;
    start_waiting(&borrower);
    assert_int_equal(ord_connpool_shutdown(&pool, ord_deadline_after(ORD_MS)),
                     ETIMEDOUT);
    pthread_join(borrower.thread, NULL);
    assert_int_equal(borrower.rc, EPIPE);
    assert_int_equal(ord_connpool_acquire(&pool, &none, ORD_NEVER), EPIPE);
    assert_int_equal(ord_connpool_destroy(&pool), EBUSY);
    assert_int_equal(ord_connpool_release(&pool, first, false), 0);
    assert_int_equal(nopen, 1);
    assert_int_equal(ord_connpool_release(&pool, second, true), 0);
    assert_int_equal(nopen, 0);
}

static void shutdown_closes_what_is_idle(void **state)
{
    struct connection *first = acquire();

    (void)state;
    ord_connpool_release(&pool, first, false);
    assert_int_equal(ord_connpool_destroy(&pool), EBUSY);
    assert_int_equal(ord_connpool_shutdown(&pool, 0), 0);
    assert_int_equal(nopen, 0);
}

static void *borrow_until(void *arg)
{
    const ord_ns *end = arg;
    unsigned seed = (unsigned)ord_now();

    while (ord_now() < *end) {
        void *found;
        struct connection *c;
        int rc = ord_connpool_acquire(&pool, &found,
                                      ord_deadline_after(50 * ORD_US));
        if (rc == ETIMEDOUT)
            continue;
        assert_int_equal(rc, 0);
        c = found;
        assert_false(__atomic_exchange_n(&c->in_use, true, __ATOMIC_RELAXED));
        c->is_healthy = rand_r(&seed) % 8 != 0;
        __atomic_store_n(&c->in_use, false, __ATOMIC_RELAXED);
        assert_int_equal(ord_connpool_release(&pool, c, rand_r(&seed) % 8 == 0),
                         0);
    }
    return NULL;
}

static void no_connection_has_two_borrowers_under_stress(void **state)
{
    ord_ns end = race_end();

    (void)state;
    race_run(5, borrow_until, &end);
    assert_in_range(npeak, 1, 2);
    assert_int_equal(figures().nlent, 0);
    assert_int_equal(figures().nopened - figures().nbroken, figures().nidle);
}

#define WITH_POOL(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_POOL(one_that_came_back_is_lent_again),
        WITH_POOL(no_more_than_the_capacity_are_open),
        WITH_POOL(an_open_that_fails_gives_its_slot_back),
        WITH_POOL(a_broken_idle_connection_is_replaced),
        WITH_POOL(a_broken_one_whose_replacement_fails_frees_its_slot),
        WITH_POOL(one_released_as_broken_is_closed),
        WITH_POOL(what_is_not_lent_is_not_taken_back),
        cmocka_unit_test(a_pool_of_none_is_refused),
        WITH_POOL(one_who_waits_gets_what_comes_back),
        WITH_POOL(one_who_waits_opens_one_for_a_broken_one),
        WITH_POOL(shutdown_refuses_and_waits_for_what_is_lent),
        WITH_POOL(shutdown_closes_what_is_idle),
        WITH_POOL(no_connection_has_two_borrowers_under_stress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
