/* SPDX-License-Identifier: MIT
 *
 * test_ord_rwlock.c - who is let in, who waits, and who is refused.
 */
#include "ord_thread.h"

#include <errno.h>
#include <stdatomic.h>

#include "ord/rwlock.h"

enum { THREADS = 4 };

static struct ord_rwlock lock = ORD_RWLOCK_INIT;
static struct ord_rw_hold hold;

static int set_up(void **state)
{
    (void)state;
    ord_rwlock_init(&lock);
    hold = (struct ord_rw_hold)ORD_RW_HOLD_INIT;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return ord_rwlock_destroy(&lock);
}

/* A thread that goes in, says so, and leaves when it is told. */
struct visitor {
    pthread_t thread;
    int is_writer;
    ord_ns deadline;
    atomic_int is_inside, may_leave;
};

static void *visit(void *arg)
{
    struct visitor *me = arg;
    struct ord_rw_hold mine = ORD_RW_HOLD_INIT;
    int rc = me->is_writer ? ord_rwlock_timedwrite(&lock, &mine, me->deadline)
                           : ord_rwlock_timedread(&lock, &mine, me->deadline);

    if (rc != 0)
        return result(rc);
    atomic_store(&me->is_inside, 1);
    while (!atomic_load(&me->may_leave))
        sched_yield();
    return result(ord_rwlock_unlock(&lock, &mine));
}

static void send_in(struct visitor *visitor, int is_writer, ord_ns deadline)
{
    visitor->is_writer = is_writer;
    visitor->deadline = deadline;
    atomic_init(&visitor->is_inside, 0);
    atomic_init(&visitor->may_leave, 0);
    start(&visitor->thread, visit, visitor);
}

static int is_inside(void *visitor)
{
    return atomic_load(&((struct visitor *)visitor)->is_inside);
}

static void let_out(struct visitor *visitor)
{
    eventually(is_inside, visitor);
    atomic_store(&visitor->may_leave, 1);
    assert_int_equal(join(visitor->thread), 0);
}

static int counts_are(void *expected)
{
    const struct ord_rw_counts *e = expected;
    struct ord_rw_counts c;

    ord_rwlock_counts(&lock, &c);
    return c.readers == e->readers && c.writers == e->writers &&
           c.readers_waiting == e->readers_waiting &&
           c.writers_waiting == e->writers_waiting;
}

static void await_counts(unsigned readers, unsigned writers,
                         unsigned readers_waiting, unsigned writers_waiting)
{
    struct ord_rw_counts expected = { readers, writers, readers_waiting,
                                      writers_waiting };

    eventually(counts_are, &expected);
}

static void *try_to_read(void *unused)
{
    struct ord_rw_hold mine = ORD_RW_HOLD_INIT;
    int rc = ord_rwlock_tryread(&lock, &mine);

    (void)unused;
    if (rc == 0)
        ord_rwlock_unlock(&lock, &mine);
    return result(rc);
}

static void *try_to_write(void *unused)
{
    struct ord_rw_hold mine = ORD_RW_HOLD_INIT;
    int rc = ord_rwlock_trywrite(&lock, &mine);

    (void)unused;
    if (rc == 0)
        ord_rwlock_unlock(&lock, &mine);
    return result(rc);
}

static void readers_are_inside_together_and_no_writer(void **state)
{
    struct visitor readers[5];

    (void)state;
    for (int i = 0; i < 5; i++)
        send_in(&readers[i], 0, ORD_NEVER);
    await_counts(5, 0, 0, 0);
    assert_int_equal(in_a_thread(try_to_read, NULL), 0);
    assert_int_equal(in_a_thread(try_to_write, NULL), EBUSY);
    for (int i = 0; i < 5; i++)
        let_out(&readers[i]);
    assert_int_equal(in_a_thread(try_to_write, NULL), 0);
}

static void a_writer_is_inside_alone(void **state)
{
    (void)state;
    assert_int_equal(ord_rwlock_write(&lock, &hold), 0);
    await_counts(0, 1, 0, 0);
    assert_int_equal(in_a_thread(try_to_read, NULL), EBUSY);
    assert_int_equal(in_a_thread(try_to_write, NULL), EBUSY);
    assert_int_equal(ord_rwlock_unlock(&lock, &hold), 0);
    assert_int_equal(in_a_thread(try_to_read, NULL), 0);
}

static void a_reader_queues_behind_a_writer_that_waits(void **state)
{
    struct visitor writer, late;

    (void)state;
    assert_int_equal(ord_rwlock_read(&lock, &hold), 0);
    send_in(&writer, 1, ORD_NEVER);
    await_counts(1, 0, 0, 1);
    assert_int_equal(in_a_thread(try_to_read, NULL), EBUSY);
    send_in(&late, 0, ORD_NEVER);
    await_counts(1, 0, 1, 1);
    assert_int_equal(ord_rwlock_unlock(&lock, &hold), 0);
    await_counts(0, 1, 1, 0);
    let_out(&writer);
    let_out(&late);
}

static void a_writer_that_waits_goes_before_readers_that_wait(void **state)
{
    struct visitor writer, reader;

    (void)state;
    assert_int_equal(ord_rwlock_write(&lock, &hold), 0);
    send_in(&reader, 0, ORD_NEVER);
    await_counts(0, 1, 1, 0);
    send_in(&writer, 1, ORD_NEVER);
    await_counts(0, 1, 1, 1);
    assert_int_equal(ord_rwlock_unlock(&lock, &hold), 0);
    await_counts(0, 1, 1, 0);
    let_out(&writer);
    let_out(&reader);
}

static void a_writer_that_gives_up_lets_the_readers_behind_it_in(void **state)
{
    struct visitor writer, late;

    (void)state;
    assert_int_equal(ord_rwlock_read(&lock, &hold), 0);
    send_in(&writer, 1, ord_deadline_after(20 * ORD_MS));
    send_in(&late, 0, ORD_NEVER);
    assert_int_equal(join(writer.thread), ETIMEDOUT);
    await_counts(2, 0, 0, 0);
    assert_int_equal(ord_rwlock_unlock(&lock, &hold), 0);
    let_out(&late);
}

static void a_deadline_passes_and_leaves_nothing_behind(void **state)
{
    (void)state;
    assert_int_equal(ord_rwlock_write(&lock, &hold), 0);
    for (int is_writer = 0; is_writer < 2; is_writer++) {
        struct visitor visitor;
        ord_ns deadline = ord_deadline_after(ORD_MS);

        send_in(&visitor, is_writer, deadline);
        assert_int_equal(join(visitor.thread), ETIMEDOUT);
        assert_true(ord_now() >= deadline);
        await_counts(0, 1, 0, 0);
    }
    assert_int_equal(ord_rwlock_unlock(&lock, &hold), 0);
    assert_int_equal(ord_rwlock_timedwrite(&lock, &hold, 0), 0);
    assert_int_equal(ord_rwlock_unlock(&lock, &hold), 0);
    assert_int_equal(ord_rwlock_timedread(&lock, &hold, 0), 0);
    assert_int_equal(ord_rwlock_unlock(&lock, &hold), 0);
}

static void a_holder_that_asks_again_is_edeadlk(void **state)
{
    struct ord_rw_hold again = ORD_RW_HOLD_INIT;
    struct ord_rw_hold *records[] = { &hold, &again };

    (void)state;
    for (int is_writer = 0; is_writer < 2; is_writer++) {
        assert_int_equal(is_writer ? ord_rwlock_write(&lock, &hold)
                                   : ord_rwlock_read(&lock, &hold),
                         0);
        for (int i = 0; i < 2; i++) {
            struct ord_rw_hold *r = records[i];

            assert_int_equal(ord_rwlock_write(&lock, r), EDEADLK);
            assert_int_equal(ord_rwlock_trywrite(&lock, r), EDEADLK);
            assert_int_equal(ord_rwlock_timedwrite(&lock, r, 0), EDEADLK);
            assert_int_equal(ord_rwlock_read(&lock, r), EDEADLK);
            assert_int_equal(ord_rwlock_tryread(&lock, r), EDEADLK);
            assert_int_equal(ord_rwlock_timedread(&lock, r, 0), EDEADLK);
        }
        assert_int_equal(ord_rwlock_unlock(&lock, &again), EPERM);
        assert_int_equal(ord_rwlock_unlock(&lock, &hold), 0);
    }
}

static void a_thread_holds_several_locks_with_a_record_each(void **state)
{
    static struct ord_rwlock other = ORD_RWLOCK_INIT;
    struct ord_rw_hold second = ORD_RW_HOLD_INIT;

    (void)state;
    assert_int_equal(ord_rwlock_read(&lock, &hold), 0);
    assert_int_equal(ord_rwlock_write(&other, &hold), EINVAL);
    assert_int_equal(ord_rwlock_write(&other, &second), 0);
    assert_int_equal(ord_rwlock_unlock(&other, &hold), EPERM);
    assert_int_equal(ord_rwlock_unlock(&lock, &hold), 0);
    assert_int_equal(ord_rwlock_unlock(&other, &second), 0);
    assert_int_equal(ord_rwlock_destroy(&other), 0);
}

static void *unlock_mine(void *unused)
{
    (void)unused;
    return result(ord_rwlock_unlock(&lock, &hold));
}

static void only_its_holder_leaves_by_a_record(void **state)
{
    (void)state;
    assert_int_equal(ord_rwlock_unlock(&lock, &hold), EPERM);
    assert_int_equal(ord_rwlock_read(&lock, &hold), 0);
    assert_int_equal(in_a_thread(unlock_mine, NULL), EPERM);
    assert_int_equal(ord_rwlock_unlock(&lock, &hold), 0);
    assert_int_equal(ord_rwlock_unlock(&lock, &hold), EPERM);
}

static void it_is_not_destroyed_in_use(void **state)
{
    (void)state;
    assert_int_equal(ord_rwlock_read(&lock, &hold), 0);
    assert_int_equal(ord_rwlock_destroy(&lock), EBUSY);
    assert_int_equal(ord_rwlock_unlock(&lock, &hold), 0);
    assert_int_equal(ord_rwlock_write(&lock, &hold), 0);
    assert_int_equal(ord_rwlock_destroy(&lock), EBUSY);
    assert_int_equal(ord_rwlock_unlock(&lock, &hold), 0);
}

static struct {
    ord_ns end;
    atomic_int nstarted;
    long one, two; /* under the lock, always equal */
} stress;

static void *read_and_write(void *unused)
{
    int is_writer = atomic_fetch_add(&stress.nstarted, 1) % 2;

    do {
        struct ord_rw_hold mine = ORD_RW_HOLD_INIT;
        ord_ns deadline = ord_deadline_after(50 * ORD_US);
        int rc = is_writer ? ord_rwlock_timedwrite(&lock, &mine, deadline)
                           : ord_rwlock_read(&lock, &mine);

        if (rc == ETIMEDOUT)
            continue;
        assert_int_equal(rc, 0);
        if (is_writer)
            stress.two = ++stress.one;
        assert_int_equal(stress.one, stress.two);
        assert_int_equal(ord_rwlock_unlock(&lock, &mine), 0);
    } while (ord_now() < stress.end);
    return unused;
}

static void readers_see_whole_writes_and_nobody_is_left_waiting(void **state)
{
    (void)state;
    stress.end = race_end();
    race_run(THREADS, read_and_write, NULL);
    await_counts(0, 0, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(readers_are_inside_together_and_no_writer),
        TEST(a_writer_is_inside_alone),
        TEST(a_reader_queues_behind_a_writer_that_waits),
        TEST(a_writer_that_waits_goes_before_readers_that_wait),
        TEST(a_writer_that_gives_up_lets_the_readers_behind_it_in),
        TEST(a_deadline_passes_and_leaves_nothing_behind),
        TEST(a_holder_that_asks_again_is_edeadlk),
        TEST(a_thread_holds_several_locks_with_a_record_each),
        TEST(only_its_holder_leaves_by_a_record),
        TEST(it_is_not_destroyed_in_use),
        TEST(readers_see_whole_writes_and_nobody_is_left_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
