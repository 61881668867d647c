/* SPDX-License-Identifier: MIT
 *
 * test_segments.c - which segments precede which, by hand and by comparison
 * with the transitive closure of a model.
 */
#include "core_test.h"

#include <errno.h>

#include "core/segments.h"

static struct test_mem memory;
static struct lh_segments *s;

static int set_up(void **state)
{
    (void)state;
    memset(&memory, 0, sizeof memory);
    s = lh_segments_new(test_mem(&memory));
    return s ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    lh_segments_free(s);
    return memory.nbytes == 0 ? 0 : -1;
}

static uint32_t add(uint32_t creator)
{
    uint32_t thread;
    assert_int_equal(lh_segments_add(s, creator, &thread), 0);
    return thread;
}

static struct lh_segment now(uint32_t thread)
{
    return lh_segments_now(s, thread);
}

static void created_threads_are_parallel(void **state)
{
    (void)state;
    uint32_t main = add(0), a = add(main), b = add(main);
    assert_int_equal(lh_segments_compare(s, now(a), now(b)), LH_PARALLEL);
    assert_int_equal(lh_segments_compare(s, now(a), now(main)), LH_PARALLEL);
    assert_int_equal(lh_segments_compare(s, now(a), now(a)), LH_SAME_THREAD);
}

static void what_the_creator_did_before_precedes_the_thread(void **state)
{
    (void)state;
    uint32_t main = add(0);
    struct lh_segment before = now(main);
    uint32_t a = add(main);
    uint32_t b = add(a);
    assert_int_equal(lh_segments_compare(s, before, now(a)), LH_FIRST_PRECEDES);
    assert_int_equal(lh_segments_compare(s, now(b), before),
                     LH_SECOND_PRECEDES);
    assert_int_equal(lh_segments_compare(s, now(main), now(b)), LH_PARALLEL);
}

static void a_joined_thread_precedes_what_its_joiner_does_next(void **state)
{
    (void)state;
    uint32_t main = add(0), a = add(main);
    struct lh_segment during = now(main);
    struct lh_segment early = now(a);
    uint32_t c = add(a); /* not joined by anyone */
    lh_segments_join(s, main, a);
    uint32_t b = add(main);
    assert_int_equal(lh_segments_compare(s, early, now(b)), LH_FIRST_PRECEDES);
    assert_int_equal(lh_segments_compare(s, early, now(main)),
                     LH_FIRST_PRECEDES);
    assert_int_equal(lh_segments_compare(s, now(a), during), LH_PARALLEL);
    assert_int_equal(lh_segments_compare(s, now(c), now(b)), LH_PARALLEL);
}

static void a_chain_of_threads_each_joining_the_last_is_ordered(void **state)
{
    (void)state;
    uint32_t main = add(0), first = add(main), last = first;
    struct lh_segment start = now(first);
    for (int i = 0; i < 1000; i++) {
        uint32_t next = add(main);
        lh_segments_join(s, next, last);
        last = next;
    }
    assert_int_equal(lh_segments_compare(s, start, now(last)),
                     LH_FIRST_PRECEDES);
}

static void a_million_threads_later_order_is_still_known(void **state)
{
    (void)state;
    uint32_t main = add(0), first = add(main);
    struct lh_segment start = now(first);
    lh_segments_join(s, main, first);
    uint32_t last = first;
    for (int i = 0; i < 1000000; i++) {
        last = add(main);
        if (i % 2)
            lh_segments_join(s, main, last);
    }
    assert_int_equal(lh_segments_compare(s, start, now(last)),
                     LH_FIRST_PRECEDES);
    assert_int_equal(lh_segments_compare(s, now(last), start),
                     LH_SECOND_PRECEDES);
}

static void joins_that_make_no_sense_change_nothing(void **state)
{
    (void)state;
    uint32_t main = add(0), a = add(main), b = add(main);
    lh_segments_join(s, a, a);
    lh_segments_join(s, main, a);
    struct lh_segment then = now(b);
    lh_segments_join(s, b, a);
    lh_segments_join(s, b, 99);
    lh_segments_join(s, 99, b);
    assert_int_equal(now(b).index, then.index);
    assert_int_equal(lh_segments_joiner(s, a), main);
    assert_int_equal(lh_segments_creator(s, a), main);
    assert_int_equal(lh_segments_creator(s, main), 0);
    assert_int_equal(lh_segments_joiner(s, 99), 0);
}

/* The model: every segment is a node, and a matrix says what precedes what. */
enum { MAX_SEGMENTS = 120, MAX_THREADS = 24 };
static bool before[MAX_SEGMENTS][MAX_SEGMENTS];
static struct lh_segment names[MAX_SEGMENTS];
static int nsegments, present[MAX_THREADS + 1];
static bool is_joined[MAX_THREADS + 1];

static int new_segment(uint32_t thread)
{
    names[nsegments] = now(thread);
    return present[thread] = nsegments++;
}

static void random_step(uint64_t *random, uint32_t *nthreads)
{
    uint32_t actor = 1 + test_random(random, *nthreads);
    if (is_joined[actor])
        return;
    int old = present[actor];
    if (test_random(random, 3) && *nthreads < MAX_THREADS) {
        uint32_t thread = add(test_random(random, 8) ? actor : 0);
        bool has_creator = lh_segments_creator(s, thread) != 0;
        *nthreads = thread;
        int child = new_segment(thread);
        if (!has_creator)
            return;
        before[old][child] = true;
        before[old][new_segment(actor)] = true;
        return;
    }
    uint32_t other = 1 + test_random(random, *nthreads);
    if (other == actor || is_joined[other])
        return;
    lh_segments_join(s, actor, other);
    is_joined[other] = true;
    int after = new_segment(actor);
    before[old][after] = true;
    before[present[other]][after] = true;
}

static void close_model(void)
{
    for (int k = 0; k < nsegments; k++)
        for (int i = 0; i < nsegments; i++)
            for (int j = 0; j < nsegments && before[i][k]; j++)
                before[i][j] |= before[k][j];
}

static void random_histories_agree_with_the_model(void **state)
{
    for (uint64_t round = 0; round < 150; round++) {
        uint64_t random = test_state(round);
        uint32_t nthreads = 1;
        memset(before, 0, sizeof before);
        memset(is_joined, 0, sizeof is_joined);
        nsegments = 0;
        add(0);
        new_segment(1);
        while (nsegments < MAX_SEGMENTS - 2 && test_random(&random, 200))
            random_step(&random, &nthreads);
        close_model();
        for (int i = 0; i < nsegments; i++) {
            for (int j = 0; j < nsegments; j++) {
                enum lh_overlap expected = names[i].thread == names[j].thread
                                               ? LH_SAME_THREAD
                                           : before[i][j] ? LH_FIRST_PRECEDES
                                           : before[j][i] ? LH_SECOND_PRECEDES
                                                          : LH_PARALLEL;
                assert_int_equal(lh_segments_compare(s, names[i], names[j]),
                                 expected);
            }
        }
        assert_int_equal(tear_down(state), 0);
        assert_int_equal(set_up(state), 0);
    }
}

static void a_failed_addition_changes_nothing(void **state)
{
    for (size_t n = 1; n < 20; n++) {
        uint32_t thread = 77;
        assert_int_equal(tear_down(state), 0);
        assert_int_equal(set_up(state), 0);
        memory.fail_at = memory.nresizes + n;
        uint32_t main = 0, nthreads = 0;
        for (int i = 0; i < 300; i++) {
            struct lh_segment then = now(main);
            int rc = lh_segments_add(s, main, &thread);
            if (rc != 0) {
                assert_int_equal(rc, ENOMEM);
                assert_int_equal(thread, nthreads ? nthreads : 77);
                assert_int_equal(now(main).index, then.index);
                rc = lh_segments_add(s, main, &thread);
            }
            assert_int_equal(rc, 0);
            assert_int_equal(thread, ++nthreads);
            main = main ? main : thread;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(created_threads_are_parallel),
        TEST(what_the_creator_did_before_precedes_the_thread),
        TEST(a_joined_thread_precedes_what_its_joiner_does_next),
        TEST(a_chain_of_threads_each_joining_the_last_is_ordered),
        TEST(a_million_threads_later_order_is_still_known),
        TEST(joins_that_make_no_sense_change_nothing),
        TEST(random_histories_agree_with_the_model),
        TEST(a_failed_addition_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
