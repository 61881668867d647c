/* SPDX-License-Identifier: MIT
 *
 * test_unseen.c - memory whose locks may end without an event.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core_test.h"
#include "runtime/real.h"
#include "runtime/unseen.h"

/* Any place in the program itself. */
static const char here[1];

static int begin(void **state)
{
    (void)state;
    lh_real_resolve();
    lh_unseen_begin();
    lh_unseen_allocator = LH_ALLOCATOR_LIBC;
    lh_unseen_remove(1, UINTPTR_MAX);
    return 0;
}

static void nothing_is_unseen_at_first(void **state)
{
    (void)state;
    assert_false(lh_unseen_holds(0x1000));
    lh_unseen_allocator = LH_ALLOCATOR_NONE;
    assert_true(lh_unseen_holds(0x1000));
}

static void a_map_holds_what_lies_in_it(void **state)
{
    (void)state;
    lh_unseen_add(0x10000, 0x20000, here);
    assert_false(lh_unseen_holds(0xffff));
    assert_true(lh_unseen_holds(0x10000));
    assert_true(lh_unseen_holds(0x1ffff));
    assert_false(lh_unseen_holds(0x20000));
}

static void the_allocator_of_the_hook_maps_for_itself(void **state)
{
    void *libc = NULL;

    (void)state;
    memcpy(&libc, &lh_real()->free, sizeof libc);
    lh_unseen_add(0x10000, 0x20000, libc);
    assert_false(lh_unseen_holds(0x10000));
}

static void a_hole_is_cut(void **state)
{
    (void)state;
    lh_unseen_add(0x10000, 0x50000, here);
    lh_unseen_remove(0x20000, 0x30000);
    assert_true(lh_unseen_holds(0x1ffff));
    assert_false(lh_unseen_holds(0x20000));
    assert_false(lh_unseen_holds(0x2ffff));
    assert_true(lh_unseen_holds(0x30000));
    lh_unseen_remove(0x1000, 0x18000);
    assert_false(lh_unseen_holds(0x17fff));
    assert_true(lh_unseen_holds(0x18000));
    lh_unseen_remove(0x48000, 0x90000);
    assert_true(lh_unseen_holds(0x47fff));
    assert_false(lh_unseen_holds(0x48000));
}

/* An allocator that grows downwards makes no more maps than there is room. */
static void maps_that_touch_are_one(void **state)
{
    const uintptr_t top = 0x7f0000000000;

    (void)state;
    for (uintptr_t i = 1; i <= 100000; i++)
        lh_unseen_add(top - i * 0x1000, top - (i - 1) * 0x1000, here);
    assert_true(lh_unseen_holds(top - 1));
    assert_true(lh_unseen_holds(top - 100000ul * 0x1000));
    assert_false(lh_unseen_holds(top - 100001ul * 0x1000));
}

/* Random maps over one small range, beside a byte for each page. */
static void random_maps_are_as_in_the_model(void **state)
{
    enum { PAGES = 200 };
    uint64_t random = test_state(7);
    uint8_t model[PAGES] = { 0 };

    (void)state;
    for (int step = 0; step < 20000; step++) {
        uintptr_t low = 1 + test_random(&random, PAGES - 2);
        uintptr_t high = low + 1 + test_random(&random, 20);
        bool add = test_random(&random, 2);
        if (high > PAGES)
            high = PAGES;
        if (add)
            lh_unseen_add(low << 12, high << 12, here);
        else
            lh_unseen_remove(low << 12, high << 12);
        memset(model + low, add, high - low);
        for (uintptr_t i = 1; i < PAGES; i++)
            assert_int_equal(lh_unseen_holds(i << 12), model[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nothing_is_unseen_at_first, begin),
        cmocka_unit_test_setup(a_map_holds_what_lies_in_it, begin),
        cmocka_unit_test_setup(the_allocator_of_the_hook_maps_for_itself,
                               begin),
        cmocka_unit_test_setup(a_hole_is_cut, begin),
        cmocka_unit_test_setup(maps_that_touch_are_one, begin),
        cmocka_unit_test_setup(random_maps_are_as_in_the_model, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
