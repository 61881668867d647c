/* SPDX-License-Identifier: MIT
 * test_mutexword.c - who holds a mutex, by its own words. */
#include "runtime/mutexword.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

static int32_t own_tid(void)
{
    return (int32_t)syscall(SYS_gettid);
}

struct kind {
    int type, robust, protocol, shared;
};

static const struct kind kinds[] = {
    { PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_NONE, 0 },
    { PTHREAD_MUTEX_RECURSIVE, 0, PTHREAD_PRIO_NONE, 0 },
    { PTHREAD_MUTEX_ERRORCHECK, 0, PTHREAD_PRIO_NONE, 1 },
    { PTHREAD_MUTEX_ADAPTIVE_NP, 0, PTHREAD_PRIO_NONE, 0 },
    { PTHREAD_MUTEX_NORMAL, 1, PTHREAD_PRIO_NONE, 1 },
    { PTHREAD_MUTEX_RECURSIVE, 1, PTHREAD_PRIO_INHERIT, 0 },
    { PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_INHERIT, 1 },
};

static void set_up(pthread_mutex_t *mutex, const struct kind *k)
{
    pthread_mutexattr_t attr;

    assert_int_equal(pthread_mutexattr_init(&attr), 0);
    assert_int_equal(pthread_mutexattr_settype(&attr, k->type), 0);
    assert_int_equal(pthread_mutexattr_setrobust(&attr, k->robust), 0);
    assert_int_equal(pthread_mutexattr_setprotocol(&attr, k->protocol), 0);
    assert_int_equal(pthread_mutexattr_setpshared(&attr, k->shared), 0);
    assert_int_equal(pthread_mutex_init(mutex, &attr), 0);
    pthread_mutexattr_destroy(&attr);
}

static void free_held_and_free_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        pthread_mutex_t mutex;
        set_up(&mutex, &kinds[i]);
        assert_int_equal(lh_mutex_holder(&mutex), 0);
        assert_int_equal(pthread_mutex_lock(&mutex), 0);
        assert_int_equal(lh_mutex_holder(&mutex), own_tid());
        assert_int_equal(pthread_mutex_unlock(&mutex), 0);
        assert_int_equal(lh_mutex_holder(&mutex), 0);
        assert_int_equal(pthread_mutex_destroy(&mutex), 0);
        assert_true(lh_mutex_is_destroyed(&mutex));
        assert_int_equal(lh_mutex_holder(&mutex), LH_HOLDER_UNSURE);
    }
}

/* Between two of its writer's steps, or elided: not for us to say. */
static void half_written_is_unsure(void **state)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

    (void)state;
    mutex.__data.__lock = 1;
    assert_int_equal(lh_mutex_holder(&mutex), LH_HOLDER_UNSURE);
    mutex.__data.__lock = 0;
    mutex.__data.__owner = 7;
    assert_int_equal(lh_mutex_holder(&mutex), LH_HOLDER_UNSURE);
}

/* As glibc has it; to lock one wants a real-time priority. */
static void a_ceiling_is_no_holder(void **state)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

    (void)state;
    mutex.__data.__kind = LH_MUTEX_PROTECTS;
    mutex.__data.__lock = 5 << 19;
    assert_int_equal(lh_mutex_holder(&mutex), 0);
    mutex.__data.__lock |= 1;
    assert_int_equal(lh_mutex_holder(&mutex), LH_HOLDER_UNSURE);
    mutex.__data.__owner = 7;
    assert_int_equal(lh_mutex_holder(&mutex), 7);
}

static void *die_with(void *mutex)
{
    pthread_mutex_lock(mutex);
    return NULL;
}

/* Its owner word says that it is inconsistent, not who has it. */
static void dead_owner_leaves_it_free(void **state)
{
    pthread_mutex_t mutex;
    pthread_t t;

    (void)state;
    set_up(&mutex, &kinds[4]);
    assert_int_equal(pthread_create(&t, NULL, die_with, &mutex), 0);
    assert_int_equal(pthread_join(t, NULL), 0);
    assert_int_equal(lh_mutex_holder(&mutex), 0);
    assert_int_equal(pthread_mutex_lock(&mutex), EOWNERDEAD);
    assert_int_equal(lh_mutex_holder(&mutex), own_tid());
    assert_int_equal(pthread_mutex_consistent(&mutex), 0);
    assert_int_equal(lh_mutex_holder(&mutex), own_tid());
    assert_int_equal(pthread_mutex_unlock(&mutex), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_held_and_free_again),
        cmocka_unit_test(half_written_is_unsure),
        cmocka_unit_test(a_ceiling_is_no_holder),
        cmocka_unit_test(dead_owner_leaves_it_free),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
