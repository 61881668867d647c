/* SPDX-License-Identifier: MIT
 * test_ord_shm.c - a counter and an array that survive their holders. */
#include "ord/shm.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ord_race.h"

static struct ord_shm shm;

static int setup(void **state)
{
    (void)state;
    return ord_shm_create(&shm, 4, ORD_SHM_REPAIR);
}

static int setup_refusing(void **state)
{
    (void)state;
    return ord_shm_create(&shm, 4, ORD_SHM_REFUSE);
}

static int teardown(void **state)
{
    (void)state;
    return ord_shm_detach(&shm);
}

/* Runs f in a child, which it must leave by itself or with 0 for success. */
static void in_a_child(int (*f)(void), int expected_signal)
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0)
        _exit(f() ? 1 : 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (expected_signal) {
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), expected_signal);
    } else {
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

static void fill(int64_t first)
{
    assert_int_equal(ord_shm_lock(&shm, ORD_NEVER), 0);
    for (size_t i = 0; i < ord_shm_size(&shm); i++)
        assert_int_equal(ord_shm_set(&shm, i, first + (int64_t)i), 0);
    assert_int_equal(ord_shm_add(&shm, first, NULL, 0), 0);
    assert_int_equal(ord_shm_unlock(&shm), 0);
}

static void expect(int64_t first, int64_t counter)
{
    int64_t value;

    assert_int_equal(ord_shm_lock(&shm, ORD_NEVER), 0);
    for (size_t i = 0; i < ord_shm_size(&shm); i++) {
        assert_int_equal(ord_shm_get(&shm, i, &value), 0);
        assert_int_equal(value, first + (int64_t)i);
    }
    assert_int_equal(ord_shm_add(&shm, 0, &value, 0), 0);
    assert_int_equal(value, counter);
    assert_int_equal(ord_shm_unlock(&shm), 0);
}

static void what_is_unlocked_is_kept(void **state)
{
    (void)state;
    fill(10);
    expect(10, 10);
    fill(20);
    expect(20, 30);
    assert_int_equal(ord_shm_nrepairs(&shm), 0);
}

static int change_half(void)
{
    return ord_shm_lock(&shm, ORD_NEVER) || ord_shm_set(&shm, 0, -1) ||
           ord_shm_set(&shm, 1, -2) || ord_shm_set(&shm, 1, -3) ||
           ord_shm_add(&shm, 100, NULL, 0);
}

static int change_half_and_be_killed(void)
{
    if (change_half() == 0)
        kill(getpid(), SIGKILL);
    return 1;
}

static void a_killed_holder_has_changed_nothing(void **state)
{
    (void)state;
    fill(10);
    in_a_child(change_half_and_be_killed, SIGKILL);
    expect(10, 10);
    assert_int_equal(ord_shm_nrepairs(&shm), 1);
    fill(20);
    in_a_child(change_half, 0); /* exits with the lock held */
    expect(20, 30);
    assert_int_equal(ord_shm_nrepairs(&shm), 2);
}

static void *die_as_a_thread(void *arg)
{
    (void)arg;
    assert_int_equal(change_half(), 0);
    return NULL;
}

static void a_thread_that_ends_with_the_lock_is_a_dead_holder(void **state)
{
    (void)state;
    fill(10);
    race_run(1, die_as_a_thread, NULL);
    expect(10, 10);
    assert_int_equal(ord_shm_nrepairs(&shm), 1);
}

static void a_refusing_region_is_lost_with_its_holder(void **state)
{
    (void)state;
    fill(10);
    in_a_child(change_half_and_be_killed, SIGKILL);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ord_shm_lock(&shm, ORD_NEVER), ENOTRECOVERABLE);
        assert_int_equal(ord_shm_add(&shm, 1, NULL, ORD_NEVER),
                         ENOTRECOVERABLE);
    }
    assert_int_equal(ord_shm_nrepairs(&shm), 0);
}

static int add_a_thousand(void)
{
    int rc = 0;

    for (int i = 0; i < 1000 && rc == 0; i++)
        rc = ord_shm_add(&shm, 1, NULL, ORD_NEVER);
    return rc;
}

static void processes_count_together(void **state)
{
    pid_t children[4];
    int64_t counter;
    int status;

    (void)state;
    for (int i = 0; i < 4; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(add_a_thousand());
        assert_true(children[i] > 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(ord_shm_add(&shm, 0, &counter, ORD_NEVER), 0);
    assert_int_equal(counter, 4000);
}

static int attach_and_add(void)
{
    struct ord_shm other;

    return ord_shm_attach(&other, shm.fd) ||
           ord_shm_add(&other, 5, NULL, ORD_NEVER) || ord_shm_detach(&other);
}

static void a_region_is_attached_by_its_descriptor(void **state)
{
    int64_t counter;

    (void)state;
    in_a_child(attach_and_add, 0);
    assert_int_equal(attach_and_add(), 0);
    assert_int_equal(ord_shm_add(&shm, 0, &counter, ORD_NEVER), 0);
    assert_int_equal(counter, 10);
}

static void what_is_no_region_is_refused(void **state)
{
    struct ord_shm other;
    int fd = open("/proc/self/exe", O_RDONLY);
    int fake = memfd_create("fake", MFD_CLOEXEC);

    (void)state;
    assert_int_equal(ord_shm_create(&other, 0, ORD_SHM_REPAIR), EINVAL);
    assert_int_equal(ord_shm_create(&other, 1, (enum ord_shm_policy)7), EINVAL);
    assert_int_equal(ord_shm_create(&other, SIZE_MAX, ORD_SHM_REPAIR), ENOMEM);
    assert_int_equal(ord_shm_attach(&other, -1), EBADF);
    assert_int_equal(ord_shm_attach(&other, fd), EACCES);
    assert_int_equal(ord_shm_attach(&other, fake), EINVAL);
    assert_int_equal(ftruncate(fake, 4096), 0);
    assert_int_equal(ord_shm_attach(&other, fake), EINVAL);
    close(fake);
    close(fd);
}

static void the_counter_does_not_overflow(void **state)
{
    int64_t value = 7;

    (void)state;
    assert_int_equal(ord_shm_add(&shm, INT64_MAX, NULL, ORD_NEVER), 0);
    assert_int_equal(ord_shm_add(&shm, 1, &value, ORD_NEVER), EOVERFLOW);
    assert_int_equal(value, 7);
    assert_int_equal(ord_shm_add(&shm, -INT64_MAX, &value, ORD_NEVER), 0);
    assert_int_equal(value, 0);
}

static void *find_it_taken(void *arg)
{
    (void)arg;
    assert_int_equal(ord_shm_lock(&shm, ord_deadline_after(ORD_MS)), ETIMEDOUT);
    assert_int_equal(ord_shm_add(&shm, 1, NULL, 0), ETIMEDOUT);
    assert_int_equal(ord_shm_set(&shm, 0, 1), EPERM);
    assert_int_equal(ord_shm_unlock(&shm), EPERM);
    return NULL;
}

static void only_the_holder_has_access(void **state)
{
    int64_t value;

    (void)state;
    assert_int_equal(ord_shm_unlock(&shm), EPERM);
    assert_int_equal(ord_shm_get(&shm, 0, &value), EPERM);
    assert_int_equal(ord_shm_lock(&shm, ORD_NEVER), 0);
    assert_int_equal(ord_shm_lock(&shm, ORD_NEVER), EDEADLK);
    assert_int_equal(ord_shm_detach(&shm), EBUSY);
    assert_int_equal(ord_shm_get(&shm, 4, &value), EINVAL);
    assert_int_equal(ord_shm_set(&shm, 4, 1), EINVAL);
    race_run(1, find_it_taken, NULL);
    assert_int_equal(ord_shm_unlock(&shm), 0);
}

/* Moves one from cell to cell: the sum stays 0 whoever dies, and when. */
static int move_until_killed(void)
{
    for (unsigned i = 0;; i++) {
        int64_t from = 0, to = 0;
        size_t a = i % 4, b = (i + 1) % 4;
        if (ord_shm_lock(&shm, ORD_NEVER) || ord_shm_get(&shm, a, &from) ||
            ord_shm_get(&shm, b, &to) || ord_shm_set(&shm, a, from - 1) ||
            ord_shm_set(&shm, b, to + 1) || ord_shm_unlock(&shm))
            return 1;
    }
}

static int64_t sum_of_cells(void)
{
    int64_t sum = 0, value;

    assert_int_equal(ord_shm_lock(&shm, ORD_NEVER), 0);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(ord_shm_get(&shm, i, &value), 0);
        sum += value;
    }
    assert_int_equal(ord_shm_unlock(&shm), 0);
    return sum;
}

static void the_sum_survives_killed_holders_under_stress(void **state)
{
    ord_ns end = race_end();
    int status;

    (void)state;
    while (ord_now() < end) {
        pid_t child = fork();
        if (child == 0)
            _exit(move_until_killed());
        assert_true(child > 0);
        for (int i = 0; i < 100; i++)
            assert_int_equal(sum_of_cells(), 0);
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(sum_of_cells(), 0);
    }
}

#define WITH_SHM(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SHM(what_is_unlocked_is_kept),
        WITH_SHM(a_killed_holder_has_changed_nothing),
        WITH_SHM(a_thread_that_ends_with_the_lock_is_a_dead_holder),
        cmocka_unit_test_setup_teardown(
            a_refusing_region_is_lost_with_its_holder, setup_refusing,
            teardown),
        WITH_SHM(processes_count_together),
        WITH_SHM(a_region_is_attached_by_its_descriptor),
        cmocka_unit_test(what_is_no_region_is_refused),
        WITH_SHM(the_counter_does_not_overflow),
        WITH_SHM(only_the_holder_has_access),
        WITH_SHM(the_sum_survives_killed_holders_under_stress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
