/* SPDX-License-Identifier: MIT
 *
 * test_places.c - where there are locks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core_test.h"
#include "runtime/places.h"

enum { LINE = 1 << LH_PLACE_LINE, PAGE = 1 << LH_PLACE_PAGE };

static void memory_without_locks_is_known_to_have_none(void **state)
{
    (void)state;
    assert_false(lh_place_may_hold(0x10000, 0x10040));
    assert_false(lh_place_may_hold(0x10000, 0x10000 + 100 * PAGE));
    assert_int_equal(lh_place_next(0x10000, 0x20000), 0x20000);
}

static void a_lock_is_found_in_what_holds_it(void **state)
{
    uintptr_t lock = 0x7f0000123450;

    (void)state;
    lh_place_add(lock);
    assert_true(lh_place_may_hold(lock, lock + 1));
    assert_true(lh_place_may_hold(lock - 3 * PAGE, lock + 8));
    assert_true(lh_place_may_hold(lock - 5000, lock + 300 * PAGE));
    assert_false(lh_place_may_hold(lock - 2 * LINE, lock - LINE));
    assert_int_equal(lh_place_next(lock - 40 * PAGE, lock + PAGE),
                     lock / LINE * LINE);
    assert_int_equal(lh_place_next(lock - 40 * PAGE, lock / LINE * LINE),
                     lock / LINE * LINE);
    lh_place_remove(lock);
    assert_false(lh_place_may_hold(lock, lock + 1));
}

static void a_line_has_as_many_locks_as_were_added(void **state)
{
    uintptr_t lock = 0x5500000;

    (void)state;
    for (int i = 0; i < 16; i++)
        lh_place_add(lock + 4u * (unsigned)i);
    for (int i = 0; i < 15; i++)
        lh_place_remove(lock + 4u * (unsigned)i);
    assert_true(lh_place_may_hold(lock, lock + 1));
    lh_place_remove(lock + 60);
    assert_false(lh_place_may_hold(lock, lock + 1));
}

static void a_full_counter_stays_full(void **state)
{
    uintptr_t lock = 0x6600000;

    (void)state;
    for (int i = 0; i < 300; i++)
        lh_place_add(lock);
    for (int i = 0; i < 300; i++)
        lh_place_remove(lock);
    assert_true(lh_place_may_hold(lock, lock + 1));
}

/* Every lock in a range is met by walking its lines. */
static void a_walk_meets_every_lock(void **state)
{
    enum { N = 200 };
    uint64_t random = test_state(1);
    uintptr_t base = 0x7e0000000000;

    (void)state;
    for (int round = 0; round < 50; round++) {
        uintptr_t locks[N];
        size_t met = 0;
        for (int i = 0; i < N; i++) {
            locks[i] = base + test_random(&random, 64u << 20) / 4 * 4;
            lh_place_add(locks[i]);
        }
        for (uintptr_t at = base;
             (at = lh_place_next(at, base + (64u << 20))) < base + (64u << 20);
             at = (at | (LINE - 1)) + 1)
            for (int i = 0; i < N; i++)
                met += locks[i] / LINE == at / LINE;
        assert_int_equal(met, N);
        for (int i = 0; i < N; i++)
            lh_place_remove(locks[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_without_locks_is_known_to_have_none),
        cmocka_unit_test(a_lock_is_found_in_what_holds_it),
        cmocka_unit_test(a_line_has_as_many_locks_as_were_added),
        cmocka_unit_test(a_full_counter_stays_full),
        cmocka_unit_test(a_walk_meets_every_lock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
