/* SPDX-License-Identifier: MIT
 *
 * rings.c - finds the rings of dependencies that one dependency closes.
 */
#include "rings.h"

#include <errno.h>

#include "array.h"

static const struct lh_dep *dep_at(const struct lh_rings *r, lh_dep_slot slot)
{
    return &r->deps->at[slot];
}

/* Spends steps; false, and the search is over, when there are none left. */
static bool spend(struct lh_rings *r, size_t n)
{
    if (*r->steps > n) {
        *r->steps -= (uint32_t)n;
        return true;
    }
    *r->steps = 0;
    r->is_cut = r->is_over = true;
    return false;
}

static int out_of_memory(struct lh_rings *r)
{
    r->is_cut = r->is_over = true;
    return ENOMEM;
}

/* A held lock of the start at which a ring can close. */
static bool can_close(const struct lh_deps *d, const struct lh_dep *start,
                      lh_lock held)
{
    return lh_nodes_counts(d->nodes, held) &&
           lh_graph_same_component(d->graph, held, start->wanted);
}

bool lh_rings_possible(const struct lh_deps *d, lh_dep_slot slot)
{
    const struct lh_dep *dep = &d->at[slot];
    for (size_t i = 0; i < dep->nheld; i++) {
        if (can_close(d, dep, lh_deps_held_lock(d, dep, i)))
            return true;
    }
    return false;
}

/* Makes room for places and a new stamp. */
static int new_search(struct lh_rings *r)
{
    if (lh_array_reserve(r->mem, &r->places, &r->nplaces, sizeof *r->places,
                         r->deps->nodes->capacity) != 0)
        return ENOMEM;
    r->is_measure_cut = false;
    if (++r->stamp != 0)
        return 0;
    for (size_t i = 0; i < r->nplaces; i++)
        r->places[i].stamp = 0;
    r->stamp = 1;
    return 0;
}

static bool has_distance(const struct lh_rings *r, lh_lock lock)
{
    return r->places[lock].stamp == r->stamp;
}

static int set_distance(struct lh_rings *r, lh_lock lock, uint32_t distance,
                        size_t *nqueue)
{
    if (has_distance(r, lock))
        return 0;
    if (lh_array_reserve(r->mem, &r->queue, &r->queue_capacity,
                         sizeof *r->queue, *nqueue + 1) != 0)
        return out_of_memory(r);
    r->places[lock].stamp = r->stamp;
    r->places[lock].distance = distance;
    r->queue[(*nqueue)++] = lock;
    return 0;
}

static int measure_from_held(struct lh_rings *r, const struct lh_dep *start,
                             size_t *nqueue)
{
    for (size_t i = 0; i < start->nheld; i++) {
        lh_lock lock = lh_deps_held_lock(r->deps, start, i);
        if (can_close(r->deps, start, lock) &&
            set_distance(r, lock, 0, nqueue) != 0)
            return ENOMEM;
    }
    return 0;
}

/* Records in the places that dep has joined the path, or has left it. */
static void hold(struct lh_rings *r, const struct lh_dep *dep, int by)
{
    for (size_t i = 0; i < dep->nheld; i++) {
        struct lh_rings_place *place =
            &r->places[lh_deps_held_lock(r->deps, dep, i)];
        if (lh_deps_held_mode(r->deps, dep, i) == LH_SHARED)
            place->nshared += (uint32_t)by;
        else
            place->nexclusive += (uint32_t)by;
    }
    r->places[dep->wanted].on_path = by > 0;
}

/* True if a lock is held in conflicting modes by the path and by dep. */
static bool is_gated(const struct lh_rings *r, const struct lh_dep *dep)
{
    for (size_t i = 0; i < dep->nheld; i++) {
        const struct lh_rings_place *place =
            &r->places[lh_deps_held_lock(r->deps, dep, i)];
        if (place->nexclusive > 0 ||
            (place->nshared > 0 &&
             lh_deps_held_mode(r->deps, dep, i) == LH_EXCLUSIVE))
            return true;
    }
    return false;
}

/* True if the dependency can be a side of no possible ring. */
static bool is_limited(const struct lh_rings *r, const struct lh_dep *dep)
{
    return lh_wait_is_limited(dep->wait) ||
           lh_nodes_doubtful(r->deps->nodes, dep->wanted);
}

/* The only thread seen with a dependency, or 0. */
static uint32_t only_thread(const struct lh_rings *r, const struct lh_dep *dep)
{
    return dep->nwitnesses == 1
               ? lh_deps_witness(r->deps, dep->witness)[LH_WITNESS_THREAD]
               : 0;
}

/* True if the edge can be on a possible ring with the start, which is all that
 * is held by the path: one of its dependencies has no gate in common with it
 * and can be another thread's. Where there are many, one of them is taken to
 * be so. */
static bool is_open(struct lh_rings *r, const struct lh_dep *start,
                    lh_edge edge)
{
    enum { LOOKED_AT = 8 };
    uint32_t thread = only_thread(r, start);
    lh_lock from = lh_graph_edge_from(r->deps->graph, edge);
    lh_dep_slot slot = lh_deps_first_on(r->deps, edge);
    for (int i = 0; slot && i < LOOKED_AT; i++) {
        const struct lh_dep *dep = dep_at(r, slot);
        if (!is_limited(r, dep) && !is_gated(r, dep) &&
            !(thread && only_thread(r, dep) == thread))
            return true;
        slot = lh_deps_next_on(r->deps, slot, from);
    }
    return slot != 0;
}

/*
 * Measures backwards from the locks that the start holds, inside its
 * component, for at most half of the steps: locks further off stay out of the
 * search then. The lock that the start wants is no way through.
 */
static void measure(struct lh_rings *r, const struct lh_dep *start)
{
    const struct lh_graph *g = r->deps->graph;
    size_t nqueue = 0;
    uint32_t reserve = *r->steps / 2;
    if (measure_from_held(r, start, &nqueue) != 0)
        return;
    for (size_t i = 0; i < nqueue; i++) {
        lh_lock to = r->queue[i];
        if (to == start->wanted)
            continue;
        lh_edge e = lh_graph_first_in(g, to);
        for (; e; e = lh_graph_next_in(g, e)) {
            lh_lock from = lh_graph_edge_from(g, e);
            if (*r->steps <= reserve) {
                r->is_measure_cut = true;
                return;
            }
            --*r->steps;
            if (lh_nodes_counts(r->deps->nodes, from) &&
                lh_graph_same_component(g, from, start->wanted) &&
                (!r->strict || is_open(r, start, e)) &&
                set_distance(r, from, r->places[to].distance + 1, &nqueue) != 0)
                return;
        }
    }
}

/* Dependencies seen with one thread only can not be in a ring twice. The ends
 * of the path are enough: this saves time, the judge decides. */
static bool is_one_thread(const struct lh_rings *r, const struct lh_dep *dep)
{
    uint32_t thread = only_thread(r, dep);
    return thread != 0 &&
           (only_thread(r, dep_at(r, r->path[0].link.dep)) == thread ||
            only_thread(r, dep_at(r, r->path[r->npath - 1].link.dep)) ==
                thread);
}

static int push(struct lh_rings *r, struct lh_link link)
{
    const struct lh_dep *dep = dep_at(r, link.dep);
    if (lh_array_reserve(r->mem, &r->path, &r->path_capacity, sizeof *r->path,
                         r->npath + 1) != 0 ||
        lh_array_reserve(r->mem, &r->links, &r->links_capacity,
                         sizeof *r->links, r->npath + 2) != 0)
        return out_of_memory(r);
    hold(r, dep, 1);
    r->path[r->npath++] = (struct lh_rings_frame){
        .link = link,
        .wanted = dep->wanted,
        .edge = lh_graph_first_out(r->deps->graph, dep->wanted),
    };
    struct lh_rings_frame *top = &r->path[r->npath - 1];
    if (top->edge)
        top->next = lh_deps_first_on(r->deps, top->edge);
    return 0;
}

static void pop(struct lh_rings *r)
{
    hold(r, dep_at(r, r->path[--r->npath].link.dep), -1);
}

static uint8_t mode_held(const struct lh_rings *r, const struct lh_dep *dep,
                         lh_lock lock)
{
    return lh_deps_held_mode(r->deps, dep,
                             lh_deps_held_index(r->deps, dep, lock));
}

/* True if `wants` can wait for `holds` at a lock. */
static bool conflict(const struct lh_rings *r, const struct lh_dep *wants,
                     const struct lh_dep *holds, lh_lock lock)
{
    return wants->mode != LH_SHARED || mode_held(r, holds, lock) != LH_SHARED;
}

/* True if a dependency can come next on the path. */
static bool can_follow(const struct lh_rings *r, const struct lh_dep *dep)
{
    const struct lh_rings_frame *top = &r->path[r->npath - 1];
    if (!conflict(r, dep_at(r, top->link.dep), dep, top->wanted))
        return false;
    if (!r->strict)
        return true;
    return !is_limited(r, dep) && !is_one_thread(r, dep) && !is_gated(r, dep);
}

/*
 * True if several sides hold shared what one wants exclusively. Then a shorter
 * ring leaves out those between, can happen whenever this one can, and was
 * reported in its turn. (Were it held exclusively, it would be a gate.)
 */
static bool has_shortcut(struct lh_rings *r, const struct lh_dep *last)
{
    hold(r, last, 1);
    bool has = last->mode != LH_SHARED && r->places[last->wanted].nshared > 1;
    for (size_t i = 0; i < r->npath && !has; i++) {
        const struct lh_dep *dep = dep_at(r, r->path[i].link.dep);
        has = dep->mode != LH_SHARED && r->places[dep->wanted].nshared > 1;
    }
    hold(r, last, -1);
    return has;
}

/*
 * True if a side waits to read behind a writer that waits for one that has the
 * lock exclusively: so does the reader, and a shorter ring says so.
 */
static bool has_idle_queue(const struct lh_rings *r, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct lh_link *next = &r->links[(i + 1) % n];
        if (lh_nodes_is_queue(r->deps->nodes, r->links[i].holds) &&
            mode_held(r, dep_at(r, next->dep), next->holds) != LH_SHARED)
            return true;
    }
    return false;
}

/* The path and one more dependency are a ring. */
static void report(struct lh_rings *r, struct lh_link last)
{
    const struct lh_dep *dep = dep_at(r, last.dep);
    const struct lh_dep *start = dep_at(r, r->path[0].link.dep);
    size_t n = r->npath;
    if (!conflict(r, dep, start, dep->wanted) || !spend(r, n))
        return;
    if (has_shortcut(r, dep))
        return;
    for (size_t i = 0; i < n; i++)
        r->links[i] = r->path[i].link;
    r->links[0].holds = dep->wanted;
    r->links[n] = last;
    if (has_idle_queue(r, n + 1))
        return;
    if (!r->on_ring(r->ctx, r->links, n + 1))
        r->is_over = true;
}

/* Moves a frame to its next edge that can lead to the start in time. */
static void next_edge(struct lh_rings *r, struct lh_rings_frame *top)
{
    const struct lh_graph *g = r->deps->graph;
    top->edge = lh_graph_next_out(g, top->edge);
    top->next = top->edge ? lh_deps_first_on(r->deps, top->edge) : 0;
}

/* True if the frame's edge leads on: to a lock from which the start can be
 * reached within the limit, and not on the path yet. */
static bool leads_on(struct lh_rings *r, const struct lh_rings_frame *top)
{
    lh_lock to = lh_graph_edge_to(r->deps->graph, top->edge);
    if (!has_distance(r, to) || r->places[to].on_path)
        return false;
    size_t length = r->npath + 1 + r->places[to].distance;
    if (length <= r->reported && r->places[to].distance == 0)
        return false;
    if (length <= r->limit)
        return true;
    if (length < r->beyond)
        r->beyond = length;
    return false;
}

/* Looks at one edge or one dependency at the end of the path. */
static void step(struct lh_rings *r)
{
    struct lh_rings_frame *top = &r->path[r->npath - 1];
    if (!top->edge) {
        pop(r);
        return;
    }
    if (!top->next || !leads_on(r, top)) {
        next_edge(r, top);
        return;
    }
    struct lh_link link = { top->next, top->wanted };
    const struct lh_dep *dep = dep_at(r, link.dep);
    top->next = lh_deps_next_on(r->deps, link.dep, top->wanted);
    if (!spend(r, dep->nheld / 4) || !can_follow(r, dep))
        return;
    if (r->places[dep->wanted].distance == 0)
        report(r, link);
    else
        (void)push(r, link);
}

/* Finds the rings of a length from reported + 1 to the limit. */
static void search_round(struct lh_rings *r, lh_dep_slot start)
{
    r->beyond = SIZE_MAX;
    r->npath = 0;
    (void)push(r, (struct lh_link){ start, 0 });
    while (r->npath > 0 && !r->is_over && spend(r, 1))
        step(r);
    while (r->npath > 0)
        pop(r);
}

/* Rings of two are the most common, and are found without a distance. */
static void search_pairs(struct lh_rings *r, lh_dep_slot slot)
{
    const struct lh_dep *start = dep_at(r, slot);
    r->npath = 0;
    if (push(r, (struct lh_link){ slot, 0 }) != 0)
        return;
    for (size_t i = 0; i < start->nheld && !r->is_over; i++) {
        lh_lock held = lh_deps_held_lock(r->deps, start, i);
        lh_edge edge = lh_graph_find_edge(r->deps->graph, start->wanted, held);
        if (!edge || !lh_nodes_counts(r->deps->nodes, held))
            continue;
        lh_dep_slot next = lh_deps_first_on(r->deps, edge);
        while (next && !r->is_over && spend(r, 1)) {
            struct lh_link link = { next, start->wanted };
            if (can_follow(r, dep_at(r, next)))
                report(r, link);
            next = lh_deps_next_on(r->deps, next, start->wanted);
        }
    }
    pop(r);
}

static void search_longer(struct lh_rings *r, lh_dep_slot slot)
{
    const struct lh_dep *start = dep_at(r, slot);
    hold(r, start, 1); /* nothing that it guards is a way */
    measure(r, start);
    hold(r, start, -1);
    r->is_cut |= r->is_measure_cut;
    if (r->is_over || !has_distance(r, start->wanted))
        return;
    r->reported = 2;
    r->limit = 3;
    if (r->places[start->wanted].distance + 1 > r->limit)
        r->limit = r->places[start->wanted].distance + 1;
    while (!r->is_over) {
        search_round(r, slot);
        if (r->beyond == SIZE_MAX)
            return;
        r->reported = r->limit;
        r->limit = r->beyond;
    }
}

bool lh_rings_search(struct lh_rings *r, const struct lh_rings_query *query,
                     lh_rings_fn on_ring, void *ctx)
{
    r->strict = query->strict;
    r->steps = query->steps;
    r->on_ring = on_ring;
    r->ctx = ctx;
    r->is_over = r->is_cut = false;
    if (new_search(r) != 0)
        return false;
    if (r->strict && is_limited(r, dep_at(r, query->start)))
        return true;
    if (!lh_nodes_counts(r->deps->nodes, dep_at(r, query->start)->wanted))
        return true;
    search_pairs(r, query->start);
    if (!r->is_over)
        search_longer(r, query->start);
    return !r->is_cut;
}

void lh_rings_free(struct lh_rings *r)
{
    lh_array_free(r->mem, r->places, r->nplaces, sizeof *r->places);
    lh_array_free(r->mem, r->queue, r->queue_capacity, sizeof *r->queue);
    lh_array_free(r->mem, r->path, r->path_capacity, sizeof *r->path);
    lh_array_free(r->mem, r->links, r->links_capacity, sizeof *r->links);
}
