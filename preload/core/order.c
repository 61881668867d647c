/* SPDX-License-Identifier: MIT
 *
 * order.c - takes in requests and tells which rings they close.
 */
#include "order.h"

#include <errno.h>

#include "array.h"
#include "deps.h"
#include "graph.h"
#include "judge.h"
#include "merge.h"
#include "nodes.h"
#include "rings.h"

enum {
    /* A step is an edge, a dependency or a witness looked at: some 10 ns,
     * 100 when there are so many that they are not in the cache. */
    STEPS_FIRST = 5000000,     /* in a pool at first, and at most */
    STEPS_GRANTED = 300,       /* added to it by each request on a ring */
    STEPS_A_REQUEST = 20000,   /* taken out by one at most */
    STRICT_FACTOR = 2,         /* for possible rings, twice as many */
    MAX_KINDS = 16,            /* of possible rings, looked for by a request */
    MAX_RINGS = 64,            /* found by a request, of any kind */
    SWEEP_DEAD = 4000,         /* fewer ended locks are not worth a sweep */
    SWEEP_DEPS_A_DEAD_LOCK = 8 /* dependencies that it pays for */
};

/* What one request has found so far. */
struct search {
    lh_dep_slot start;
    bool is_new;  /* the dependency is: so are its rings */
    bool has_cut; /* the judge did not look at all witnesses of some ring */
    uint32_t steps;
    uint32_t nrings;    /* of the present kind of search */
    uint32_t npossible; /* rings of grade possible */
    uint64_t kinds[MAX_KINDS];
    uint32_t nkinds;
    size_t best_n; /* links of the best conditional ring in o->best, or 0 */
    size_t best_nreasons;
    bool is_best_latest; /* the judge has looked at no other since */
};

struct lh_order {
    struct lh_mem mem;
    struct lh_segments *segments;
    lh_ring_fn on_ring;
    void *ctx;
    struct lh_graph *graph;
    struct lh_nodes nodes;
    struct lh_deps deps;
    struct lh_rings rings;
    struct lh_judge judge;
    struct lh_merge merge;
    struct search search;
    struct lh_link *best;
    size_t best_capacity;
    struct lh_held *queued; /* scratch: held locks and a queue */
    size_t queued_capacity;
    uint32_t pool, strict_pool; /* steps */
    uint32_t deps_at_sweep;     /* last_serial then */
    uint64_t ndeps, nedges;     /* ever learned */
    bool is_bounded;
};

static int init(struct lh_order *o)
{
    o->nodes.mem = o->rings.mem = o->judge.mem = o->mem;
    o->pool = STEPS_FIRST;
    o->strict_pool = STEPS_FIRST * STRICT_FACTOR;
    o->graph = o->nodes.graph = lh_graph_new(o->mem);
    o->rings.deps = &o->deps;
    o->judge.deps = &o->deps;
    o->judge.segments = o->segments;
    o->deps.mem = o->deps.words.mem = o->deps.table.mem = o->mem;
    o->merge.mem = o->merge.table.mem = o->mem;
    if (!o->graph || lh_deps_init(&o->deps, o->mem, o->graph, &o->nodes) != 0)
        return ENOMEM;
    return lh_merge_init(&o->merge, o->mem);
}

struct lh_order *lh_order_new(struct lh_mem mem, struct lh_segments *segments,
                              lh_ring_fn on_ring, lh_site_fn site_of, void *ctx)
{
    struct lh_order *o = mem.resize(mem.ctx, NULL, 0, sizeof *o);
    if (!o)
        return NULL;
    o->mem = mem;
    o->segments = segments;
    o->on_ring = on_ring;
    o->ctx = ctx;
    o->judge.site_of = site_of;
    o->judge.ctx = ctx;
    if (init(o) != 0) {
        lh_order_free(o);
        return NULL;
    }
    return o;
}

void lh_order_free(struct lh_order *o)
{
    if (!o)
        return;
    struct lh_mem mem = o->mem;
    lh_array_free(mem, o->best, o->best_capacity, sizeof *o->best);
    lh_array_free(mem, o->queued, o->queued_capacity, sizeof *o->queued);
    lh_merge_free(&o->merge);
    lh_judge_free(&o->judge);
    lh_rings_free(&o->rings);
    lh_deps_free(&o->deps);
    lh_nodes_free(&o->nodes);
    lh_graph_free(o->graph);
    (void)mem.resize(mem.ctx, o, sizeof *o, 0);
}

int lh_order_add_lock(struct lh_order *o, uint64_t class_key, lh_lock *lock)
{
    return lh_nodes_add(&o->nodes, class_key, lock);
}

/* A sweep looks at everything: enough must have happened since the last. */
bool lh_order_wants_sweep(const struct lh_order *o)
{
    size_t ndead = o->nodes.ndead;
    size_t nlearned = o->deps.last_serial - o->deps_at_sweep;
    return ndead > SWEEP_DEAD && 2 * ndead >= lh_graph_nnodes(o->graph) &&
           2 * (nlearned + SWEEP_DEPS_A_DEAD_LOCK * ndead) >= o->deps.ndeps;
}

void lh_order_end_lock(struct lh_order *o, lh_lock lock)
{
    lh_nodes_end(&o->nodes, lock);
}

void lh_order_doubt_lock(struct lh_order *o, lh_lock lock, bool is_doubtful)
{
    o->nodes.at[lock].is_doubtful = is_doubtful;
}

void lh_order_sweep(struct lh_order *o)
{
    lh_order_settle(o);
    lh_deps_sweep(&o->deps);
    o->deps_at_sweep = o->deps.last_serial;
}

static void call(struct lh_order *o, uint32_t id, bool is_new,
                 enum lh_grade grade, size_t n)
{
    struct lh_ring ring = {
        .id = id,
        .is_new = is_new,
        .grade = grade,
        .nsides = n,
        .sides = o->judge.sides,
        .nreasons = o->judge.nreasons,
        .reasons = o->judge.reasons,
    };
    o->on_ring(o->ctx, &ring);
}

/* Files the ring that the judge has just looked at, and tells about it when
 * it is new or its grade went up. */
static void file(struct lh_order *o, uint64_t key, enum lh_grade grade,
                 size_t n)
{
    uint32_t id = lh_merge_find(&o->merge, key);
    if (!id) {
        if (lh_merge_add(&o->merge, key, grade, &id) != 0)
            o->is_bounded = true;
        else
            call(o, id, true, grade, n);
        return;
    }
    o->merge.at[id].nrings += o->search.is_new;
    if (grade == LH_POSSIBLE && o->merge.at[id].grade == LH_CONDITIONAL) {
        lh_merge_raise(&o->merge, id);
        call(o, id, false, grade, n);
    }
}

/* Counts the kinds of possible rings; false when there are enough. */
static bool note_kind(struct search *s, uint64_t key)
{
    for (uint32_t i = 0; i < s->nkinds; i++) {
        if (s->kinds[i] == key)
            return true;
    }
    s->kinds[s->nkinds++] = key;
    s->has_cut |= s->nkinds == MAX_KINDS;
    return s->nkinds < MAX_KINDS;
}

static bool file_possible(struct lh_order *o, const struct lh_link *links,
                          size_t n)
{
    struct search *s = &o->search;
    uint64_t key;
    if (lh_judge_key(&o->judge, links, n, &key) != 0) {
        s->has_cut = true;
        return false;
    }
    s->npossible++;
    file(o, key, LH_POSSIBLE, n);
    return note_kind(s, key);
}

static bool on_strict_ring(void *ctx, const struct lh_link *links, size_t n)
{
    struct lh_order *o = ctx;
    struct search *s = &o->search;
    struct lh_verdict v = lh_judge_strictly(&o->judge, links, n, &s->steps);
    s->has_cut |= v.is_cut;
    if (!v.is_possible)
        return true;
    return file_possible(o, links, n) && ++s->nrings < MAX_RINGS;
}

/* Keeps the ring against which least speaks, the first among equals. */
static bool on_any_ring(void *ctx, const struct lh_link *links, size_t n)
{
    struct lh_order *o = ctx;
    struct search *s = &o->search;
    struct lh_verdict v = lh_judge_fully(&o->judge, links, n, &s->steps);
    s->has_cut |= v.is_cut;
    s->is_best_latest = false;
    if (v.is_possible)
        return file_possible(o, links, n);
    if (o->judge.nreasons > 0 &&
        (!s->best_n || o->judge.nreasons < s->best_nreasons)) {
        if (lh_array_reserve(o->mem, &o->best, &o->best_capacity,
                             sizeof *o->best, n) != 0) {
            s->has_cut = true;
            return false;
        }
        memcpy(o->best, links, n * sizeof *links);
        s->best_n = n;
        s->best_nreasons = o->judge.nreasons;
        s->is_best_latest = true;
    }
    return s->best_nreasons != 1 && ++s->nrings < MAX_RINGS;
}

static void file_best(struct lh_order *o)
{
    struct search *s = &o->search;
    uint64_t key;
    if (!s->is_best_latest)
        (void)lh_judge_fully(&o->judge, o->best, s->best_n, &s->steps);
    if (o->judge.nreasons > 0 &&
        lh_judge_key(&o->judge, o->best, s->best_n, &key) == 0)
        file(o, key, LH_CONDITIONAL, s->best_n);
    else
        o->is_bounded = true;
}

/* Takes from a pool what one search may spend. */
static uint32_t draw(uint32_t *pool, uint32_t factor)
{
    *pool += STEPS_GRANTED * factor;
    if (*pool > STEPS_FIRST * factor)
        *pool = STEPS_FIRST * factor;
    return *pool < STEPS_A_REQUEST * factor ? *pool : STEPS_A_REQUEST * factor;
}

/* Looks for possible rings. Returns false if it was cut short. */
static bool search_strictly(struct lh_order *o)
{
    struct search *s = &o->search;
    struct lh_rings_query query = {
        .start = s->start,
        .strict = true,
        .steps = &s->steps,
    };
    uint32_t drawn = s->steps = draw(&o->strict_pool, STRICT_FACTOR);
    bool is_complete = lh_rings_search(&o->rings, &query, on_strict_ring, o);
    o->strict_pool -= drawn - s->steps;
    return is_complete && !s->has_cut;
}

static void search_any(struct lh_order *o)
{
    struct search *s = &o->search;
    struct lh_rings_query query = {
        .start = s->start,
        .steps = &s->steps,
    };
    uint32_t drawn = s->steps = draw(&o->pool, 1);
    s->has_cut = false;
    s->nrings = 0;
    (void)lh_rings_search(&o->rings, &query, on_any_ring, o);
    if (s->npossible == 0 && s->best_n > 0)
        file_best(o);
    o->pool -= drawn - s->steps;
}

/*
 * Looks for possible rings and, if there is none through a dependency that is
 * new, for a conditional one. Each kind has a pool of steps of its own, so that
 * the cost of all requests together stays near-linear in their number, and what
 * is merely conditional, as all that goes on under one big lock, cannot use up
 * the search for what counts.
 */
static void judge_rings(struct lh_order *o, lh_dep_slot slot, bool is_new)
{
    o->search = (struct search){ .start = slot, .is_new = is_new };
    if (!search_strictly(o))
        o->is_bounded = true;
    if (o->search.npossible == 0 && is_new)
        search_any(o);
}

/* Judges the dependencies of one edge. */
static void judge_edge(struct lh_order *o, lh_edge edge)
{
    lh_lock from = lh_graph_edge_from(o->graph, edge);
    lh_dep_slot slot = lh_deps_first_on(&o->deps, edge);
    for (; slot; slot = lh_deps_next_on(&o->deps, slot, from))
        judge_rings(o, slot, true);
}

void lh_order_withhold_lock(struct lh_order *o, lh_lock lock)
{
    if (lh_nodes_alive(&o->nodes, lock))
        o->nodes.at[lock].is_withheld = true;
}

/* Each ring through the lock has one side that wants it. */
void lh_order_admit_lock(struct lh_order *o, lh_lock lock)
{
    if (!lh_nodes_alive(&o->nodes, lock) || !o->nodes.at[lock].is_withheld)
        return;
    o->nodes.at[lock].is_withheld = false;
    lh_edge edge = lh_graph_first_in(o->graph, lock);
    for (; edge; edge = lh_graph_next_in(o->graph, edge))
        judge_edge(o, edge);
}

void lh_order_each_of(struct lh_order *o, lh_lock lock, lh_request_fn fn,
                      void *ctx)
{
    if (lh_nodes_alive(&o->nodes, lock))
        lh_deps_each_of(&o->deps, lock, fn, ctx);
}

void lh_order_settle(struct lh_order *o)
{
    size_t n;
    lh_graph_settle(o->graph);
    const lh_edge *pending = lh_graph_pending(o->graph, &n);
    for (size_t i = 0; i < n; i++) {
        if (lh_graph_same_component(o->graph,
                                    lh_graph_edge_from(o->graph, pending[i]),
                                    lh_graph_edge_to(o->graph, pending[i])))
            judge_edge(o, pending[i]);
    }
    lh_graph_forget_pending(o->graph);
}

static int take_in(struct lh_order *o, const struct lh_request *request,
                   struct lh_learned *learned)
{
    lh_dep_slot slot;
    enum lh_news news;
    size_t nedges = lh_graph_nedges(o->graph);
    int rc = lh_deps_take(&o->deps, request, &slot, &news);
    o->nedges += lh_graph_nedges(o->graph) - nedges;
    if (rc != 0)
        return rc;
    *learned = (struct lh_learned){
        .slot = slot,
        .serial = slot ? o->deps.at[slot].serial : 0,
        .is_new = news == LH_NEWS_DEPENDENCY,
        .new_witness = news >= LH_NEWS_THREAD,
    };
    o->ndeps += learned->is_new;
    if (news != LH_NEWS_NONE && lh_rings_possible(&o->deps, slot))
        judge_rings(o, slot, learned->is_new);
    if (lh_graph_wants_settling(o->graph))
        lh_order_settle(o);
    return 0;
}

static bool writes(const struct lh_request *request, lh_lock lock)
{
    size_t i = 0;
    while (i < request->nheld && request->held[i].lock != lock)
        i++;
    return i < request->nheld && request->held[i].mode != LH_SHARED;
}

/* Asks for the lock and for its queue. A lock that is written already is
 * refused to its holder, who waits for nothing. */
static int take_in_reader(struct lh_order *o, const struct lh_request *request,
                          lh_lock queue, struct lh_learned *learned)
{
    struct lh_request behind = *request;
    struct lh_learned second = { 0 };
    int rc = take_in(o, request, learned);
    behind.lock = queue;
    if (rc != 0 || writes(request, request->lock))
        return rc;
    rc = take_in(o, &behind, &second);
    if (rc == 0 && !learned->slot)
        *learned = second;
    return rc;
}

/* Asks for the lock with its queue in hand. */
static int take_in_writer(struct lh_order *o, const struct lh_request *request,
                          lh_lock queue, struct lh_learned *learned)
{
    struct lh_request first = *request;
    if (lh_array_reserve(o->mem, &o->queued, &o->queued_capacity,
                         sizeof *o->queued, request->nheld + 1) != 0)
        return ENOMEM;
    for (size_t i = 0; i < request->nheld; i++)
        o->queued[i] = request->held[i];
    o->queued[first.nheld++] = (struct lh_held){
        .lock = queue,
        .stack = request->stack,
        .mode = LH_EXCLUSIVE,
    };
    first.held = o->queued;
    return take_in(o, &first, learned);
}

int lh_order_request(struct lh_order *o, const struct lh_request *request,
                     struct lh_learned *learned)
{
    lh_lock queue;
    if (!request->queues || !lh_nodes_alive(&o->nodes, request->lock))
        return take_in(o, request, learned);
    if (lh_nodes_queue(&o->nodes, request->lock, &queue) != 0)
        return ENOMEM;
    return request->mode == LH_SHARED
               ? take_in_reader(o, request, queue, learned)
               : take_in_writer(o, request, queue, learned);
}

uint32_t lh_order_epoch(const struct lh_order *o)
{
    return o->deps.epoch;
}

void lh_order_count(struct lh_order *o, uint32_t slot, uint64_t n)
{
    if (slot != 0 && slot <= o->deps.ndeps)
        o->deps.at[slot].times += n;
}

struct lh_seen lh_order_seen(const struct lh_order *o, uint32_t serial)
{
    struct lh_seen seen = { 0, 0 };
    lh_dep_slot slot = lh_deps_find_serial(&o->deps, serial);
    if (slot) {
        seen.times = o->deps.at[slot].times;
        seen.nthreads = o->deps.at[slot].nwitnesses;
    }
    return seen;
}

void lh_order_totals(const struct lh_order *o, struct lh_order_totals *t)
{
    *t = (struct lh_order_totals){
        .dependencies = o->ndeps,
        .edges = o->nedges,
        .possible = o->merge.npossible,
        .conditional = o->merge.nfindings - o->merge.npossible,
        .bounded = o->is_bounded,
    };
}

uint64_t lh_order_merged(const struct lh_order *o, uint32_t id)
{
    return id != 0 && id <= o->merge.nfindings ? o->merge.at[id].nrings : 0;
}
