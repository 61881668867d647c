/* SPDX-License-Identifier: MIT
 *
 * test_graph.c - components and order of a graph, by hand and by comparison
 * with plain reachability on random graphs.
 */
#include "core_test.h"

#include <errno.h>

#include "core/graph.h"

static struct test_mem memory;
static struct lh_graph *g;

static int set_up(void **state)
{
    (void)state;
    memset(&memory, 0, sizeof memory);
    g = lh_graph_new(test_mem(&memory));
    return g ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    lh_graph_free(g);
    return memory.nbytes == 0 ? 0 : -1;
}

static lh_node node(void)
{
    lh_node n;
    assert_int_equal(lh_graph_add_node(g, &n), 0);
    return n;
}

static lh_edge edge(lh_node from, lh_node to)
{
    lh_edge e;
    assert_int_equal(lh_graph_add_edge(g, from, to, &e), 0);
    return e;
}

static void an_edge_is_found_once_added(void **state)
{
    (void)state;
    lh_node a = node(), b = node();
    assert_int_equal(lh_graph_find_edge(g, a, b), 0);
    lh_edge e = edge(a, b);
    assert_int_equal(lh_graph_find_edge(g, a, b), e);
    assert_int_equal(edge(a, b), e);
    assert_int_equal(lh_graph_nedges(g), 1);
    assert_int_equal(lh_graph_find_edge(g, b, a), 0);
    assert_int_equal(lh_graph_edge_from(g, e), a);
    assert_int_equal(lh_graph_edge_to(g, e), b);
    assert_int_equal(*lh_graph_edge_word(g, e), 0);
}

static void lists_hold_every_edge_of_a_node(void **state)
{
    (void)state;
    lh_node a = node(), b = node(), c = node();
    edge(a, b);
    edge(a, c);
    edge(b, c);
    size_t nout = 0, nin = 0;
    for (lh_edge e = lh_graph_first_out(g, a); e; e = lh_graph_next_out(g, e))
        nout++;
    for (lh_edge e = lh_graph_first_in(g, c); e; e = lh_graph_next_in(g, e))
        nin++;
    assert_int_equal(nout, 2);
    assert_int_equal(nin, 2);
}

static void nodes_on_a_ring_are_one_component(void **state)
{
    (void)state;
    lh_node a = node(), b = node(), c = node(), d = node();
    edge(a, b);
    edge(b, c);
    edge(c, d);
    assert_false(lh_graph_same_component(g, a, c));
    edge(c, a);
    assert_true(lh_graph_same_component(g, a, b));
    assert_true(lh_graph_same_component(g, b, c));
    assert_false(lh_graph_same_component(g, a, d));
    assert_true(lh_graph_check(g));
}

static void a_long_chain_in_either_direction_takes_no_search(void **state)
{
    (void)state;
    enum { N = 200000 };
    for (int i = 0; i < N; i++)
        node();
    for (lh_node i = N; i > N / 2 + 1; i--)
        edge(i, i - 1); /* last to middle, against the order of creation */
    for (lh_node i = N / 2; i > 1; i--)
        edge(i - 1, i); /* growing at its start */
    assert_true(lh_graph_check(g));
}

/* The model: a matrix of edges, reachability by its closure. */
enum { MAX_NODES = 40 };
static bool is_edge[MAX_NODES + 1][MAX_NODES + 1];
static bool reaches[MAX_NODES + 1][MAX_NODES + 1];
static bool is_node[MAX_NODES + 1], is_dying[MAX_NODES + 1];

static void compare_with_model(void)
{
    memcpy(reaches, is_edge, sizeof reaches);
    for (int k = 1; k <= MAX_NODES; k++)
        for (int i = 1; i <= MAX_NODES; i++)
            for (int j = 1; j <= MAX_NODES && reaches[i][k]; j++)
                reaches[i][j] |= reaches[k][j];
    for (lh_node i = 1; i <= MAX_NODES; i++) {
        for (lh_node j = 1; j <= MAX_NODES; j++) {
            if (!is_node[i] || !is_node[j])
                continue;
            bool same = i == j || (reaches[i][j] && reaches[j][i]);
            assert_int_equal(lh_graph_same_component(g, i, j), same);
            assert_int_equal(lh_graph_find_edge(g, i, j) != 0, is_edge[i][j]);
        }
    }
}

static bool dies(void *ctx, lh_node n)
{
    (void)ctx;
    return is_dying[n];
}

static void sweep_some(uint64_t *random)
{
    for (int i = 1; i <= MAX_NODES; i++) {
        is_dying[i] = test_random(random, 4) == 0;
        if (!is_dying[i])
            continue;
        is_node[i] = false;
        for (int j = 1; j <= MAX_NODES; j++)
            is_edge[i][j] = is_edge[j][i] = false;
    }
    lh_graph_sweep(g, dies, NULL);
    assert_true(lh_graph_check(g));
    compare_with_model();
}

static lh_node random_node(uint64_t *random)
{
    lh_node n = 1 + test_random(random, MAX_NODES);
    while (!is_node[n])
        n = n % MAX_NODES + 1;
    return n;
}

static void random_step(uint64_t *random)
{
    size_t nedges = lh_graph_nedges(g);
    if (lh_graph_nnodes(g) < MAX_NODES && test_random(random, 4) == 0) {
        lh_node n = node();
        assert_in_range(n, 1, MAX_NODES);
        assert_false(is_node[n]);
        is_node[n] = true;
    } else if (lh_graph_nnodes(g) > 1) {
        lh_node a = random_node(random), b = random_node(random);
        if (a == b)
            return;
        lh_edge e = edge(a, b);
        assert_int_equal(lh_graph_nedges(g), nedges + !is_edge[a][b]);
        assert_int_equal(*lh_graph_edge_word(g, e), is_edge[a][b] ? e : 0);
        *lh_graph_edge_word(g, e) = e;
        is_edge[a][b] = true;
    }
}

static void random_graphs_agree_with_the_model(void **state)
{
    for (uint64_t round = 0; round < 60; round++) {
        uint64_t random = test_state(round);
        memset(is_edge, 0, sizeof is_edge);
        memset(is_node, 0, sizeof is_node);
        for (int i = 0; i < 120; i++) {
            random_step(&random);
            assert_true(lh_graph_check(g));
            compare_with_model();
            if (test_random(&random, 60) == 0)
                sweep_some(&random);
        }
        assert_int_equal(tear_down(state), 0);
        assert_int_equal(set_up(state), 0);
    }
}

static void a_failed_edge_changes_nothing(void **state)
{
    for (size_t n = 1; n < 25; n++) {
        uint64_t random = test_state(n);
        assert_int_equal(tear_down(state), 0);
        assert_int_equal(set_up(state), 0);
        memset(is_edge, 0, sizeof is_edge);
        memset(is_node, 0, sizeof is_node);
        memory.fail_at = memory.nresizes + n;
        for (int i = 1; i <= MAX_NODES; i++) {
            lh_node added = 99;
            if (lh_graph_add_node(g, &added) != 0) {
                assert_int_equal(added, 99);
                added = node();
            }
            assert_int_equal(added, i);
            is_node[i] = true;
        }
        for (int i = 0; i < 400; i++) {
            lh_node a = random_node(&random), b = random_node(&random);
            lh_edge e = 99;
            if (a == b)
                continue;
            if (lh_graph_add_edge(g, a, b, &e) != 0) {
                assert_int_equal(e, 99);
                assert_true(lh_graph_check(g));
                compare_with_model();
                e = edge(a, b);
            }
            is_edge[a][b] = true;
            if (i % 32 == 0)
                compare_with_model();
        }
        assert_true(lh_graph_check(g));
        compare_with_model();
    }
}

static void numbers_of_removed_nodes_and_edges_are_used_again(void **state)
{
    (void)state;
    lh_edge highest = 0;
    for (int round = 0; round < 1000; round++) {
        memset(is_dying, 0, sizeof is_dying);
        lh_node a = node(), b = node(), c = node();
        lh_edge e = edge(a, b);
        edge(b, c);
        edge(c, a);
        highest = e > highest ? e : highest;
        assert_true(c <= 3);
        is_dying[a] = is_dying[b] = is_dying[c] = true;
        lh_graph_sweep(g, dies, NULL);
        assert_int_equal(lh_graph_nnodes(g), 0);
        assert_int_equal(lh_graph_nedges(g), 0);
    }
    assert_true(highest <= 3);
}

/* What is pending is never taken for a component that it is not, and settling
 * finds all of them. */
static void settling_makes_up_for_what_was_put_off(void **state)
{
    for (uint64_t round = 0; round < 60; round++) {
        uint64_t random = test_state(round);
        size_t npending;
        memset(is_edge, 0, sizeof is_edge);
        memset(is_node, 0, sizeof is_node);
        lh_graph_take_steps(g);
        for (int i = 0; i < 120; i++) {
            random_step(&random);
            if (test_random(&random, 20) != 0)
                continue;
            lh_graph_settle(g);
            lh_graph_forget_pending(g);
            assert_true(lh_graph_check(g));
            compare_with_model();
        }
        (void)lh_graph_pending(g, &npending);
        assert_true(npending <= lh_graph_nedges(g));
        assert_int_equal(tear_down(state), 0);
        assert_int_equal(set_up(state), 0);
    }
}

static void only_what_does_not_fit_the_order_is_pending(void **state)
{
    (void)state;
    lh_node a = node(), b = node(), c = node();
    size_t npending;
    lh_graph_take_steps(g);
    edge(a, b);
    edge(b, c);
    (void)lh_graph_pending(g, &npending);
    assert_int_equal(npending, 0);
    lh_edge closing = edge(c, a);
    const lh_edge *pending = lh_graph_pending(g, &npending);
    assert_int_equal(npending, 1);
    assert_int_equal(pending[0], closing);
    assert_false(lh_graph_same_component(g, a, c));
    lh_graph_settle(g);
    assert_true(lh_graph_same_component(g, a, c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(an_edge_is_found_once_added),
        TEST(lists_hold_every_edge_of_a_node),
        TEST(nodes_on_a_ring_are_one_component),
        TEST(a_long_chain_in_either_direction_takes_no_search),
        TEST(random_graphs_agree_with_the_model),
        TEST(a_failed_edge_changes_nothing),
        TEST(numbers_of_removed_nodes_and_edges_are_used_again),
        TEST(settling_makes_up_for_what_was_put_off),
        TEST(only_what_does_not_fit_the_order_is_pending),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
