/* SPDX-License-Identifier: MIT
 * test_cache.c - a thread's table of the requests it need not learn again. */
#include "runtime/cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct lh_cache cache;
static uint64_t spilled;

static void on_spill(void *ctx, const struct lh_entry *entry)
{
    (void)ctx;
    spilled += entry->times;
}

static uint64_t count(void)
{
    spilled = 0;
    lh_cache_each(&cache, on_spill, NULL);
    return spilled;
}

/* Odd and spread out, as chain keys are. */
static uint64_t key(uint64_t i)
{
    return (i + 1) * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

static int setup(void **state)
{
    (void)state;
    spilled = 0;
    return lh_cache_init(&cache);
}

static int teardown(void **state)
{
    (void)state;
    lh_cache_free(&cache);
    return 0;
}

static void what_was_added_is_found_with_its_dependency(void **state)
{
    (void)state;
    assert_null(lh_cache_find(&cache, key(1)));
    lh_cache_add(&cache, key(1), 42, on_spill, NULL);
    assert_int_equal(lh_cache_find(&cache, key(1))->dependency, 42);
    assert_null(lh_cache_find(&cache, key(2)));
    lh_cache_clear(&cache);
    assert_null(lh_cache_find(&cache, key(1)));
}

/* No count is lost: each is in the table or was spilled. */
static void counts_survive_growing_and_replacing(void **state)
{
    enum { N = 600000 }; /* more than the largest table has */
    uint64_t pushed_out;

    (void)state;
    for (uint64_t i = 0; i < N; i++) {
        lh_cache_add(&cache, key(i), 1, on_spill, NULL);
        lh_cache_find(&cache, key(i))->times++;
    }
    pushed_out = spilled;
    assert_true(pushed_out > 0);
    assert_int_equal(count() + pushed_out, N);
}

static void half_of_the_largest_table_is_all_found(void **state)
{
    size_t nfound = 0;

    (void)state;
    for (uint64_t i = 0; i < 10000; i++)
        lh_cache_add(&cache, key(i), 1, on_spill, NULL);
    for (uint64_t i = 0; i < 10000; i++)
        nfound += lh_cache_find(&cache, key(i)) != NULL;
    /* A set of four may overflow by chance. */
    assert_in_range(nfound, 9900, 10000);
}

static void an_outgrown_table_has_nothing_to_find(void **state)
{
    struct lh_entry *old;

    (void)state;
    lh_cache_add(&cache, key(0), 1, on_spill, NULL);
    old = lh_cache_find(&cache, key(0));
    for (uint64_t i = 1; i < 1000; i++)
        lh_cache_add(&cache, key(i), 1, on_spill, NULL);
    assert_ptr_not_equal(lh_cache_find(&cache, key(0)), old);
    assert_int_not_equal(old->probe, key(0));
}

/* By a hook that was interrupted in the middle of counting. */
static void a_hit_in_an_outgrown_table_harms_nothing(void **state)
{
    unsigned noutgrown = 0;

    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        struct lh_entry *old = cache.entries;
        lh_cache_add(&cache, key(i), 1, on_spill, NULL);
        if (cache.entries == old)
            continue;
        old[0].times++;
        noutgrown++;
    }
    assert_true(noutgrown > 1);
    lh_cache_shrink(&cache);
    lh_cache_add(&cache, key(5), 3, on_spill, NULL);
    assert_int_equal(lh_cache_find(&cache, key(5))->dependency, 3);
}

static void a_shrunk_table_is_empty_and_usable(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 1000; i++)
        lh_cache_add(&cache, key(i), 1, on_spill, NULL);
    lh_cache_shrink(&cache);
    for (uint64_t i = 0; i < 1000; i++)
        assert_null(lh_cache_find(&cache, key(i)));
    lh_cache_add(&cache, key(5), 3, on_spill, NULL);
    assert_int_equal(lh_cache_find(&cache, key(5))->dependency, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            what_was_added_is_found_with_its_dependency, setup, teardown),
        cmocka_unit_test_setup_teardown(counts_survive_growing_and_replacing,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(half_of_the_largest_table_is_all_found,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(an_outgrown_table_has_nothing_to_find,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_hit_in_an_outgrown_table_harms_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_shrunk_table_is_empty_and_usable,
                                        setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
