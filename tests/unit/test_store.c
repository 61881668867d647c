/* SPDX-License-Identifier: MIT
 * test_store.c - a store, and others at it meanwhile. */
#include "store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct visit {
    const char *path;
    size_t seen;
    bool drops;
};

static enum lh_store_added add(struct lh_store *s, const char *records)
{
    return lh_store_add(s, "name", records, strlen(records));
}

static void while_read(void *ctx, const struct lh_store_process *p)
{
    struct visit *v = ctx;
    struct lh_store *other = lh_store_open(v->path, false);
    v->seen++;
    assert_string_equal(p->name, "name");
    assert_memory_equal(p->bytes, "run", 3);
    if (v->drops)
        assert_int_equal(lh_store_prune(other, 0), 3);
    else
        add(other, "run 3\n");
    lh_store_close(other);
    assert_memory_equal(p->bytes, "run", 3);
}

static void setup(char *path)
{
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct lh_store *s = lh_store_open(path, true);
    assert_int_equal(add(s, "run 1\n"), LH_STORE_NEW);
    assert_int_equal(add(s, "run 2\n"), LH_STORE_NEW);
    assert_int_equal(add(s, "run 2\n"), LH_STORE_KNOWN);
    assert_int_equal(add(s, "run 2\nmore\n"), LH_STORE_GROWN);
    lh_store_close(s);
}

/* Nobody waits for a reader: this would, for two minutes. */
static void reader_keeps_nobody_waiting(void **state)
{
    (void)state;
    char path[] = "/tmp/test_store.XXXXXX";
    struct visit v = { .path = path };
    setup(path);
    struct lh_store *s = lh_store_open(path, false);
    assert_int_equal(lh_store_each(s, while_read, &v), 2);
    assert_int_equal(v.seen, 2); /* not what was added meanwhile */
    v = (struct visit){ .path = path, .drops = true };
    assert_int_equal(lh_store_each(s, while_read, &v), 1);
    lh_store_close(s);
    unlink(path);
}

static void larger_than_a_row_can_be_is_not_added(void **state)
{
    (void)state;
    char path[] = "/tmp/test_store.XXXXXX";
    setup(path);
    struct lh_store *s = lh_store_open(path, false);
    assert_int_equal(lh_store_add(s, "name", "line\n", LH_STORE_MOST_BYTES),
                     LH_STORE_TOO_LARGE);
    assert_int_equal(add(s, "run 4\n"), LH_STORE_NEW);
    lh_store_close(s);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reader_keeps_nobody_waiting),
        cmocka_unit_test(larger_than_a_row_can_be_is_not_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
