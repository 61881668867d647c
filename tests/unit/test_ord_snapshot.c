/* SPDX-License-Identifier: MIT
 * test_ord_snapshot.c - a map read without a lock and replaced whole. */
#include "ord/snapshot.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ord_race.h"

static struct ord_snapshot_map map;

static int setup(void **state)
{
    (void)state;
    return ord_snapshot_init(&map);
}

static int teardown(void **state)
{
    (void)state;
    return ord_snapshot_destroy(&map);
}

static int64_t value_of(const struct ord_snapshot_reader *reader,
                        const char *name)
{
    int64_t value = -1;

    assert_int_equal(ord_snapshot_get(reader, name, &value), 0);
    return value;
}

static void what_was_put_is_read(void **state)
{
    struct ord_snapshot_reader reader;
    int64_t value = 7;

    (void)state;
    assert_int_equal(ord_snapshot_put(&map, "b", 2), 0);
    assert_int_equal(ord_snapshot_put(&map, "a", 1), 0);
    assert_int_equal(ord_snapshot_put(&map, "c", 3), 0);
    assert_int_equal(ord_snapshot_put(&map, "b", 20), 0);
    ord_snapshot_enter(&map, &reader);
    assert_int_equal(ord_snapshot_size(&reader), 3);
    assert_int_equal(value_of(&reader, "a"), 1);
    assert_int_equal(value_of(&reader, "b"), 20);
    assert_int_equal(value_of(&reader, "c"), 3);
    assert_int_equal(ord_snapshot_get(&reader, "d", &value), ENOENT);
    assert_int_equal(value, 7);
    ord_snapshot_leave(&reader);
}

static void what_was_removed_is_gone(void **state)
{
    struct ord_snapshot_reader reader;
    int64_t value;

    (void)state;
    assert_int_equal(ord_snapshot_remove(&map, "a"), ENOENT);
    ord_snapshot_put(&map, "a", 1);
    ord_snapshot_put(&map, "b", 2);
    assert_int_equal(ord_snapshot_remove(&map, "a"), 0);
    ord_snapshot_enter(&map, &reader);
    assert_int_equal(ord_snapshot_get(&reader, "a", &value), ENOENT);
    assert_int_equal(value_of(&reader, "b"), 2);
    assert_int_equal(ord_snapshot_size(&reader), 1);
    ord_snapshot_leave(&reader);
}

static void a_name_must_fit(void **state)
{
    struct ord_snapshot_entry entry;

    (void)state;
    memset(&entry, 'x', sizeof entry);
    assert_int_equal(
        ord_snapshot_put(&map, "0123456789012345678901234567890", 1), 0);
    assert_int_equal(
        ord_snapshot_put(&map, "01234567890123456789012345678901", 1),
        ENAMETOOLONG);
    assert_int_equal(ord_snapshot_put_all(&map, &entry, 1), ENAMETOOLONG);
    assert_int_equal(ord_snapshot_put_all(&map, &entry, 0), EINVAL);
}

static void of_two_entries_with_one_name_the_later_stays(void **state)
{
    const struct ord_snapshot_entry entries[] = { { "a", 1 },
                                                  { "b", 2 },
                                                  { "a", 3 } };
    struct ord_snapshot_reader reader;

    (void)state;
    assert_int_equal(ord_snapshot_put_all(&map, entries, 3), 0);
    ord_snapshot_enter(&map, &reader);
    assert_int_equal(ord_snapshot_size(&reader), 2);
    assert_int_equal(value_of(&reader, "a"), 3);
    ord_snapshot_leave(&reader);
}

static void a_reader_keeps_what_it_entered(void **state)
{
    struct ord_snapshot_reader old, old_too, now;

    (void)state;
    ord_snapshot_put(&map, "price", 50);
    ord_snapshot_enter(&map, &old);
    ord_snapshot_enter(&map, &old_too);
    ord_snapshot_put(&map, "price", 55);
    ord_snapshot_put(&map, "price", 60);
    ord_snapshot_enter(&map, &now);
    assert_int_equal(value_of(&old, "price"), 50);
    assert_int_equal(value_of(&now, "price"), 60);
    ord_snapshot_leave(&old);
    assert_int_equal(value_of(&old_too, "price"), 50);
    ord_snapshot_leave(&old_too);
    ord_snapshot_leave(&now);
}

static void an_old_snapshot_is_freed_by_its_last_reader(void **state)
{
    struct ord_snapshot_reader first, second;

    (void)state;
    ord_snapshot_put(&map, "a", 1);
    assert_int_equal(ord_snapshot_nalive(&map), 1);
    ord_snapshot_enter(&map, &first);
    ord_snapshot_enter(&map, &second);
    ord_snapshot_put(&map, "a", 2);
    assert_int_equal(ord_snapshot_nalive(&map), 2);
    ord_snapshot_leave(&second);
    assert_int_equal(ord_snapshot_nalive(&map), 2);
    ord_snapshot_leave(&first);
    assert_int_equal(ord_snapshot_nalive(&map), 1);
}

static void a_map_with_readers_is_not_destroyed(void **state)
{
    struct ord_snapshot_reader reader;

    (void)state;
    ord_snapshot_enter(&map, &reader);
    assert_int_equal(ord_snapshot_destroy(&map), EBUSY);
    ord_snapshot_put(&map, "a", 1);
    assert_int_equal(ord_snapshot_destroy(&map), EBUSY);
    ord_snapshot_leave(&reader);
}

static void too_many_old_snapshots_make_writers_try_again(void **state)
{
    struct ord_snapshot_reader readers[ORD_SNAPSHOT_MAX];

    (void)state;
    for (size_t i = 0; i < ORD_SNAPSHOT_MAX; i++) {
        ord_snapshot_enter(&map, &readers[i]);
        assert_int_equal(ord_snapshot_put(&map, "n", (int64_t)i),
                         i + 1 < ORD_SNAPSHOT_MAX ? 0 : EAGAIN);
    }
    assert_int_equal(ord_snapshot_remove(&map, "n"), EAGAIN);
    ord_snapshot_leave(&readers[0]);
    assert_int_equal(ord_snapshot_put(&map, "n", 99), 0);
    for (size_t i = 1; i < ORD_SNAPSHOT_MAX; i++)
        ord_snapshot_leave(&readers[i]);
    assert_int_equal(ord_snapshot_nalive(&map), 1);
}

struct stress {
    ord_ns end;
    unsigned nstarted; /* atomic: even ones write */
};

/* Two entries that are always written together must be read together. */
static void write_both(int64_t value)
{
    const struct ord_snapshot_entry both[] = { { "x", value }, { "y", value } };
    int rc = ord_snapshot_put_all(&map, both, 2);

    assert_true(rc == 0 || rc == EAGAIN);
}

static void read_both(void)
{
    struct ord_snapshot_reader reader;

    ord_snapshot_enter(&map, &reader);
    if (ord_snapshot_size(&reader) > 0)
        assert_int_equal(value_of(&reader, "x"), value_of(&reader, "y"));
    ord_snapshot_leave(&reader);
}

static void *write_or_read(void *arg)
{
    struct stress *stress = arg;
    unsigned self = __atomic_fetch_add(&stress->nstarted, 1, __ATOMIC_RELAXED);

    for (int64_t i = 0; ord_now() < stress->end; i++) {
        if (self % 2 == 0)
            write_both(i);
        else
            read_both();
    }
    return NULL;
}

static void readers_never_see_half_a_write(void **state)
{
    struct stress stress = { race_end(), 0 };

    (void)state;
    race_run(6, write_or_read, &stress);
    assert_int_equal(ord_snapshot_nalive(&map), 1);
}

static void *put_one_of_many(void *arg)
{
    unsigned self = __atomic_fetch_add((unsigned *)arg, 1, __ATOMIC_RELAXED);
    char name[] = { 'k', (char)('a' + self), 0 };

    assert_int_equal(ord_snapshot_put(&map, name, self), 0);
    return NULL;
}

static void no_write_of_many_writers_is_lost(void **state)
{
    struct ord_snapshot_reader reader;
    unsigned nwriters = 0;

    (void)state;
    race_run(RACE_MAX, put_one_of_many, &nwriters);
    ord_snapshot_enter(&map, &reader);
    assert_int_equal(ord_snapshot_size(&reader), RACE_MAX);
    ord_snapshot_leave(&reader);
}

#define WITH_MAP(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MAP(what_was_put_is_read),
        WITH_MAP(what_was_removed_is_gone),
        WITH_MAP(a_name_must_fit),
        WITH_MAP(of_two_entries_with_one_name_the_later_stays),
        WITH_MAP(a_reader_keeps_what_it_entered),
        WITH_MAP(an_old_snapshot_is_freed_by_its_last_reader),
        WITH_MAP(a_map_with_readers_is_not_destroyed),
        WITH_MAP(too_many_old_snapshots_make_writers_try_again),
        WITH_MAP(readers_never_see_half_a_write),
        WITH_MAP(no_write_of_many_writers_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
