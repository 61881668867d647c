/* SPDX-License-Identifier: MIT
 *
 * test_order.c - which rings of requests are reported, with which grade and
 * reasons.
 */
#include "core_test.h"

#include <errno.h>

#include "core/order.h"
#include "core/segments.h"

/* Here a stack is its innermost frame. */
static uint32_t site_of(void *ctx, uint32_t stack)
{
    (void)ctx;
    return stack;
}

/* As the runtime does. */
static void end_lock(struct lh_order *o, lh_lock lock)
{
    lh_order_end_lock(o, lock);
    if (lh_order_wants_sweep(o))
        lh_order_sweep(o);
}

enum { MAX_CALLS = 64, MAX_SIDES = 2048, MAX_REASONS = 32 };

struct call {
    struct lh_ring ring;
    struct lh_side sides[8];
    struct lh_reason reasons[MAX_REASONS];
};

static struct test_mem memory;
static struct lh_segments *s;
static struct lh_order *o;
static struct call calls[MAX_CALLS];
static size_t ncalls;
static uint32_t t1, t2, t3; /* threads that run side by side */
static lh_lock A, B, C, D;

static void on_ring(void *ctx, const struct lh_ring *ring)
{
    (void)ctx;
    struct call *c = &calls[ncalls++ % MAX_CALLS];
    c->ring = *ring;
    assert_true(ring->nreasons <= MAX_REASONS);
    assert_int_equal(ring->grade == LH_POSSIBLE, ring->nreasons == 0);
    size_t nsides = ring->nsides < 8 ? ring->nsides : 8;
    memcpy(c->sides, ring->sides, nsides * sizeof *c->sides);
    for (size_t i = 0; i < ring->nreasons; i++)
        c->reasons[i] = ring->reasons[i];
    for (size_t i = 0; i < ring->nsides; i++)
        assert_int_equal(ring->sides[i].wants,
                         ring->sides[(i + 1) % ring->nsides].holds);
}

static uint32_t thread(uint32_t creator)
{
    uint32_t number;
    assert_int_equal(lh_segments_add(s, creator, &number), 0);
    return number;
}

static lh_lock lock_of(uint64_t class_key)
{
    lh_lock lock;
    assert_int_equal(lh_order_add_lock(o, class_key, &lock), 0);
    return lock;
}

static int set_up(void **state)
{
    (void)state;
    memset(&memory, 0, sizeof memory);
    ncalls = 0;
    s = lh_segments_new(test_mem(&memory));
    o = lh_order_new(test_mem(&memory), s, on_ring, site_of, NULL);
    if (!s || !o)
        return -1;
    uint32_t main = thread(0);
    t1 = thread(main);
    t2 = thread(main);
    t3 = thread(main);
    A = lock_of('A');
    B = lock_of('B');
    C = lock_of('C');
    D = lock_of('D');
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    lh_order_free(o);
    lh_segments_free(s);
    return memory.nbytes == 0 ? 0 : -1;
}

/* What a thread does: R() wants a lock while it holds up to four others. Sites
 * and stacks are made up of the locks' numbers. */
struct held_list {
    lh_lock lock[4];
    uint8_t mode[4];
};

static struct lh_learned request_in(struct lh_segment segment, lh_lock wanted,
                                    uint8_t mode, uint8_t wait,
                                    struct held_list list)
{
    struct lh_held held[4];
    struct lh_learned learned = { 0, 0, false, false };
    size_t n = 0;
    for (; n < 4 && list.lock[n]; n++) {
        held[n] = (struct lh_held){
            .lock = list.lock[n],
            .stack = 1000 + list.lock[n],
            .mode = list.mode[n],
        };
    }
    struct lh_request request = {
        .lock = wanted,
        .stack = 3000 + wanted,
        .mode = mode,
        .wait = wait,
        .segment = segment,
        .held = held,
        .nheld = n,
    };
    assert_int_equal(lh_order_request(o, &request, &learned), 0);
    return learned;
}

#define HELD(...) ((struct held_list){ .lock = { __VA_ARGS__ } })

static struct lh_learned R(uint32_t by, lh_lock wanted, struct held_list held) {
    return request_in(lh_segments_now(s, by), wanted, LH_EXCLUSIVE,
                      LH_WAIT_BLOCK, held);
}

static const struct lh_ring *
last(void)
{
    assert_true(ncalls > 0);
    return &calls[(ncalls - 1) % MAX_CALLS].ring;
}

static const struct lh_reason *reason(size_t i)
{
    assert_true(i < last()->nreasons);
    return &calls[(ncalls - 1) % MAX_CALLS].reasons[i];
}

static const struct lh_side *side(size_t i)
{
    return &calls[(ncalls - 1) % MAX_CALLS].sides[i];
}

static void assert_one(enum lh_grade grade)
{
    assert_int_equal(ncalls, 1);
    assert_int_equal(last()->grade, grade);
}

/* Rings that can deadlock. */

static void opposite_order_in_two_threads_is_possible(void **state)
{
    (void)state;
    R(t1, B, HELD(A));
    assert_int_equal(ncalls, 0);
    struct lh_learned learned = R(t2, A, HELD(B));
    assert_one(LH_POSSIBLE);
    assert_int_equal(last()->nsides, 2);
    assert_true(last()->is_new);
    assert_int_equal(last()->id, 1);
    assert_int_equal(side(0)->dependency, learned.serial);
    assert_int_equal(side(0)->wants, A);
    assert_int_equal(side(0)->holds, B);
    assert_int_equal(side(0)->segment.thread, t2);
    assert_int_equal(side(0)->wants_stack, 3000 + A);
    assert_int_equal(side(0)->holds_stack, 1000 + B);
    assert_int_equal(side(1)->segment.thread, t1);
    assert_int_equal(side(1)->wants_stack, 3000 + B);
}

static void equal_order_is_no_ring(void **state)
{
    (void)state;
    R(t1, B, HELD(A));
    R(t2, B, HELD(A));
    R(t1, C, HELD(A, B));
    R(t2, C, HELD(B));
    assert_int_equal(ncalls, 0);
}

static void three_threads_in_a_circle_are_possible(void **state)
{
    (void)state;
    R(t1, B, HELD(A));
    R(t2, C, HELD(B));
    R(t3, A, HELD(C));
    assert_one(LH_POSSIBLE);
    assert_int_equal(last()->nsides, 3);
}

static void the_shortest_ring_comes_first(void **state)
{
    (void)state;
    R(t1, B, HELD(A));
    R(t2, C, HELD(B));
    R(t2, D, HELD(C));
    R(t2, C, HELD(A));
    R(t3, A, HELD(D));
    assert_true(ncalls >= 1);
    assert_int_equal(calls[0].ring.nsides, 3);
}

static void a_ring_through_an_inner_lock_is_possible(void **state)
{
    (void)state;
    R(t1, B, HELD(A));
    R(t1, C, HELD(A, B));
    R(t2, A, HELD(C));
    assert_one(LH_POSSIBLE);
    assert_int_equal(last()->nsides, 2);
}

static void a_condition_wait_with_another_lock_held_is_a_request(void **state)
{
    (void)state;
    request_in(lh_segments_now(s, t1), B, LH_EXCLUSIVE, LH_WAIT_CONDITION,
               HELD(A));
    R(t2, A, HELD(B));
    assert_one(LH_POSSIBLE);
    assert_int_equal(side(1)->wait, LH_WAIT_CONDITION);
}

static void a_ring_of_a_thousand_locks_is_found_at_once(void **state)
{
    (void)state;
    enum { N = 1000 };
    static lh_lock locks[N];
    uint32_t main = thread(0);
    for (int i = 0; i < N; i++)
        locks[i] = lock_of((uint64_t)i + 1000);
    for (int i = 0; i < N; i++)
        R(thread(main), locks[(i + 1) % N], HELD(locks[i]));
    assert_one(LH_POSSIBLE);
    assert_int_equal(last()->nsides, N);
    struct lh_order_totals t;
    lh_order_totals(o, &t);
    assert_false(t.bounded);
}

/* A lock whose readers wait behind writers that wait. */

static struct lh_learned rw(uint32_t by, lh_lock wanted, uint8_t mode,
                            uint8_t wait, struct held_list list)
{
    struct lh_held held[4];
    struct lh_learned learned = { 0, 0, false, false };
    struct lh_request request = {
        .lock = wanted,
        .stack = 3000 + wanted,
        .mode = mode,
        .wait = wait,
        .queues = true,
        .segment = lh_segments_now(s, by),
        .held = held,
    };
    for (; request.nheld < 4 && list.lock[request.nheld]; request.nheld++) {
        size_t n = request.nheld;
        held[n] =
            (struct lh_held){ list.lock[n], 1000 + list.lock[n], list.mode[n] };
    }
    assert_int_equal(lh_order_request(o, &request, &learned), 0);
    return learned;
}

static struct lh_learned reads(uint32_t by, lh_lock wanted,
                               struct held_list list)
{
    return rw(by, wanted, LH_SHARED, LH_WAIT_BLOCK, list);
}

static struct lh_learned writes(uint32_t by, lh_lock wanted,
                                struct held_list list)
{
    return rw(by, wanted, LH_EXCLUSIVE, LH_WAIT_BLOCK, list);
}

#define READ(lock_)                                                            \
    ((struct held_list){ .lock = { lock_ }, .mode = { LH_SHARED } })
#define NOTHING HELD(0)

static void a_nested_read_and_a_writer_are_a_ring_of_one_lock(void **state)
{
    (void)state;
    struct lh_learned nested = reads(t1, A, READ(A));
    assert_int_not_equal(nested.slot, 0);
    assert_int_equal(ncalls, 0);
    struct lh_learned writer = writes(t2, A, NOTHING);
    assert_one(LH_POSSIBLE);
    assert_int_equal(last()->nsides, 2);
    for (size_t i = 0; i < 2; i++) {
        bool reader = side(i)->segment.thread == t1;
        assert_int_equal(side(i)->wants, A);
        assert_int_equal(side(i)->holds, A);
        assert_int_equal(side(i)->wants_mode,
                         reader ? LH_SHARED : LH_EXCLUSIVE);
        assert_int_equal(side(i)->holds_mode, reader ? LH_SHARED : LH_QUEUED);
        assert_int_equal(side(i)->dependency,
                         reader ? nested.serial : writer.serial);
        assert_int_equal(side(i)->holds_stack, (reader ? 1000 : 3000) + A);
    }
}

static void a_nested_read_with_the_writer_first_is_found_too(void **state)
{
    (void)state;
    writes(t2, A, NOTHING);
    reads(t1, A, NOTHING);
    reads(t1, A, READ(A));
    assert_one(LH_POSSIBLE);
}

static void a_nested_read_by_the_only_writer_is_conditional(void **state)
{
    (void)state;
    writes(t1, A, NOTHING);
    reads(t1, A, READ(A));
    assert_one(LH_CONDITIONAL);
    assert_int_equal(reason(0)->kind, LH_REASON_ONE_THREAD);
}

static void
a_nested_read_beside_a_writer_that_gives_up_is_conditional(void **state)
{
    (void)state;
    rw(t2, A, LH_EXCLUSIVE, LH_WAIT_TIMED, NOTHING);
    reads(t1, A, READ(A));
    assert_one(LH_CONDITIONAL);
    assert_int_equal(reason(0)->kind, LH_REASON_TIMED);
}

static void a_nested_read_under_a_gate_is_conditional(void **state)
{
    (void)state;
    struct held_list list = { .lock = { C, A }, .mode = { 0, LH_SHARED } };
    reads(t1, A, list);
    writes(t2, A, HELD(C));
    assert_one(LH_CONDITIONAL);
    assert_int_equal(reason(0)->kind, LH_REASON_GATE);
    assert_int_equal(reason(0)->lock, C);
}

static void without_a_queue_a_nested_read_waits_for_nobody(void **state)
{
    (void)state;
    struct lh_learned learned = request_in(lh_segments_now(s, t1), A, LH_SHARED,
                                           LH_WAIT_BLOCK, READ(A));
    assert_int_equal(learned.slot, 0);
    request_in(lh_segments_now(s, t2), A, LH_EXCLUSIVE, LH_WAIT_BLOCK, NOTHING);
    assert_int_equal(ncalls, 0);
}

static void a_reader_behind_a_writer_behind_a_reader_is_a_ring(void **state)
{
    (void)state;
    R(t1, B, READ(A));
    struct lh_learned reader = reads(t2, A, HELD(B));
    assert_int_equal(ncalls, 0);
    writes(t3, A, NOTHING);
    assert_one(LH_POSSIBLE);
    assert_int_equal(last()->nsides, 3);
    for (size_t i = 0; i < 3; i++) {
        uint32_t by = side(i)->segment.thread;
        assert_int_equal(side(i)->holds, by == t2 ? B : A);
        assert_int_equal(side(i)->wants, by == t1 ? B : A);
        assert_int_equal(side(i)->holds_mode, by == t1   ? LH_SHARED
                                              : by == t2 ? LH_EXCLUSIVE
                                                         : LH_QUEUED);
        if (by == t2)
            assert_int_equal(side(i)->dependency, reader.serial);
    }
}

static void readers_in_both_orders_without_a_writer_are_no_ring(void **state)
{
    (void)state;
    reads(t1, B, READ(A));
    reads(t2, A, READ(B));
    assert_int_equal(ncalls, 0);
    writes(t3, C, NOTHING);
    assert_int_equal(ncalls, 0);
}

static void a_queue_in_front_of_a_writer_adds_no_ring(void **state)
{
    (void)state;
    R(t1, B, HELD(A));
    reads(t2, A, HELD(B));
    assert_one(LH_POSSIBLE);
    assert_int_equal(last()->nsides, 2);
    writes(t3, A, NOTHING);
    writes(t3, A, HELD(B));
    assert_int_equal(last()->nsides, 2);
}

static void two_writers_take_turns_and_are_no_gate(void **state)
{
    (void)state;
    R(t1, B, HELD(A));
    writes(t2, A, HELD(B));
    assert_one(LH_POSSIBLE);
    assert_int_equal(last()->nsides, 2);
}

static void a_read_by_the_writer_itself_asks_for_nothing(void **state)
{
    (void)state;
    struct lh_learned learned = reads(t1, A, HELD(A));
    assert_int_equal(learned.slot, 0);
    writes(t2, A, NOTHING);
    assert_int_equal(ncalls, 0);
}

static void a_queue_ends_with_its_lock(void **state)
{
    (void)state;
    reads(t1, A, READ(A));
    end_lock(o, A);
    A = lock_of('a');
    writes(t2, A, NOTHING);
    assert_int_equal(ncalls, 0);
    lh_order_sweep(o);
    reads(t1, A, READ(A));
    assert_one(LH_POSSIBLE);
    lh_order_sweep(o);
    reads(t3, A, READ(A));
    assert_int_equal(ncalls, 1);
}

/* Locks that are not known to be locks yet. */

static void no_ring_goes_through_a_withheld_lock(void **state)
{
    (void)state;
    lh_order_withhold_lock(o, A);
    R(t1, B, HELD(A));
    R(t2, A, HELD(B));
    R(t2, C, HELD(A));
    R(t3, B, HELD(C)); /* and a ring of three */
    lh_order_settle(o);
    assert_int_equal(ncalls, 0);
}

static void what_a_withheld_lock_taught_counts_when_it_is_admitted(void **state)
{
    (void)state;
    lh_order_withhold_lock(o, A);
    R(t1, B, HELD(A));
    R(t2, A, HELD(B));
    lh_order_admit_lock(o, A);
    assert_one(LH_POSSIBLE);
    assert_int_equal(last()->nsides, 2);
    lh_order_admit_lock(o, A);
    assert_int_equal(ncalls, 1);
    R(t3, C, HELD(A));
    R(t2, A, HELD(C));
    assert_int_equal(ncalls, 2);
}

static void a_ring_of_two_withheld_locks_waits_for_both(void **state)
{
    (void)state;
    lh_order_withhold_lock(o, A);
    lh_order_withhold_lock(o, B);
    R(t1, B, HELD(A));
    R(t2, A, HELD(B));
    lh_order_admit_lock(o, A);
    assert_int_equal(ncalls, 0);
    lh_order_admit_lock(o, B);
    assert_one(LH_POSSIBLE);
}

static void rings_of_an_admitted_lock_are_graded_as_any(void **state)
{
    (void)state;
    lh_order_withhold_lock(o, A);
    R(t1, B, HELD(A));
    R(t1, A, HELD(B));
    lh_order_admit_lock(o, A);
    assert_one(LH_CONDITIONAL);
    assert_int_equal(reason(0)->kind, LH_REASON_ONE_THREAD);
}

static void the_end_of_a_withheld_lock_ends_its_orders(void **state)
{
    (void)state;
    lh_order_withhold_lock(o, A);
    R(t1, B, HELD(A));
    R(t2, A, HELD(B));
    lh_order_end_lock(o, A);
    lh_order_admit_lock(o, A);
    lh_order_sweep(o);
    assert_int_equal(ncalls, 0);
    lh_lock next = lock_of('A'); /* most likely with the same number */
    R(t1, B, HELD(next));
    R(t2, next, HELD(B));
    assert_one(LH_POSSIBLE);
}

static void a_long_ring_counts_with_its_last_lock(void **state)
{
    (void)state;
    enum { N = 50 };
    static lh_lock locks[N];
    uint32_t main = thread(0);
    for (int i = 0; i < N; i++) {
        locks[i] = lock_of((uint64_t)i + 1000);
        lh_order_withhold_lock(o, locks[i]);
    }
    for (int i = 0; i < N; i++)
        R(thread(main), locks[(i + 1) % N], HELD(locks[i]));
    for (int i = 0; i < N; i++) {
        assert_int_equal(ncalls, 0);
        lh_order_admit_lock(o, locks[i]);
    }
    assert_one(LH_POSSIBLE);
    assert_int_equal(last()->nsides, N);
}

static void tell(void *ctx, uint32_t serial, const struct lh_request *request)
{
    uint64_t *told = ctx;
    assert_true(serial < 64);
    assert_false(*told >> serial & 1);
    assert_true(request->nheld >= 1);
    assert_int_equal(request->stack, 3000 + request->lock);
    assert_int_equal(request->held[0].stack, 1000 + request->held[0].lock);
    *told |= UINT64_C(1) << serial;
}

static void each_request_of_a_lock_is_told_once(void **state)
{
    (void)state;
    uint64_t told = 0;
    uint64_t want = UINT64_C(1) << R(t1, A, HELD(B, C)).serial;
    want |= UINT64_C(1) << R(t1, C, HELD(A)).serial;
    want |= UINT64_C(1) << R(t1, D, HELD(B, A)).serial;
    R(t1, D, HELD(B));
    lh_order_each_of(o, A, tell, &told);
    assert_true(told == want);
    lh_order_end_lock(o, A);
    lh_order_each_of(o, A, tell, &told); /* or it would be told again */
}

static void a_side_that_only_tried_makes_it_conditional(void **state)
{
    (void)state;
    request_in(lh_segments_now(s, t1), B, LH_EXCLUSIVE, LH_WAIT_TRIED, HELD(A));
    R(t2, A, HELD(B));
    assert_one(LH_CONDITIONAL);
    assert_int_equal(last()->nreasons, 1);
    assert_int_equal(reason(0)->kind, LH_REASON_TRIED);
    R(t1, B, HELD(A)); /* now it has waited */
    assert_int_equal(last()->grade, LH_POSSIBLE);
    assert_false(last()->is_new);
}

/* Rings that can not, in this run. */

static void one_thread_alone_is_conditional(void **state)
{
    (void)state;
    R(t1, B, HELD(A));
    R(t1, A, HELD(B));
    assert_one(LH_CONDITIONAL);
    assert_int_equal(last()->nreasons, 1);
    assert_int_equal(reason(0)->kind, LH_REASON_ONE_THREAD);
    assert_int_equal(reason(0)->thread, t1);
}

static void two_threads_for_three_sides_are_too_few(void **state)
{
    (void)state;
    R(t1, B, HELD(A));
    R(t1, C, HELD(B));
    R(t2, A, HELD(C));
    assert_one(LH_CONDITIONAL);
    assert_int_equal(last()->nreasons, 1);
    assert_int_equal(reason(0)->kind, LH_REASON_FEW_THREADS);
    assert_int_equal(reason(0)->count, 2);
}

static void gate_held_by_both_makes_it_conditional(void **state)
{
    (void)state;
    R(t1, B, HELD(C, A));
    R(t2, A, HELD(C, B));
    assert_one(LH_CONDITIONAL);
    assert_int_equal(last()->nreasons, 1);
    assert_int_equal(reason(0)->kind, LH_REASON_GATE);
    assert_int_equal(reason(0)->lock, C);
    assert_int_equal(reason(0)->a, 0);
    assert_int_equal(reason(0)->b, 1);
    assert_int_equal(reason(0)->stack_a, 1000 + C);
    assert_int_equal(reason(0)->stack_b, 1000 + C);
}

static void gate_held_shared_by_both_guards_nothing(void **state)
{
    (void)state;
    struct held_list list = { .lock = { C, A }, .mode = { LH_SHARED } };
    request_in(lh_segments_now(s, t1), B, LH_EXCLUSIVE, LH_WAIT_BLOCK, list);
    list.lock[1] = B;
    request_in(lh_segments_now(s, t2), A, LH_EXCLUSIVE, LH_WAIT_BLOCK, list);
    assert_one(LH_POSSIBLE);
}

static void gate_and_one_thread_are_both_told(void **state)
{
    (void)state;
    R(t1, B, HELD(C, A));
    R(t1, A, HELD(C, B));
    assert_one(LH_CONDITIONAL);
    assert_int_equal(last()->nreasons, 2);
    assert_int_equal(reason(0)->kind, LH_REASON_GATE);
    assert_int_equal(reason(1)->kind, LH_REASON_ONE_THREAD);
}

static void a_lock_whose_end_is_not_seen_makes_it_conditional(void **state)
{
    (void)state;
    lh_order_doubt_lock(o, B, true);
    R(t1, B, HELD(A));
    R(t2, A, HELD(B));
    assert_one(LH_CONDITIONAL);
    assert_int_equal(last()->nreasons, 1);
    assert_int_equal(reason(0)->kind, LH_REASON_UNSEEN_END);
    assert_int_equal(reason(0)->lock, B);
    assert_int_equal(last()->sides[reason(0)->a].wants, B);
}

static void a_doubtful_lock_spoils_no_other_ring(void **state)
{
    (void)state;
    lh_order_doubt_lock(o, D, true);
    R(t1, B, HELD(A, D));
    R(t2, A, HELD(B));
    assert_one(LH_POSSIBLE);
}

static void a_doubtful_lock_spoils_a_longer_ring(void **state)
{
    (void)state;
    lh_order_doubt_lock(o, C, true);
    R(t1, B, HELD(A));
    R(t2, C, HELD(B));
    R(t3, A, HELD(C));
    assert_one(LH_CONDITIONAL);
    assert_int_equal(reason(0)->kind, LH_REASON_UNSEEN_END);
    assert_int_equal(reason(0)->lock, C);
}

static void gate_is_no_gate_for_a_third_side(void **state)
{
    (void)state;
    R(t1, B, HELD(D, A));
    R(t2, C, HELD(D, B));
    R(t3, A, HELD(C));
    assert_one(LH_CONDITIONAL);
    assert_int_equal(last()->nreasons, 1);
    assert_int_equal(reason(0)->lock, D);
    R(t3, C, HELD(B)); /* the same order without the gate */
    assert_int_equal(last()->grade, LH_CONDITIONAL); /* by t3 alone as yet */
    R(t2, A, HELD(C));
    assert_int_equal(last()->grade, LH_POSSIBLE);
}

static void threads_that_never_overlap_are_conditional(void **state)
{
    (void)state;
    uint32_t main = thread(0), first = thread(main);
    R(first, B, HELD(A));
    lh_segments_join(s, main, first);
    uint32_t second = thread(main);
    R(second, A, HELD(B));
    assert_one(LH_CONDITIONAL);
    assert_int_equal(last()->nreasons, 1);
    assert_int_equal(reason(0)->kind, LH_REASON_ORDERED);
    assert_int_equal(side(reason(0)->a)->segment.thread, first);
    assert_int_equal(side(reason(0)->b)->segment.thread, second);
}

static void what_main_did_before_the_thread_is_ordered(void **state)
{
    (void)state;
    uint32_t main = thread(0);
    R(main, B, HELD(A));
    uint32_t second = thread(main);
    R(second, A, HELD(B));
    assert_one(LH_CONDITIONAL);
    R(main, B, HELD(A)); /* and again while the thread may run */
    assert_int_equal(ncalls, 2);
    assert_int_equal(last()->grade, LH_POSSIBLE);
    assert_false(last()->is_new);
    assert_int_equal(last()->id, 1);
}

static void a_timed_wait_is_conditional(void **state)
{
    (void)state;
    R(t1, B, HELD(A));
    request_in(lh_segments_now(s, t2), A, LH_EXCLUSIVE, LH_WAIT_TIMED, HELD(B));
    assert_one(LH_CONDITIONAL);
    assert_int_equal(last()->nreasons, 1);
    assert_int_equal(reason(0)->kind, LH_REASON_TIMED);
    assert_int_equal(side(reason(0)->a)->wait, LH_WAIT_TIMED);
}

static void a_timed_wait_that_was_there_first_is_conditional(void **state)
{
    (void)state;
    request_in(lh_segments_now(s, t1), B, LH_EXCLUSIVE, LH_WAIT_TIMED, HELD(A));
    R(t2, A, HELD(B));
    assert_one(LH_CONDITIONAL);
    assert_int_equal(reason(0)->kind, LH_REASON_TIMED);
    assert_int_equal(reason(0)->a, 1);
    R(t1, B, HELD(A)); /* the same without the limit */
    assert_int_equal(last()->grade, LH_POSSIBLE);
}

static void readers_do_not_block_readers(void **state)
{
    (void)state;
    struct held_list a = { .lock = { A }, .mode = { LH_SHARED } };
    struct held_list b = { .lock = { B }, .mode = { LH_SHARED } };
    struct lh_segment n1 = lh_segments_now(s, t1), n2 = lh_segments_now(s, t2);
    request_in(n1, B, LH_SHARED, LH_WAIT_BLOCK, a);
    request_in(n2, A, LH_SHARED, LH_WAIT_BLOCK, b);
    request_in(n2, A, LH_EXCLUSIVE, LH_WAIT_BLOCK, b);
    assert_int_equal(ncalls, 0); /* B: read against read still */
    request_in(n2, A, LH_EXCLUSIVE, LH_WAIT_BLOCK, HELD(B));
    assert_one(LH_POSSIBLE);
}

static void a_writer_against_a_reader_is_possible(void **state)
{
    (void)state;
    struct held_list a = { .lock = { A }, .mode = { LH_SHARED } };
    request_in(lh_segments_now(s, t1), B, LH_EXCLUSIVE, LH_WAIT_BLOCK, a);
    R(t2, A, HELD(B));
    assert_one(LH_POSSIBLE);
}

/* Findings over time. */

static void a_second_thread_raises_the_grade(void **state)
{
    (void)state;
    R(t1, B, HELD(A));
    R(t1, A, HELD(B));
    assert_one(LH_CONDITIONAL);
    struct lh_learned learned = R(t2, A, HELD(B));
    assert_false(learned.is_new);
    assert_true(learned.new_witness);
    assert_int_equal(ncalls, 2);
    assert_int_equal(last()->grade, LH_POSSIBLE);
    assert_false(last()->is_new);
    assert_int_equal(last()->id, 1);
    struct lh_order_totals t;
    lh_order_totals(o, &t);
    assert_int_equal(t.possible, 1);
    assert_int_equal(t.conditional, 0);
    assert_int_equal(lh_order_merged(o, 1), 1);
}

static void a_known_request_is_told_once(void **state)
{
    (void)state;
    struct lh_learned first = R(t1, B, HELD(A));
    R(t2, A, HELD(B));
    struct lh_learned again = R(t1, B, HELD(A));
    assert_int_equal(ncalls, 1);
    assert_true(first.is_new && first.new_witness);
    assert_false(again.is_new || again.new_witness);
    assert_int_equal(first.serial, again.serial);
    assert_int_equal(first.slot, again.slot);
    lh_order_count(o, again.slot, 5);
    assert_int_equal(lh_order_seen(o, first.serial).times, 7);
    assert_int_equal(lh_order_seen(o, first.serial).nthreads, 1);
    assert_int_equal(lh_order_seen(o, 99).times, 0);
}

static void held_locks_are_a_set(void **state)
{
    (void)state;
    struct lh_learned first = R(t1, C, HELD(A, B));
    struct lh_learned again = R(t2, C, HELD(B, A));
    assert_int_equal(first.serial, again.serial);
    assert_true(again.new_witness);
    R(t1, A, HELD(C)); /* t2's places must be in the first one's order */
    assert_one(LH_POSSIBLE);
    assert_int_equal(side(1)->segment.thread, t2);
    assert_int_equal(side(1)->holds_stack, 1000 + A);
}

static void many_threads_count_as_many(void **state)
{
    (void)state;
    uint32_t main = thread(0);
    struct lh_learned learned = R(t1, B, HELD(A));
    for (int i = 0; i < 100; i++)
        R(thread(main), B, HELD(A));
    assert_int_equal(lh_order_seen(o, learned.serial).nthreads,
                     LH_MAX_WITNESSES);
    assert_int_equal(lh_order_seen(o, learned.serial).times, 101);
    R(t1, A, HELD(B));
    assert_one(LH_POSSIBLE);
}

static void rings_of_equal_sites_and_classes_are_one_finding(void **state)
{
    (void)state;
    static const struct lh_held nothing;
    uint64_t nrings = 0;
    for (int i = 0; i < 10; i++) {
        lh_lock x = lock_of('X'), y = lock_of('Y');
        for (int k = 0; k < 2; k++) {
            struct lh_held held = nothing;
            struct lh_learned learned;
            held.lock = k ? x : y;
            held.stack = k ? 1 : 2;
            struct lh_request request = {
                .lock = k ? y : x,
                .stack = k ? 3 : 4,
                .segment = lh_segments_now(s, k ? t1 : t2),
                .held = &held,
                .nheld = 1,
            };
            assert_int_equal(lh_order_request(o, &request, &learned), 0);
        }
        nrings++;
        assert_int_equal(ncalls, 1);
        assert_int_equal(lh_order_merged(o, 1), nrings);
    }
}

static void an_exact_hit_on_another_site_is_another_finding(void **state)
{
    (void)state;
    R(t1, B, HELD(A));
    R(t2, A, HELD(B));
    lh_lock a = lock_of('A'), b = lock_of('B'); /* same classes */
    R(t1, b, HELD(a)); /* sites differ, they contain the lock's number */
    R(t2, a, HELD(b));
    assert_int_equal(ncalls, 2);
    assert_int_equal(last()->id, 2);
}

static void philosophers_are_one_finding_however_many(void **state)
{
    (void)state;
    enum { N = 5 };
    lh_lock forks[N];
    uint32_t main = thread(0);
    for (int i = 0; i < N; i++)
        forks[i] = lock_of('F');
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < N; i++) {
            struct lh_held held = { .lock = forks[i], .stack = 1 };
            struct lh_learned learned;
            struct lh_request request = {
                .lock = forks[(i + (round ? N - 1 : 1)) % N],
                .stack = 2,
                .segment = lh_segments_now(s, thread(main)),
                .held = &held,
                .nheld = 1,
            };
            assert_int_equal(lh_order_request(o, &request, &learned), 0);
        }
    }
    assert_one(LH_POSSIBLE);
    assert_int_equal(last()->nsides, N);
    assert_true(lh_order_merged(o, 1) > N);
}

/* What makes no sense is tolerated. */

static void a_lock_held_twice_counts_once(void **state)
{
    (void)state;
    struct lh_learned first = R(t1, B, HELD(A));
    struct lh_learned again = R(t1, B, HELD(A, A));
    assert_int_equal(first.serial, again.serial);
}

static void a_lock_held_and_wanted_teaches_nothing(void **state)
{
    (void)state;
    struct lh_learned learned = R(t1, A, HELD(B, A));
    assert_int_equal(learned.slot, 0);
    assert_int_equal(learned.serial, 0);
    assert_false(learned.is_new);
    lh_order_count(o, learned.slot, 1);
    struct lh_order_totals t;
    lh_order_totals(o, &t);
    assert_int_equal(t.dependencies, 0);
    assert_int_equal(t.edges, 0);
}

static void unknown_and_ended_locks_are_left_out(void **state)
{
    (void)state;
    end_lock(o, C);
    end_lock(o, C);
    end_lock(o, 0);
    end_lock(o, 123456);
    assert_int_equal(R(t1, C, HELD(A)).slot, 0);
    assert_int_equal(R(t1, A, HELD(C)).slot, 0);
    assert_int_equal(R(t1, 123456, HELD(A)).slot, 0);
    assert_int_equal(R(t1, A, HELD(123456)).slot, 0);
    struct lh_learned first = R(t1, B, HELD(A));
    assert_int_equal(R(t1, B, HELD(A, C, 123456)).serial, first.serial);
}

/* Ends of locks. */

static void no_ring_goes_through_an_ended_lock(void **state)
{
    (void)state;
    R(t1, B, HELD(A));
    R(t2, C, HELD(B));
    end_lock(o, B);
    R(t3, A, HELD(C));
    assert_int_equal(ncalls, 0);
}

static void a_number_used_again_is_another_lock(void **state)
{
    (void)state;
    end_lock(o, D); /* without edges: at once */
    assert_int_equal(lock_of('d'), D);
    uint32_t epoch = lh_order_epoch(o);
    for (int i = 0; i < 5000; i++) {
        lh_lock x = lock_of('X');
        R(t1, x, HELD(A));
        end_lock(o, x);
        lh_lock y = lock_of('Y');
        R(t2, A, HELD(y));
        end_lock(o, y);
    }
    assert_int_not_equal(lh_order_epoch(o), epoch);
    assert_int_equal(ncalls, 0);
}

static void short_lived_outer_locks_do_not_hide_the_lasting_order(void **state)
{
    (void)state;
    struct lh_learned first = R(t1, B, HELD(A));
    for (int i = 0; i < 9000; i++) {
        lh_lock x = lock_of('X');
        R(t1, C, HELD(x, B));
        end_lock(o, x);
    }
    assert_int_not_equal(lh_order_epoch(o), 0);
    assert_int_equal(lh_order_seen(o, first.serial).times, 1);
    R(t2, B, HELD(C));
    assert_one(LH_POSSIBLE);
    assert_int_equal(last()->nsides, 2);
}

static void memory_stays_bounded_while_locks_come_and_go(void **state)
{
    (void)state;
    size_t settled = 0;
    for (int i = 0; i < 1000000; i++) {
        lh_lock x = lock_of('X'), y = lock_of('Y');
        R(t1, y, HELD(x));
        if (i % 3 == 0)
            R(t2, x, HELD(A, y));
        if (i % 3 == 1)
            R(t2, B, HELD(A, y, x));
        end_lock(o, x);
        end_lock(o, y);
        if (i == 10000)
            settled = memory.nbytes;
    }
    assert_true(memory.nbytes <= settled);
    struct lh_order_totals t;
    lh_order_totals(o, &t);
    assert_true(t.dependencies > 1000000);
}

/* The model: every dependency and witness, rings by trying all. */

enum { MAX_DEPS = 512, MODEL_LOCKS = 5, MODEL_THREADS = 6, LOCK_NUMBERS = 64 };

struct model_dep {
    lh_lock wanted;
    uint8_t mode, wait;
    uint64_t exclusive, shared; /* sets of locks held */
    size_t nwitnesses;
    struct {
        uint32_t thread, first, newest;
    } witness[MODEL_THREADS + 2];
};

static struct model_dep model[MAX_DEPS];
static size_t nmodel;
static uint64_t alive;
static uint64_t known_keys[4096];
static bool is_possible_key[4096];
static size_t nknown;
static size_t ring_of[LOCK_NUMBERS]; /* the path, indices in model */
static lh_lock ring_holds[LOCK_NUMBERS];
static struct lh_segment chosen[LOCK_NUMBERS];

static uint64_t bit(lh_lock lock)
{
    return UINT64_C(1) << lock;
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint64_t model_key_of_pair(lh_lock wants, lh_lock holds)
{
    return mix((uint64_t)wants << 32 | (holds + 1));
}

static bool is_known(uint64_t key)
{
    for (size_t i = 0; i < nknown; i++) {
        if (known_keys[i] == key)
            return true;
    }
    return false;
}

static bool assign(size_t i, size_t n)
{
    if (i == n)
        return true;
    const struct model_dep *d = &model[ring_of[i]];
    for (size_t w = 0; w < 2 * d->nwitnesses; w++) {
        chosen[i].thread = d->witness[w / 2].thread;
        chosen[i].index =
            w % 2 ? d->witness[w / 2].newest : d->witness[w / 2].first;
        size_t k = 0;
        while (k < i &&
               lh_segments_compare(s, chosen[k], chosen[i]) == LH_PARALLEL)
            k++;
        if (k == i && assign(i + 1, n))
            return true;
    }
    return false;
}

static bool is_model_possible(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct model_dep *a = &model[ring_of[i]];
        if (a->wait == LH_WAIT_TIMED)
            return false;
        for (size_t k = 0; k < i; k++) {
            const struct model_dep *b = &model[ring_of[k]];
            if ((a->exclusive & (b->exclusive | b->shared)) ||
                (b->exclusive & a->shared))
                return false;
        }
    }
    return assign(0, n);
}

/* Keys of the possible rings through the latest request. */
static uint64_t model_keys[65536];
static size_t nmodel_keys;

static bool is_model_key(uint64_t key)
{
    for (size_t i = 0; i < nmodel_keys; i++) {
        if (model_keys[i] == key)
            return true;
    }
    return false;
}

static bool waits_for(const struct model_dep *a, const struct model_dep *b)
{
    return (b->exclusive & bit(a->wanted)) ||
           ((b->shared & bit(a->wanted)) && a->mode != LH_SHARED);
}

/* Two sides that hold shared what one wants: there is a shorter ring. */
static bool has_shortcut(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct model_dep *d = &model[ring_of[i]];
        size_t nshared = 0;
        for (size_t k = 0; k < n; k++)
            nshared += (model[ring_of[k]].shared & bit(d->wanted)) != 0;
        if (d->mode != LH_SHARED && nshared > 1)
            return true;
    }
    return false;
}

struct tally {
    size_t npossible, nknown; /* possible rings; those whose key is known */
    size_t nrings, nrings_known;
};

static void tally_ring(struct tally *t, size_t n)
{
    uint64_t key = 0;
    if (has_shortcut(n))
        return;
    for (size_t i = 0; i < n; i++)
        key += model_key_of_pair(model[ring_of[i]].wanted, ring_holds[i]);
    bool is_possible = is_model_possible(n);
    t->nrings++;
    t->nrings_known += is_known(key) || is_known(~key);
    t->npossible += is_possible;
    if (is_possible && nmodel_keys < 65536)
        model_keys[nmodel_keys++] = key;
    t->nknown += is_possible && is_known(key);
}

/* Extends the path of n dependencies; links are the locks wanted so far. */
static void extend(struct tally *t, size_t n, uint64_t links)
{
    const struct model_dep *end = &model[ring_of[n - 1]];
    if (!(alive & bit(end->wanted)))
        return;
    if (n > 1 && ((model[ring_of[0]].exclusive | model[ring_of[0]].shared) &
                  bit(end->wanted))) {
        if (waits_for(end, &model[ring_of[0]])) {
            ring_holds[0] = end->wanted;
            tally_ring(t, n);
        }
        return; /* longer ones through this lock are not looked for */
    }
    for (size_t i = 0; i < nmodel; i++) {
        if (!waits_for(end, &model[i]) || (links & bit(model[i].wanted)))
            continue;
        ring_of[n] = i;
        ring_holds[n] = end->wanted;
        extend(t, n + 1, links | bit(model[i].wanted));
    }
}

static size_t model_take(struct lh_segment segment, lh_lock wanted,
                         uint8_t mode, uint8_t wait, struct held_list list)
{
    struct model_dep new = { .wanted = wanted, .mode = mode, .wait = wait };
    for (size_t i = 0; i < 4 && list.lock[i]; i++) {
        if (list.mode[i] == LH_SHARED)
            new.shared |= bit(list.lock[i]);
        else
            new.exclusive |= bit(list.lock[i]);
    }
    size_t at = 0;
    while (at < nmodel &&
           (model[at].wanted != wanted || model[at].mode != mode ||
            model[at].wait != wait || model[at].shared != new.shared ||
            model[at].exclusive != new.exclusive))
        at++;
    if (at == nmodel)
        model[nmodel++] = new;
    struct model_dep *d = &model[at];
    size_t w = 0;
    while (w < d->nwitnesses && d->witness[w].thread != segment.thread)
        w++;
    if (w == d->nwitnesses) {
        d->nwitnesses++;
        d->witness[w].thread = segment.thread;
        d->witness[w].first = segment.index;
    }
    d->witness[w].newest = segment.index;
    return at;
}

static const struct model_dep *model_of_side(const struct lh_side *x)
{
    for (size_t i = 0; i < nmodel; i++) {
        const struct model_dep *d = &model[i];
        uint64_t held = x->holds_mode == LH_SHARED ? d->shared : d->exclusive;
        if (d->wanted != x->wants || d->mode != x->wants_mode ||
            d->wait != x->wait || !(held & bit(x->holds)))
            continue;
        for (size_t w = 0; w < d->nwitnesses; w++) {
            if (d->witness[w].thread == x->segment.thread &&
                (d->witness[w].first == x->segment.index ||
                 d->witness[w].newest == x->segment.index))
                return d;
        }
    }
    return NULL;
}

/* Every ring told is real: its sides were seen, and what is called possible
 * has parallel segments; reasons are true. Its key becomes known. */
static void on_random_ring(void *ctx, const struct lh_ring *ring)
{
    (void)ctx;
    uint64_t key = 0;
    for (size_t i = 0; i < ring->nsides; i++) {
        const struct lh_side *x = &ring->sides[i];
        key += model_key_of_pair(x->wants, x->holds);
        assert_non_null(model_of_side(x));
        assert_int_equal(x->wants, ring->sides[(i + 1) % ring->nsides].holds);
        assert_true(alive & bit(x->wants));
        assert_true(x->wants_mode == LH_EXCLUSIVE ||
                    ring->sides[(i + 1) % ring->nsides].holds_mode ==
                        LH_EXCLUSIVE);
        for (size_t k = 0; k < i && ring->grade == LH_POSSIBLE; k++)
            assert_int_equal(
                lh_segments_compare(s, x->segment, ring->sides[k].segment),
                LH_PARALLEL);
    }
    for (size_t i = 0; i < ring->nreasons; i++) {
        const struct lh_reason *r = &ring->reasons[i];
        const struct lh_side *a = &ring->sides[r->a], *b = &ring->sides[r->b];
        if (r->kind == LH_REASON_ORDERED)
            assert_int_equal(lh_segments_compare(s, a->segment, b->segment),
                             LH_FIRST_PRECEDES);
        if (r->kind == LH_REASON_TIMED)
            assert_int_equal(a->wait, LH_WAIT_TIMED);
        if (r->kind == LH_REASON_GATE) {
            assert_true(r->a < r->b);
            assert_int_equal(r->stack_a, 1000 + r->lock);
        }
    }
    assert_int_equal(ring->grade == LH_POSSIBLE, ring->nreasons == 0);
    assert_true(nknown < 4096);
    is_possible_key[nknown] = ring->grade == LH_POSSIBLE;
    known_keys[nknown++] = ring->grade == LH_POSSIBLE ? key : ~key;
}

static lh_lock model_locks[MODEL_LOCKS];

static struct held_list random_held(uint64_t *random, lh_lock wanted)
{
    struct held_list list = { .lock = { 0 } };
    size_t n = 1 + test_random(random, 3), at = 0;
    for (size_t tries = 0; tries < 8 && at < n; tries++) {
        lh_lock lock = model_locks[test_random(random, MODEL_LOCKS)];
        bool is_taken = lock == wanted;
        for (size_t i = 0; i < at; i++)
            is_taken |= list.lock[i] == lock;
        if (is_taken)
            continue;
        list.mode[at] = test_random(random, 4) == 0;
        list.lock[at++] = lock;
    }
    return list;
}

static void random_threads(uint64_t *random, uint32_t *nthreads)
{
    uint32_t a = 1 + test_random(random, *nthreads);
    uint32_t b = 1 + test_random(random, *nthreads);
    if (*nthreads < MODEL_THREADS && test_random(random, 2))
        *nthreads = thread(a);
    else if (!lh_segments_joiner(s, a))
        lh_segments_join(s, a, b);
}

static void random_end(uint64_t *random)
{
    size_t i = test_random(random, MODEL_LOCKS);
    end_lock(o, model_locks[i]);
    alive &= ~bit(model_locks[i]);
    static uint64_t class_key = 1000;
    lh_lock lock = lock_of(class_key++);
    assert_true(lock < LOCK_NUMBERS);
    if (alive & bit(lock))
        fail();
    model_locks[i] = lock;
    alive |= bit(lock);
}

static void random_request(uint64_t *random, uint32_t nthreads)
{
    uint32_t by = 1 + test_random(random, nthreads);
    if (lh_segments_joiner(s, by))
        return;
    lh_lock wanted = model_locks[test_random(random, MODEL_LOCKS)];
    uint8_t mode = test_random(random, 4) == 0;
    uint8_t wait = test_random(random, 8) == 0;
    struct held_list list = random_held(random, wanted);
    if (!list.lock[0])
        return;
    struct lh_segment now = lh_segments_now(s, by);
    size_t at = model_take(now, wanted, mode, wait, list);
    size_t nknown_before = nknown;
    struct lh_learned learned = request_in(now, wanted, mode, wait, list);
    assert_int_not_equal(learned.slot, 0);
    nmodel_keys = 0;

    struct tally t = { 0, 0, 0, 0 };
    ring_of[0] = at;
    extend(&t, 1, bit(wanted));
    for (size_t i = nknown_before; i < nknown; i++)
        assert_int_equal(is_model_key(known_keys[i]), is_possible_key[i]);
    if (t.npossible > 0)
        assert_true(t.nknown > 0);
    if (t.npossible < 16)
        assert_int_equal(t.nknown, t.npossible);
    if (t.nrings > 0 && learned.is_new) /* one, if only the best of many */
        assert_true(t.nrings_known > 0);
}

static void random_requests_agree_with_the_model(void **state)
{
    for (uint64_t round = 0; round < 300; round++) {
        uint64_t random = test_state(round);
        assert_int_equal(tear_down(state), 0);
        memset(&memory, 0, sizeof memory);
        memset(model, 0, sizeof model);
        nmodel = nknown = 0;
        alive = 0;
        s = lh_segments_new(test_mem(&memory));
        o = lh_order_new(test_mem(&memory), s, on_random_ring, site_of, NULL);
        uint32_t nthreads = thread(0);
        for (size_t i = 0; i < MODEL_LOCKS; i++) {
            model_locks[i] = lock_of(i + 1);
            alive |= bit(model_locks[i]);
        }
        for (int i = 0; i < 40; i++) {
            if (test_random(&random, 4) == 0)
                random_threads(&random, &nthreads);
            if (test_random(&random, 25) == 0)
                random_end(&random);
            random_request(&random, nthreads);
        }
    }
}

/* Every allocation fails in turn; what is asked again then succeeds, and the
 * rings are found all the same unless the search was short of memory. */
static void a_failed_request_can_be_made_again(void **state)
{
    for (size_t n = 1; n < 60; n++) {
        assert_int_equal(tear_down(state), 0);
        assert_int_equal(set_up(state), 0);
        memory.fail_at = memory.nresizes + n;
        for (uint32_t i = 0; i < 200; i++) {
            lh_lock x = 0;
            if (lh_order_add_lock(o, i, &x) != 0) {
                assert_int_equal(x, 0);
                x = lock_of(i);
            }
            struct lh_held held = { .lock = i % 2 ? x : A };
            struct lh_request request = {
                .lock = i % 2 ? A : x,
                .segment = lh_segments_now(s, i % 3 ? t1 : t2),
                .held = &held,
                .nheld = 1,
            };
            struct lh_learned learned = { 0, 77, false, false };
            int rc = lh_order_request(o, &request, &learned);
            if (rc != 0) {
                assert_int_equal(rc, ENOMEM);
                assert_int_equal(learned.serial, 77);
                rc = lh_order_request(o, &request, &learned);
            }
            assert_int_equal(rc, 0);
            assert_true(learned.is_new);
            assert_int_equal(learned.serial, i + 1);
        }
        memory.fail_at = 0;
        R(t1, B, HELD(A));
        R(t2, A, HELD(B));
        struct lh_order_totals t;
        lh_order_totals(o, &t);
        assert_int_equal(t.dependencies, 202);
        assert_int_equal(t.edges, 202);
        assert_int_equal(t.possible, 1);
    }
}

static void without_any_memory_nothing_breaks(void **state)
{
    for (size_t n = 1; n < 60; n += 3) {
        assert_int_equal(tear_down(state), 0);
        assert_int_equal(set_up(state), 0);
        memory.fail_at = memory.nresizes + n;
        memory.fail_from_now = true;
        uint64_t random = test_state(n);
        lh_lock locks[200];
        uint32_t nlocks = 0;
        for (uint32_t i = 0; i < 4000; i++) {
            if (nlocks < 200 && lh_order_add_lock(o, i, &locks[nlocks]) == 0)
                nlocks++;
            if (nlocks < 2)
                continue;
            struct lh_held held = { .lock =
                                        locks[test_random(&random, nlocks)] };
            struct lh_request request = {
                .lock = locks[test_random(&random, nlocks)],
                .segment = lh_segments_now(s, i % 3 ? t1 : t2),
                .held = &held,
                .nheld = 1,
            };
            struct lh_learned learned;
            (void)lh_order_request(o, &request, &learned);
            if (i % 50 == 49)
                end_lock(o, locks[--nlocks]);
        }
    }
}

static void construction_fails_cleanly(void **state)
{
    (void)state;
    for (size_t n = 1; n < 10; n++) {
        struct test_mem m = { .fail_at = n };
        struct lh_order *x =
            lh_order_new(test_mem(&m), s, on_ring, site_of, NULL);
        lh_order_free(x);
        assert_int_equal(m.nbytes, 0);
    }
}

/* All in one component, no end of rings: time must stay in proportion. */
/* The gate is taken out of the held sets by a sweep; that both sides had it is
 * not forgotten. */
static void a_gate_that_has_ended_still_guards(void **state)
{
    (void)state;
    lh_lock gate = lock_of('G');
    R(t1, B, HELD(gate, A));
    R(t2, A, HELD(gate, B));
    assert_one(LH_CONDITIONAL);
    end_lock(o, gate);
    lh_order_sweep(o);
    R(t2, B, HELD(A)); /* without it, but t2 is on both sides then */
    assert_int_equal(last()->grade, LH_CONDITIONAL);
    R(t1, B, HELD(A));
    assert_int_equal(last()->grade, LH_POSSIBLE);
}

static void a_ring_in_a_giant_component_is_found_when_settled(void **state)
{
    (void)state;
    enum { N = 3000, REQUESTS = 30000 };
    static lh_lock locks[N];
    uint64_t random = test_state(2);
    for (int i = 0; i < N; i++)
        locks[i] = lock_of((uint64_t)i + 100);
    for (int i = 0; i < REQUESTS; i++) {
        uint32_t a = test_random(&random, N), b = test_random(&random, N);
        R(i % 2 ? t1 : t2, locks[b], HELD(locks[a]));
    }
    lh_order_settle(o);
    lh_lock x = lock_of(1), y = lock_of(2);
    size_t before = ncalls;
    R(t1, y, HELD(x));
    R(t2, x, HELD(y));
    lh_order_settle(o);
    assert_true(ncalls > before);
}

/* Threads that nest everything under one big lock, and then three that do not:
 * the former must not use up what the latter need. */
static void what_is_gated_does_not_use_up_the_search(void **state)
{
    (void)state;
    enum { N = 24, NTHREADS = 12 };
    lh_lock gate = lock_of(1), locks[N];
    for (int i = 0; i < N; i++)
        locks[i] = lock_of((uint64_t)i + 10);
    for (int k = 0; k < NTHREADS; k++) {
        uint32_t thread;
        assert_int_equal(lh_segments_add(s, 0, &thread), 0);
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++) {
                if (i != j)
                    R(thread, locks[j], HELD(gate, locks[i]));
            }
        }
    }
    R(t1, locks[1], HELD(locks[0]));
    R(t2, locks[2], HELD(locks[1]));
    R(t3, locks[0], HELD(locks[2]));
    assert_int_equal(last()->grade, LH_POSSIBLE);
}

static void a_dense_component_is_searched_in_bounds(void **state)
{
    (void)state;
    enum { N = 300, REQUESTS = 60000 };
    static lh_lock locks[N];
    uint64_t random = test_state(1);
    for (int i = 0; i < N; i++)
        locks[i] = lock_of((uint64_t)i % 7 + 100);
    for (int i = 0; i < REQUESTS; i++) {
        uint32_t a = test_random(&random, N), b = test_random(&random, N);
        struct lh_held held = { .lock = locks[a], .stack = a % 3 };
        struct lh_learned learned;
        struct lh_request request = {
            .lock = locks[b],
            .stack = b % 3,
            .segment = lh_segments_now(s, i % 2 ? t1 : t2),
            .held = &held,
            .nheld = 1,
        };
        assert_int_equal(lh_order_request(o, &request, &learned), 0);
    }
    assert_true(ncalls > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(no_ring_goes_through_a_withheld_lock),
        TEST(what_a_withheld_lock_taught_counts_when_it_is_admitted),
        TEST(a_ring_of_two_withheld_locks_waits_for_both),
        TEST(rings_of_an_admitted_lock_are_graded_as_any),
        TEST(the_end_of_a_withheld_lock_ends_its_orders),
        TEST(a_long_ring_counts_with_its_last_lock),
        TEST(each_request_of_a_lock_is_told_once),
        TEST(a_side_that_only_tried_makes_it_conditional),
        TEST(opposite_order_in_two_threads_is_possible),
        TEST(equal_order_is_no_ring),
        TEST(three_threads_in_a_circle_are_possible),
        TEST(the_shortest_ring_comes_first),
        TEST(a_ring_through_an_inner_lock_is_possible),
        TEST(a_condition_wait_with_another_lock_held_is_a_request),
        TEST(a_ring_of_a_thousand_locks_is_found_at_once),
        TEST(one_thread_alone_is_conditional),
        TEST(two_threads_for_three_sides_are_too_few),
        TEST(gate_held_by_both_makes_it_conditional),
        TEST(gate_held_shared_by_both_guards_nothing),
        TEST(gate_and_one_thread_are_both_told),
        TEST(a_lock_whose_end_is_not_seen_makes_it_conditional),
        TEST(a_doubtful_lock_spoils_no_other_ring),
        TEST(a_doubtful_lock_spoils_a_longer_ring),
        TEST(gate_is_no_gate_for_a_third_side),
        TEST(threads_that_never_overlap_are_conditional),
        TEST(what_main_did_before_the_thread_is_ordered),
        TEST(a_timed_wait_is_conditional),
        TEST(a_timed_wait_that_was_there_first_is_conditional),
        TEST(readers_do_not_block_readers),
        TEST(a_writer_against_a_reader_is_possible),
        TEST(a_second_thread_raises_the_grade),
        TEST(a_known_request_is_told_once),
        TEST(held_locks_are_a_set),
        TEST(many_threads_count_as_many),
        TEST(rings_of_equal_sites_and_classes_are_one_finding),
        TEST(an_exact_hit_on_another_site_is_another_finding),
        TEST(philosophers_are_one_finding_however_many),
        TEST(a_lock_held_twice_counts_once),
        TEST(a_lock_held_and_wanted_teaches_nothing),
        TEST(unknown_and_ended_locks_are_left_out),
        TEST(no_ring_goes_through_an_ended_lock),
        TEST(a_number_used_again_is_another_lock),
        TEST(short_lived_outer_locks_do_not_hide_the_lasting_order),
        TEST(memory_stays_bounded_while_locks_come_and_go),
        TEST(random_requests_agree_with_the_model),
        TEST(a_failed_request_can_be_made_again),
        TEST(without_any_memory_nothing_breaks),
        TEST(construction_fails_cleanly),
        TEST(a_gate_that_has_ended_still_guards),
        TEST(a_ring_in_a_giant_component_is_found_when_settled),
        TEST(what_is_gated_does_not_use_up_the_search),
        TEST(a_dense_component_is_searched_in_bounds),
        TEST(a_nested_read_and_a_writer_are_a_ring_of_one_lock),
        TEST(a_nested_read_with_the_writer_first_is_found_too),
        TEST(a_nested_read_by_the_only_writer_is_conditional),
        TEST(a_nested_read_beside_a_writer_that_gives_up_is_conditional),
        TEST(a_nested_read_under_a_gate_is_conditional),
        TEST(without_a_queue_a_nested_read_waits_for_nobody),
        TEST(a_reader_behind_a_writer_behind_a_reader_is_a_ring),
        TEST(readers_in_both_orders_without_a_writer_are_no_ring),
        TEST(a_queue_in_front_of_a_writer_adds_no_ring),
        TEST(two_writers_take_turns_and_are_no_gate),
        TEST(a_read_by_the_writer_itself_asks_for_nothing),
        TEST(a_queue_ends_with_its_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
