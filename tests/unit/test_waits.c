/* SPDX-License-Identifier: MIT
 *
 * test_waits.c - what a thread waits for, by the words of the lock alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/futex.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>

#include "pool.h"
#include "waits.h"

enum { SMALL_TIDS = 2048, WRITER_HAS_IT = 3, WAITED_FOR = 2 };

static bool read_own(const struct lh_outside *o, uint64_t address, void *buffer,
                     size_t n)
{
    (void)o;
    memcpy(buffer, (const void *)(uintptr_t)address, n);
    return true;
}

/* What the first of two threads waits for, by the call that it is in. */
static struct lh_wait waits_for(uint64_t other, const void *futex,
                                uint32_t operation, uint32_t expected)
{
    struct lh_pool pool = { 0 };
    struct lh_outside_thread threads[] = {
        { .tid = SMALL_TIDS + 1,
          .name = "",
          .state = 'S',
          .in_call = true,
          .call = SYS_futex,
          .args = { (uintptr_t)futex, operation, expected } },
        { .tid = other, .name = "", .state = 'S' },
    };
    struct lh_outside o = {
        .pool = &pool, .threads = threads, .nthreads = 2, .read = read_own
    };
    struct lh_wait w = lh_waits_of(&o, 0, NULL, NULL);
    lh_pool_free(&pool);
    return w;
}

/* In a container tids are as small as the kinds of mutexes. */
static void
a_rwlock_is_none_of_the_mutexes_whatever_the_writers_tid(void **state)
{
    pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;

    (void)state;
    l.__data.__readers = WRITER_HAS_IT + 8;
    l.__data.__wrphase_futex = WRITER_HAS_IT;
    for (int tid = 1; tid < SMALL_TIDS; tid++) {
        l.__data.__cur_writer = tid;
        struct lh_wait w =
            waits_for((uint64_t)tid, &l.__data.__wrphase_futex,
                      FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, WRITER_HAS_IT);
        assert_int_equal(w.kind, LH_WAITS_READ);
        assert_int_equal(w.lock, (uintptr_t)&l);
        assert_int_equal(w.owner, tid);
    }
}

static void a_mutex_is_one_whatever_the_holders_tid(void **state)
{
    static const int kinds[] = { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
                                 PTHREAD_MUTEX_ERRORCHECK,
                                 PTHREAD_MUTEX_ADAPTIVE_NP };
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

    (void)state;
    m.__data.__lock = WAITED_FOR;
    m.__data.__nusers = 1;
    for (int tid = 1; tid < SMALL_TIDS; tid++) {
        m.__data.__owner = tid;
        m.__data.__kind = kinds[tid % 4];
        struct lh_wait w = waits_for(
            (uint64_t)tid, &m, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, WAITED_FOR);
        assert_int_equal(w.kind, LH_WAITS_MUTEX);
        assert_int_equal(w.owner, tid);
    }
}

static void a_shared_mutex_is_no_join_of_thread_two(void **state)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

    (void)state;
    m.__data.__lock = WAITED_FOR;
    m.__data.__nusers = 1;
    m.__data.__owner = 2;
    m.__data.__kind = 128;
    struct lh_wait w = waits_for(2, &m, FUTEX_WAIT, WAITED_FOR);
    assert_int_equal(w.kind, LH_WAITS_MUTEX);
}

static void mutexes_that_the_kernel_hands_over_are_mutexes(void **state)
{
    enum { ROBUST = 16, INHERIT = 32 };
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    struct lh_wait w;

    (void)state;
    m.__data.__lock = (int)(77U | FUTEX_WAITERS);
    m.__data.__kind = INHERIT;
    w = waits_for(77, &m, FUTEX_LOCK_PI | FUTEX_PRIVATE_FLAG, 0);
    assert_int_equal(w.kind, LH_WAITS_MUTEX);
    assert_int_equal(w.owner, 77);
    m.__data.__kind = ROBUST | PTHREAD_MUTEX_RECURSIVE;
    w = waits_for(77, &m, FUTEX_WAIT, 77U | FUTEX_WAITERS);
    assert_int_equal(w.kind, LH_WAITS_MUTEX);
    assert_int_equal(w.owner, 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_rwlock_is_none_of_the_mutexes_whatever_the_writers_tid),
        cmocka_unit_test(a_mutex_is_one_whatever_the_holders_tid),
        cmocka_unit_test(a_shared_mutex_is_no_join_of_thread_two),
        cmocka_unit_test(mutexes_that_the_kernel_hands_over_are_mutexes),
    };
    return cmocka_run_group_tests_name("waits", tests, NULL, NULL);
}
