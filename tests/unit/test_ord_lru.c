/* SPDX-License-Identifier: MIT
 * test_ord_lru.c - a cache that forgets what was not used for longest. */
#include "ord/lru.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

/* Misuse is tested: TSan is not to report it. */
#define RACE_TSAN_OPTIONS ":report_mutex_bugs=0:report_destroy_locked=0"
#include "ord_race.h"

static struct ord_lru lru;

static int setup(void **state)
{
    (void)state;
    return ord_lru_init(&lru, 3, sizeof(int));
}

static int teardown(void **state)
{
    (void)state;
    return ord_lru_destroy(&lru);
}

static void put(uint64_t key, int value)
{
    ord_lru_put(&lru, key, &value);
}

static void expect(uint64_t key, int value)
{
    int found = -1;

    assert_int_equal(ord_lru_get(&lru, key, &found), 0);
    assert_int_equal(found, value);
}

static void expect_none(uint64_t key)
{
    int found = -1;

    assert_int_equal(ord_lru_get(&lru, key, &found), ENOENT);
    assert_int_equal(found, -1);
}

static void what_was_put_is_found(void **state)
{
    (void)state;
    expect_none(1);
    put(1, 10);
    put(UINT64_MAX, 20);
    put(1, 11);
    expect(1, 11);
    expect(UINT64_MAX, 20);
}

static void the_least_recently_used_is_forgotten(void **state)
{
    (void)state;
    put(1, 10);
    put(2, 20);
    put(3, 30);
    expect(1, 10); /* a use: now 2 is the oldest */
    put(4, 40);
    expect_none(2);
    put(3, 31); /* a use too */
    put(5, 50);
    expect_none(1);
    expect(3, 31);
    expect(4, 40);
    expect(5, 50);
}

static void what_was_removed_makes_room(void **state)
{
    (void)state;
    put(1, 10);
    put(2, 20);
    put(3, 30);
    assert_int_equal(ord_lru_remove(&lru, 2), 0);
    assert_int_equal(ord_lru_remove(&lru, 2), ENOENT);
    put(4, 40);
    expect(1, 10);
    expect_none(2);
    expect(3, 30);
    expect(4, 40);
}

static void uses_are_counted(void **state)
{
    struct ord_lru_figures f;

    (void)state;
    for (int i = 0; i < 5; i++)
        put((uint64_t)i, i);
    expect(4, 4);
    expect_none(0);
    expect_none(1);
    ord_lru_remove(&lru, 3);
    ord_lru_read(&lru, &f);
    assert_int_equal(f.size, 2);
    assert_int_equal(f.nhits, 1);
    assert_int_equal(f.nmisses, 2);
    assert_int_equal(f.nforgotten, 2);
}

static void impossible_sizes_are_refused(void **state)
{
    struct ord_lru none;
    struct ord_lru_sharded nones;

    (void)state;
    assert_int_equal(ord_lru_init(&none, 0, 1), EINVAL);
    assert_int_equal(ord_lru_init(&none, 1, 0), EINVAL);
    assert_int_equal(ord_lru_init(&none, SIZE_MAX, 1), ENOMEM);
    assert_int_equal(ord_lru_init(&none, 4, SIZE_MAX / 2), ENOMEM);
    assert_int_equal(ord_lru_sharded_init(&nones, 0, 1, 1), EINVAL);
    assert_int_equal(ord_lru_sharded_init(&nones, 2, 1, 1), EINVAL);
    assert_int_equal(ord_lru_sharded_init(&nones, 2, 2, 0), EINVAL);
    assert_int_equal(ord_lru_sharded_init(&nones, 2, 8, SIZE_MAX / 2), ENOMEM);
}

/* The naive model: keys in an array, the last used first. */
static struct {
    uint64_t keys[3];
    int values[3];
    size_t n;
} model;

static size_t model_find(uint64_t key)
{
    size_t i = 0;

    while (i < model.n && model.keys[i] != key)
        i++;
    return i;
}

static void model_take(size_t i)
{
    for (model.n--; i < model.n; i++) {
        model.keys[i] = model.keys[i + 1];
        model.values[i] = model.values[i + 1];
    }
}

static void model_use(uint64_t key, int value)
{
    size_t i = model_find(key);

    if (i < model.n || model.n == 3)
        model_take(i < model.n ? i : 2);
    for (i = model.n++; i > 0; i--) {
        model.keys[i] = model.keys[i - 1];
        model.values[i] = model.values[i - 1];
    }
    model.keys[0] = key;
    model.values[0] = value;
}

static void check_one_key(uint64_t key)
{
    size_t i = model_find(key);

    if (i == model.n) {
        expect_none(key);
    } else {
        int value = model.values[i];
        expect(key, value);
        model_use(key, value);
    }
}

static void random_uses_agree_with_a_model(void **state)
{
    const char *given = getenv("ORD_SEED");
    unsigned seed = given ? (unsigned)atoi(given) : (unsigned)ord_now();

    (void)state;
    print_message("ORD_SEED=%u\n", seed);
    model.n = 0;
    for (int step = 0; step < 20000; step++) {
        uint64_t key = (uint64_t)rand_r(&seed) % 6;
        int action = rand_r(&seed) % 4;
        if (action == 0) {
            bool present = model_find(key) < model.n;
            assert_int_equal(ord_lru_remove(&lru, key), present ? 0 : ENOENT);
            if (present)
                model_take(model_find(key));
        } else if (action == 1) {
            put(key, step);
            model_use(key, step);
        } else {
            check_one_key(key);
        }
    }
}

static void shards_together_are_one_cache(void **state)
{
    struct ord_lru_sharded shards;
    struct ord_lru_figures f;
    int found = 0;

    (void)state;
    assert_int_equal(ord_lru_sharded_init(&shards, 4, 400, sizeof(int)), 0);
    for (int i = 0; i < 50; i++)
        ord_lru_sharded_put(&shards, (uint64_t)i, &i);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(ord_lru_sharded_get(&shards, (uint64_t)i, &found), 0);
        assert_int_equal(found, i);
    }
    assert_int_equal(ord_lru_sharded_get(&shards, 50, &found), ENOENT);
    assert_int_equal(ord_lru_sharded_remove(&shards, 7), 0);
    assert_int_equal(ord_lru_sharded_remove(&shards, 7), ENOENT);
    ord_lru_sharded_read(&shards, &f);
    assert_int_equal(f.size, 49);
    assert_int_equal(f.nhits, 50);
    assert_int_equal(f.nmisses, 1);
    assert_int_equal(f.nforgotten, 0);
    for (size_t i = 0; i < shards.nshards; i++)
        assert_true(shards.shards[i].figures.size > 0);
    assert_int_equal(ord_lru_sharded_destroy(&shards), 0);
}

struct stress {
    ord_ns end;
    struct ord_lru_sharded *shards;
};

/* A value is made of its key, all of it: half of one shows. */
struct wide {
    uint64_t parts[8];
};

static void *use_until(void *arg)
{
    struct stress *stress = arg;
    unsigned seed = (unsigned)ord_now();

    while (ord_now() < stress->end) {
        uint64_t key = (uint64_t)rand_r(&seed) % 64;
        struct wide value;
        if (ord_lru_sharded_get(stress->shards, key, &value) == 0) {
            for (size_t i = 0; i < 8; i++)
                assert_int_equal(value.parts[i], key + i);
            continue;
        }
        for (size_t i = 0; i < 8; i++)
            value.parts[i] = key + i;
        ord_lru_sharded_put(stress->shards, key, &value);
        ord_lru_sharded_remove(stress->shards, key + 1);
    }
    return NULL;
}

static void values_stay_whole_under_stress(void **state)
{
    struct ord_lru_sharded shards;
    struct ord_lru_figures f;
    struct stress stress = { race_end(), &shards };

    (void)state;
    assert_int_equal(ord_lru_sharded_init(&shards, 2, 32, sizeof(struct wide)),
                     0);
    race_run(4, use_until, &stress);
    ord_lru_sharded_read(&shards, &f);
    assert_true(f.size <= 32);
    assert_true(f.nhits > 0 && f.nforgotten > 0);
    assert_int_equal(ord_lru_sharded_destroy(&shards), 0);
}

static void a_locked_cache_is_not_destroyed(void **state)
{
    struct ord_lru_sharded shards;

    (void)state;
    ord_mutex_lock(&lru.lock);
    assert_int_equal(ord_lru_destroy(&lru), EBUSY);
    ord_mutex_unlock(&lru.lock);
    assert_int_equal(ord_lru_sharded_init(&shards, 2, 2, 1), 0);
    ord_mutex_lock(&shards.shards[0].lock);
    assert_int_equal(ord_lru_sharded_destroy(&shards), EBUSY);
    ord_mutex_unlock(&shards.shards[0].lock);
    assert_int_equal(ord_lru_sharded_destroy(&shards), 0);
}

#define WITH_LRU(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_LRU(what_was_put_is_found),
        WITH_LRU(the_least_recently_used_is_forgotten),
        WITH_LRU(what_was_removed_makes_room),
        WITH_LRU(uses_are_counted),
        cmocka_unit_test(impossible_sizes_are_refused),
        WITH_LRU(random_uses_agree_with_a_model),
        WITH_LRU(a_locked_cache_is_not_destroyed),
        cmocka_unit_test(shards_together_are_one_cache),
        cmocka_unit_test(values_stay_whole_under_stress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
