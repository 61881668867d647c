/* SPDX-License-Identifier: MIT
 * test_maps.c - which memory other processes may share. */
#include "runtime/maps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include <cmocka.h>

static int global;

static char *map(int flags)
{
    void *p = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE,
                   flags | MAP_ANONYMOUS, -1, 0);

    assert_ptr_not_equal(p, MAP_FAILED);
    return p;
}

static void private_memory_is_not_shared(void **state)
{
    int local = 0;
    char *p = map(MAP_PRIVATE);

    (void)state;
    assert_false(lh_maps_may_be_shared((uintptr_t)&global));
    assert_false(lh_maps_may_be_shared((uintptr_t)&local));
    assert_false(lh_maps_may_be_shared((uintptr_t)p));
    assert_false(lh_maps_may_be_shared((uintptr_t)p + 3 * 4096 - 1));
}

static void shared_memory_is_shared(void **state)
{
    char *p = map(MAP_SHARED);

    (void)state;
    assert_true(lh_maps_may_be_shared((uintptr_t)p));
    assert_true(lh_maps_may_be_shared((uintptr_t)p + 3 * 4096 - 1));
}

static void what_is_not_mapped_may_be(void **state)
{
    char *p = map(MAP_PRIVATE);

    (void)state;
    assert_int_equal(munmap(p, 3 * 4096), 0);
    assert_true(lh_maps_may_be_shared((uintptr_t)p));
    assert_true(lh_maps_may_be_shared(8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(private_memory_is_not_shared),
        cmocka_unit_test(shared_memory_is_shared),
        cmocka_unit_test(what_is_not_mapped_may_be),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
