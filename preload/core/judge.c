/* SPDX-License-Identifier: MIT
 *
 * judge.c - can this ring of dependencies deadlock, and if not, why not?
 */
#include "judge.h"

#include <errno.h>

#include "array.h"
#include "mix.h"
#include "sort.h"

enum {
    MAX_REASONS = 32,
    MAX_TRIES = 4000, /* witnesses looked at for one ring */
    SMALL_RING = 8,   /* the best witnesses are looked for in these only */
};

/* Two sides by one thread weigh more than any number of ordered ones. */
#define SAME_THREAD_COST (UINT64_C(1) << 32)

static const struct lh_dep *dep_of(const struct lh_judge *j,
                                   const struct lh_link *link)
{
    return &j->deps->at[link->dep];
}

static int reserve(struct lh_judge *j, size_t n)
{
    if (lh_array_reserve(j->mem, &j->picks, &j->picks_capacity,
                         sizeof *j->picks, n) != 0 ||
        lh_array_reserve(j->mem, &j->best, &j->best_capacity, sizeof *j->best,
                         n) != 0 ||
        lh_array_reserve(j->mem, &j->sides, &j->sides_capacity,
                         sizeof *j->sides, n) != 0)
        return ENOMEM;
    return lh_array_reserve(j->mem, &j->reasons, &j->reasons_capacity,
                            sizeof *j->reasons, MAX_REASONS);
}

/* Counts the distinct threads seen on any side. Returns 0 or ENOMEM. */
static int count_threads(struct lh_judge *j, const struct lh_link *links,
                         size_t n, size_t *nthreads)
{
    size_t nkeys = 0;
    if (lh_array_reserve(j->mem, &j->keys, &j->keys_capacity, sizeof *j->keys,
                         n * LH_MAX_WITNESSES) != 0)
        return ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const uint32_t *w;
        for (uint32_t at = dep_of(j, &links[i])->witness; at;
             at = w[LH_WITNESS_NEXT]) {
            w = lh_deps_witness(j->deps, at);
            j->keys[nkeys++] = w[LH_WITNESS_THREAD];
        }
    }
    lh_sort_u64(j->keys, nkeys);
    *nthreads = lh_sort_unique(j->keys, nkeys);
    return 0;
}

static void use_segment(const struct lh_judge *j, struct lh_judge_pick *pick,
                        bool is_newest)
{
    const uint32_t *w = lh_deps_witness(j->deps, pick->witness);
    pick->is_newest = is_newest;
    pick->segment.thread = w[LH_WITNESS_THREAD];
    pick->segment.index = w[is_newest ? LH_WITNESS_NEWEST : LH_WITNESS_FIRST];
}

/* Moves a side to its next witness or segment; false after the last. */
static bool next_pick(const struct lh_judge *j, const struct lh_dep *dep,
                      struct lh_judge_pick *pick)
{
    if (!pick->witness) {
        pick->witness = dep->witness;
        use_segment(j, pick, false);
        return true;
    }
    const uint32_t *w = lh_deps_witness(j->deps, pick->witness);
    if (!pick->is_newest && w[LH_WITNESS_FIRST] != w[LH_WITNESS_NEWEST]) {
        use_segment(j, pick, true);
        return true;
    }
    if (!w[LH_WITNESS_NEXT])
        return false;
    pick->witness = w[LH_WITNESS_NEXT];
    use_segment(j, pick, false);
    return true;
}

/* True if the two witnesses held a lock in common that has ended since. */
static bool had_a_gate(const struct lh_judge *j, const struct lh_judge_pick *a,
                       const struct lh_judge_pick *b)
{
    return lh_deps_witness(j->deps, a->witness)[LH_WITNESS_GONE] &
           lh_deps_witness(j->deps, b->witness)[LH_WITNESS_GONE];
}

/* What speaks against side i's segment beside those before it; adds up only
 * until it is known to be no good. */
static uint64_t cost_of(struct lh_judge *j, size_t i, uint64_t no_good)
{
    const struct lh_judge_pick *picks = j->picks;
    uint64_t cost = i ? picks[i - 1].cost : 0;
    for (size_t k = 0; k < i; k++) {
        if (picks[k].segment.thread == picks[i].segment.thread)
            cost += SAME_THREAD_COST;
        cost += had_a_gate(j, &picks[k], &picks[i]);
    }
    for (size_t k = 0; k < i && cost < no_good; k++) {
        enum lh_overlap overlap = lh_segments_compare(
            j->segments, picks[k].segment, picks[i].segment);
        cost += overlap == LH_FIRST_PRECEDES || overlap == LH_SECOND_PRECEDES;
    }
    return cost;
}

static bool spend(uint32_t *steps, size_t n)
{
    if (*steps <= n) {
        *steps = 0;
        return false;
    }
    *steps -= (uint32_t)n;
    return true;
}

/*
 * Looks for segments that cost less than *cost, the least if there are tries
 * enough, and leaves them in best. Branch and bound, side by side; the first
 * descent alone is the greedy choice. Returns false if it was cut short.
 */
static bool choose(struct lh_judge *j, const struct lh_link *links, size_t n,
                   uint32_t *steps, uint64_t *cost)
{
    size_t i = 0, tries = MAX_TRIES + n;
    j->picks[0].witness = 0;
    while (*cost > 0) {
        struct lh_judge_pick *pick = &j->picks[i];
        if (!next_pick(j, dep_of(j, &links[i]), pick)) {
            if (i == 0)
                return true;
            i--;
            continue;
        }
        if (tries-- == 0 || !spend(steps, 1 + i / 64))
            return false;
        pick->cost = cost_of(j, i, *cost);
        if (pick->cost >= *cost)
            continue;
        if (i + 1 < n) {
            j->picks[++i].witness = 0;
            continue;
        }
        *cost = pick->cost;
        memcpy(j->best, j->picks, n * sizeof *j->best);
    }
    return true;
}

/* The oldest witness of each side, when there is no good choice. */
static void choose_first(struct lh_judge *j, const struct lh_link *links,
                         size_t n)
{
    for (size_t i = 0; i < n; i++) {
        j->best[i].witness = dep_of(j, &links[i])->witness;
        use_segment(j, &j->best[i], false);
    }
}

/* A reader that waits behind a writer waits for the lock as well, unless it
 * reads it already: that is the dependency which is counted. */
static lh_dep_slot shown(const struct lh_judge *j, lh_dep_slot slot)
{
    const struct lh_dep *dep = &j->deps->at[slot];
    lh_dep_slot like = 0;
    if (lh_nodes_is_queue(j->deps->nodes, dep->wanted))
        like = lh_deps_find_like(j->deps, dep,
                                 lh_nodes_shown(j->deps->nodes, dep->wanted));
    return like ? like : slot;
}

static void fill_sides(struct lh_judge *j, const struct lh_link *links,
                       size_t n)
{
    const struct lh_nodes *nodes = j->deps->nodes;
    for (size_t i = 0; i < n; i++) {
        const struct lh_dep *dep = dep_of(j, &links[i]);
        lh_dep_slot counted = shown(j, links[i].dep);
        size_t held = lh_deps_held_index(j->deps, dep, links[i].holds);
        const uint32_t *w = lh_deps_witness(j->deps, j->best[i].witness);
        j->sides[i] = (struct lh_side){
            .dependency = j->deps->at[counted].serial,
            .slot = counted,
            .wants = lh_nodes_shown(nodes, dep->wanted),
            .holds = lh_nodes_shown(nodes, links[i].holds),
            .wants_mode = dep->mode,
            .holds_mode = lh_nodes_is_queue(nodes, links[i].holds)
                              ? LH_QUEUED
                              : lh_deps_held_mode(j->deps, dep, held),
            .wait = dep->wait,
            .wants_stack = lh_witness_wants_stack(w),
            .holds_stack = lh_witness_held_stack(w, held),
            .segment = j->best[i].segment,
        };
    }
}

struct lh_verdict lh_judge_strictly(struct lh_judge *j,
                                    const struct lh_link *links, size_t n,
                                    uint32_t *steps)
{
    struct lh_verdict verdict = { false, false };
    size_t nthreads;
    uint64_t cost = 1;
    j->nreasons = 0;
    if (reserve(j, n) != 0 || count_threads(j, links, n, &nthreads) != 0) {
        verdict.is_cut = true;
        return verdict;
    }
    if (nthreads < n)
        return verdict;
    verdict.is_cut = !choose(j, links, n, steps, &cost);
    verdict.is_possible = cost == 0;
    if (verdict.is_possible)
        fill_sides(j, links, n);
    return verdict;
}

static void add_reason(struct lh_judge *j, struct lh_reason reason)
{
    if (j->nreasons < MAX_REASONS)
        j->reasons[j->nreasons++] = reason;
}

/* Where a side took a lock that it holds. */
static uint32_t held_stack(const struct lh_judge *j,
                           const struct lh_link *links, size_t side,
                           lh_lock lock)
{
    const struct lh_dep *dep = dep_of(j, &links[side]);
    return lh_witness_held_stack(
        lh_deps_witness(j->deps, j->best[side].witness),
        lh_deps_held_index(j->deps, dep, lock));
}

static void add_gate(struct lh_judge *j, const struct lh_link *links,
                     lh_lock lock, size_t a, size_t b)
{
    size_t first = a < b ? a : b, second = a < b ? b : a;
    add_reason(j, (struct lh_reason){
                      .kind = LH_REASON_GATE,
                      .lock = lock,
                      .a = first,
                      .b = second,
                      .stack_a = held_stack(j, links, first, lock),
                      .stack_b = held_stack(j, links, second, lock),
                  });
}

/* Lists every held lock of every side: sorted, they lie together by lock,
 * exclusive holders first. */
static int list_held(struct lh_judge *j, const struct lh_link *links, size_t n,
                     size_t *nkeys)
{
    *nkeys = 0;
    for (size_t i = 0; i < n; i++) {
        const struct lh_dep *dep = dep_of(j, &links[i]);
        if (lh_array_reserve(j->mem, &j->keys, &j->keys_capacity,
                             sizeof *j->keys, *nkeys + dep->nheld) != 0)
            return ENOMEM;
        for (size_t k = 0; k < dep->nheld; k++) {
            uint64_t lock = lh_deps_held_lock(j->deps, dep, k);
            uint64_t mode = lh_deps_held_mode(j->deps, dep, k);
            j->keys[(*nkeys)++] = lock << 33 | mode << 32 | i;
        }
    }
    lh_sort_u64(j->keys, *nkeys);
    return 0;
}

/* A lock is a gate when two sides hold it and not both of them shared: one
 * reason for the first that holds it exclusively and each other one. */
static int find_gates(struct lh_judge *j, const struct lh_link *links, size_t n)
{
    size_t nkeys;
    if (list_held(j, links, n, &nkeys) != 0)
        return ENOMEM;
    for (size_t first = 0, next; first < nkeys; first = next) {
        uint64_t lock = j->keys[first] >> 33;
        bool is_shared = j->keys[first] >> 32 & 1;
        for (next = first + 1; next < nkeys && j->keys[next] >> 33 == lock;
             next++) {
            if (!is_shared)
                add_gate(j, links, (lh_lock)lock, (uint32_t)j->keys[first],
                         (uint32_t)j->keys[next]);
        }
    }
    return 0;
}

static void find_gone_gates(struct lh_judge *j, size_t n)
{
    for (size_t b = 1; b < n; b++) {
        for (size_t a = 0; a < b; a++) {
            if (had_a_gate(j, &j->best[a], &j->best[b]))
                add_reason(j, (struct lh_reason){
                                  .kind = LH_REASON_GATE, .a = a, .b = b });
        }
    }
}

/* Counts the distinct threads among those chosen. */
static size_t count_chosen(struct lh_judge *j, size_t n)
{
    for (size_t i = 0; i < n; i++)
        j->keys[i] = j->best[i].segment.thread;
    lh_sort_u64(j->keys, n);
    return lh_sort_unique(j->keys, n);
}

static void find_ordered(struct lh_judge *j, size_t n)
{
    for (size_t b = 1; b < n; b++) {
        for (size_t a = 0; a < b && j->nreasons < MAX_REASONS; a++) {
            enum lh_overlap overlap = lh_segments_compare(
                j->segments, j->best[a].segment, j->best[b].segment);
            struct lh_reason reason = { .kind = LH_REASON_ORDERED,
                                        .a = a,
                                        .b = b };
            if (overlap == LH_SECOND_PRECEDES) {
                reason.a = b;
                reason.b = a;
            }
            if (overlap == LH_FIRST_PRECEDES || overlap == LH_SECOND_PRECEDES)
                add_reason(j, reason);
        }
    }
}

/* What the choice of threads leaves to say against the ring. nthreads is how
 * many were seen on all sides together. */
static void find_thread_reasons(struct lh_judge *j, size_t n, size_t nthreads)
{
    size_t nchosen = count_chosen(j, n);
    if (nthreads == 1)
        add_reason(j, (struct lh_reason){
                          .kind = LH_REASON_ONE_THREAD,
                          .thread = j->best[0].segment.thread,
                      });
    else if (nchosen < n)
        add_reason(j,
                   (struct lh_reason){
                       .kind = LH_REASON_FEW_THREADS,
                       .count = (uint32_t)(nthreads < n ? nthreads : nchosen),
                   });
    if (nchosen == n || n <= SMALL_RING)
        find_ordered(j, n);
}

static void find_limited(struct lh_judge *j, const struct lh_link *links,
                         size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned wait = dep_of(j, &links[i])->wait;
        if (lh_wait_is_limited(wait))
            add_reason(j, (struct lh_reason){ .kind = wait == LH_WAIT_TIMED
                                                          ? LH_REASON_TIMED
                                                          : LH_REASON_TRIED,
                                              .a = i });
    }
}

static void find_doubtful(struct lh_judge *j, const struct lh_link *links,
                          size_t n)
{
    for (size_t i = 0; i < n; i++) {
        lh_lock wanted = dep_of(j, &links[i])->wanted;
        if (lh_nodes_doubtful(j->deps->nodes, wanted))
            add_reason(j, (struct lh_reason){
                              .kind = LH_REASON_UNSEEN_END,
                              .lock = lh_nodes_shown(j->deps->nodes, wanted),
                              .a = i });
    }
}

struct lh_verdict lh_judge_fully(struct lh_judge *j,
                                 const struct lh_link *links, size_t n,
                                 uint32_t *steps)
{
    struct lh_verdict verdict = { false, true };
    size_t nthreads;
    uint64_t cost = UINT64_MAX;
    j->nreasons = 0;
    if (reserve(j, n) != 0 || count_threads(j, links, n, &nthreads) != 0)
        return verdict;
    choose_first(j, links, n);
    verdict.is_cut = false;
    if (nthreads >= n || (nthreads > 1 && n <= SMALL_RING))
        verdict.is_cut = !choose(j, links, n, steps, &cost);
    fill_sides(j, links, n);
    if (find_gates(j, links, n) != 0) {
        verdict.is_cut = true;
        return verdict;
    }
    find_gone_gates(j, n);
    find_thread_reasons(j, n, nthreads);
    find_limited(j, links, n);
    find_doubtful(j, links, n);
    verdict.is_possible = j->nreasons == 0;
    return verdict;
}

static uint64_t side_key(const struct lh_judge *j, const struct lh_link *link)
{
    const struct lh_dep *dep = dep_of(j, link);
    const struct lh_nodes_lock *locks = j->deps->nodes->at;
    const uint32_t *w = lh_deps_witness(j->deps, dep->witness);
    size_t held = lh_deps_held_index(j->deps, dep, link->holds);
    uint64_t key =
        lh_mix64(locks[dep->wanted].class_key, locks[link->holds].class_key);
    key = lh_mix64(key, j->site_of(j->ctx, lh_witness_wants_stack(w)));
    return lh_mix64(key, j->site_of(j->ctx, lh_witness_held_stack(w, held)));
}

int lh_judge_key(struct lh_judge *j, const struct lh_link *links, size_t n,
                 uint64_t *key)
{
    if (lh_array_reserve(j->mem, &j->keys, &j->keys_capacity, sizeof *j->keys,
                         n) != 0)
        return ENOMEM;
    for (size_t i = 0; i < n; i++)
        j->keys[i] = side_key(j, &links[i]);
    lh_sort_u64(j->keys, n);
    size_t nkinds = lh_sort_unique(j->keys, n);
    uint64_t sum = 0;
    for (size_t i = 0; i < nkinds; i++)
        sum = lh_mix64(sum, j->keys[i]);
    *key = sum;
    return 0;
}

void lh_judge_free(struct lh_judge *j)
{
    lh_array_free(j->mem, j->picks, j->picks_capacity, sizeof *j->picks);
    lh_array_free(j->mem, j->best, j->best_capacity, sizeof *j->best);
    lh_array_free(j->mem, j->keys, j->keys_capacity, sizeof *j->keys);
    lh_array_free(j->mem, j->sides, j->sides_capacity, sizeof *j->sides);
    lh_array_free(j->mem, j->reasons, j->reasons_capacity, sizeof *j->reasons);
}
