/* SPDX-License-Identifier: MIT
 * test_phrase.c - what statements name, and what is left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "phrase.h"
#include "pool.h"

/* "s>peer[]: call/0 whole", one after the other. */
static void reads(const char *text, const char *want)
{
    struct lh_pool pool = { 0 };
    size_t n;
    const struct lh_phrase_path *p = lh_phrase_read(&pool, text, &n);
    char *got = lh_pool_copy(&pool, "");
    for (size_t i = 0; i < n; i++) {
        got =
            lh_pool_format(&pool, "%s%s%s", got, i ? ", " : "", p[i].variable);
        for (size_t j = 0; j < p[i].nsteps; j++)
            got = lh_pool_format(&pool, "%s%c%s", got, p[i].steps[j].how,
                                 p[i].steps[j].name);
        if (*p[i].call)
            got = lh_pool_format(&pool, "%s: %s/%d%s%s", got, p[i].call,
                                 p[i].argument, p[i].whole ? " whole" : "",
                                 p[i].hidden ? " hidden" : "");
    }
    assert_string_equal(got, want);
    lh_pool_free(&pool);
}

static void members_and_where_they_are_passed(void **state)
{
    (void)state;
    reads("    pthread_mutex_lock(&s->peer.lock);\n    next(x);",
          "s>peer.lock: pthread_mutex_lock/0 whole");
    reads("push(w, &t->in[hash(k) % N].lock);",
          "w: push/0 whole, t>in[.lock: push/1 whole");
    reads("lock((&s->a), b + 1);", "s>a, b: lock/1");
    reads("if ((rc = lock(&s->a)) != 0) {\n    use(b);\n}",
          "rc, s>a: lock/0 whole");
}

static void methods_and_guards(void **state)
{
    (void)state;
    reads("mutex_.lock();", "mutex_: lock/-1 whole");
    reads("s->queue->push(1);", "s>queue*: push/-1 whole");
    reads("std::lock_guard<std::mutex> guard(m_);", "m_: guard/0 whole");
    reads("std::unique_lock lock{ this->m_ };", "this>m_: lock/0 whole");
    reads("std::unique_lock lock{\n    m_\n};", "m_: lock/0 whole");
    reads("std::lock(a.m, b.m);", "a.m: lock/0 whole, b.m: lock/1 whole");
}

static void comments_strings_and_what_follows_are_left_out(void **state)
{
    (void)state;
    reads("lock( /* b->lock */\n    &a->lock, // c->lock\n    \"d->lock\");",
          "a>lock: lock/0 whole");
    reads("lock(&a->lock); lock(&b->lock);", "a>lock: lock/0 whole");
    reads("if (ready())\n    lock(&a->lock);", "");
    reads("} else {\n    lock(&a->lock);\n}", "");
    reads("&& lock(&a->lock)) {\n    b->lock;", "a>lock: lock/0 whole");
    reads("void f() { lock(&m); }\nvoid g() { lock(&n); }",
          "void, m: lock/0 whole");
}

static void what_a_call_returns_is_not_known(void **state)
{
    (void)state;
    reads("pthread_mutex_lock(choose(&a->lock));",
          "a>lock: choose/0 whole hidden");
    reads("pthread_mutex_lock(&get(i)->lock);", "i: get/0 whole hidden");
}

static void anything_else_is_no_harm(void **state)
{
    (void)state;
    reads("", "");
    reads("\"", "");
    reads("/*", "");
    reads("'\\", "");
    reads(")))", "");
    reads("a[", "");
    reads("a->", "");
    reads("((((((((((((((((((((a))))", "");
    reads("x::", "");
    reads("#define LOCK(s) \\", "define, s: LOCK/0 whole");
}

static void calls_are_counted(void **state)
{
    struct lh_pool pool = { 0 };
    (void)state;
    assert_int_equal(lh_phrase_count(&pool, "a(b(1), b (2));b(3);", "b"), 2);
    assert_int_equal(lh_phrase_count(&pool, "x = sem_wait(s);", ""), 1);
    assert_int_equal(lh_phrase_count_in_block(
                         &pool, "void f()\n{ b(); { b(); }\n}\nb();", "b"),
                     2);
    lh_pool_free(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_and_where_they_are_passed),
        cmocka_unit_test(methods_and_guards),
        cmocka_unit_test(comments_strings_and_what_follows_are_left_out),
        cmocka_unit_test(what_a_call_returns_is_not_known),
        cmocka_unit_test(anything_else_is_no_harm),
        cmocka_unit_test(calls_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
