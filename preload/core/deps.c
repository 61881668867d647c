/* SPDX-License-Identifier: MIT
 *
 * deps.c - dependencies, each known once, and who was seen with them.
 */
#include "deps.h"

#include <errno.h>
#include <string.h>

#include "array.h"
#include "mix.h"

static uint32_t dep_hash(const void *owner, uint32_t slot)
{
    return ((const struct lh_deps *)owner)->at[slot].hash;
}

static uint32_t *dep_next_hash(void *owner, uint32_t slot)
{
    return &((struct lh_deps *)owner)->at[slot].next_hash;
}

static const struct lh_table_owner table_owner = { dep_hash, dep_next_hash };

int lh_deps_init(struct lh_deps *d, struct lh_mem mem, struct lh_graph *graph,
                 struct lh_nodes *nodes)
{
    memset(d, 0, sizeof *d);
    d->mem = d->words.mem = mem;
    d->graph = graph;
    d->nodes = nodes;
    return lh_table_init(&d->table, mem, &table_owner, d);
}

void lh_deps_free(struct lh_deps *d)
{
    lh_array_free(d->mem, d->at, d->capacity, sizeof *d->at);
    lh_array_free(d->mem, d->held, d->held_capacity, sizeof *d->held);
    lh_words_free(&d->words);
    lh_table_free(&d->table);
}

static size_t held_words(size_t room)
{
    return 2 * room;
}

static size_t witness_words(size_t room)
{
    return LH_WITNESS_PLACES + 1 + room;
}

static uint32_t pack(lh_lock lock, uint8_t mode)
{
    return lock << 1 | (mode == LH_SHARED);
}

/* A sum over the held locks, so that their order does not matter. */
static uint32_t finish_hash(uint64_t sum, lh_lock wanted, uint8_t mode,
                            uint8_t wait)
{
    return (uint32_t)lh_mix64(sum, (uint64_t)wanted << 16 | mode << 8 | wait);
}

static uint32_t hash_request(const struct lh_request *r)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < r->nheld; i++)
        sum += lh_mix64(0, pack(r->held[i].lock, r->held[i].mode));
    return finish_hash(sum, r->lock, r->mode, r->wait);
}

static uint32_t hash_dep(const struct lh_deps *d, const struct lh_dep *dep)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < dep->nheld; i++)
        sum += lh_mix64(0, d->words.at[dep->held + 2 * i]);
    return finish_hash(sum, dep->wanted, dep->mode, dep->wait);
}

size_t lh_deps_held_index(const struct lh_deps *d, const struct lh_dep *dep,
                          lh_lock lock)
{
    size_t i = 0;
    while (i < dep->nheld && lh_deps_held_lock(d, dep, i) != lock)
        i++;
    return i;
}

/* Where in a held set of n a lock is, most likely at `guess`; n if nowhere. */
static size_t find_held(const struct lh_held *held, size_t n, lh_lock lock,
                        size_t guess)
{
    if (guess < n && held[guess].lock == lock)
        return guess;
    size_t i = 0;
    while (i < n && held[i].lock != lock)
        i++;
    return i;
}

/* Held locks are listed once each, so equal sizes and one way suffice. */
static bool is_dep_of(const struct lh_deps *d, const struct lh_dep *dep,
                      const struct lh_request *r)
{
    if (dep->wanted != r->lock || dep->nheld != r->nheld ||
        dep->mode != r->mode || dep->wait != r->wait)
        return false;
    for (size_t i = 0; i < dep->nheld; i++) {
        lh_lock lock = lh_deps_held_lock(d, dep, i);
        size_t at = find_held(r->held, r->nheld, lock, i);
        if (at == r->nheld ||
            (r->held[at].mode == LH_SHARED) != lh_deps_held_mode(d, dep, i))
            return false;
    }
    return true;
}

static lh_dep_slot find_dep(const struct lh_deps *d, const struct lh_request *r,
                            uint32_t hash)
{
    lh_dep_slot slot = lh_table_first(&d->table, hash);
    while (slot && (d->at[slot].hash != hash || !is_dep_of(d, &d->at[slot], r)))
        slot = d->at[slot].next_hash;
    return slot;
}

/* Writes a witness into its block, held locks in the dependency's order. */
static void write_witness(struct lh_deps *d, const struct lh_dep *dep,
                          uint32_t offset, uint32_t next,
                          const struct lh_request *r)
{
    uint32_t *w = &d->words.at[offset];
    w[LH_WITNESS_THREAD] = r->segment.thread;
    w[LH_WITNESS_FIRST] = w[LH_WITNESS_NEWEST] = r->segment.index;
    w[LH_WITNESS_NEXT] = next;
    w[LH_WITNESS_GONE] = r->gone;
    w[LH_WITNESS_PLACES] = r->stack;
    for (size_t i = 0; i < dep->nheld; i++) {
        size_t at =
            find_held(r->held, r->nheld, lh_deps_held_lock(d, dep, i), i);
        w[LH_WITNESS_PLACES + 1 + i] = r->held[at].stack;
    }
}

/* Adds the edges of a request and leaves their numbers where the links of the
 * held locks will be. */
static int add_edges(struct lh_deps *d, const struct lh_request *r,
                     uint32_t held)
{
    for (size_t i = 0; i < r->nheld; i++) {
        lh_edge *edge = &d->words.at[held + 2 * i + 1];
        if (lh_graph_add_edge(d->graph, r->held[i].lock, r->lock, edge) != 0)
            return ENOMEM;
    }
    return 0;
}

/* Puts a dependency at the head of the list of each of its edges, whose
 * numbers are where the links will be. */
static void link_to_edges(struct lh_deps *d, lh_dep_slot slot)
{
    const struct lh_dep *dep = &d->at[slot];
    for (size_t i = 0; i < dep->nheld; i++) {
        uint32_t *link = &d->words.at[dep->held + 2 * i + 1];
        uint32_t *head = lh_graph_edge_word(d->graph, *link);
        *link = *head;
        *head = slot;
    }
}

lh_dep_slot lh_deps_next_on(const struct lh_deps *d, lh_dep_slot slot,
                            lh_lock from)
{
    const struct lh_dep *dep = &d->at[slot];
    size_t i = lh_deps_held_index(d, dep, from);
    return d->words.at[dep->held + 2 * i + 1];
}

/* Everything that can fail comes first. */
static int add_dep(struct lh_deps *d, const struct lh_request *r, uint32_t hash,
                   lh_dep_slot *slot)
{
    uint32_t held, witness;
    if (lh_array_reserve(d->mem, &d->at, &d->capacity, sizeof *d->at,
                         (size_t)d->ndeps + 2) != 0 ||
        lh_table_reserve(&d->table) != 0)
        return ENOMEM;
    if (lh_words_get(&d->words, held_words(r->nheld), &held) != 0)
        return ENOMEM;
    if (lh_words_get(&d->words, witness_words(r->nheld), &witness) != 0)
        goto no_witness;
    if (add_edges(d, r, held) != 0)
        goto no_edges;

    *slot = ++d->ndeps;
    struct lh_dep *dep = &d->at[*slot];
    *dep = (struct lh_dep){
        .hash = hash,
        .serial = ++d->last_serial,
        .wanted = r->lock,
        .held = held,
        .witness = witness,
        .nheld = (uint16_t)r->nheld,
        .room = (uint16_t)r->nheld,
        .mode = r->mode,
        .wait = r->wait,
        .nwitnesses = 1,
    };
    for (size_t i = 0; i < r->nheld; i++)
        d->words.at[held + 2 * i] = pack(r->held[i].lock, r->held[i].mode);
    write_witness(d, dep, witness, 0, r);
    link_to_edges(d, *slot);
    lh_table_insert(&d->table, *slot, hash);
    return 0;

no_edges: /* edges without a dependency do no harm */
    lh_words_put(&d->words, witness, witness_words(r->nheld));
no_witness:
    lh_words_put(&d->words, held, held_words(r->nheld));
    return ENOMEM;
}

/* The witness of a thread, or 0; *last is the last of the list. */
static uint32_t find_witness(const struct lh_deps *d, const struct lh_dep *dep,
                             uint32_t thread, uint32_t *last)
{
    *last = 0;
    for (uint32_t w = dep->witness; w; w = d->words.at[w + LH_WITNESS_NEXT]) {
        if (d->words.at[w + LH_WITNESS_THREAD] == thread)
            return w;
        *last = w;
    }
    return 0;
}

/* Adds a witness at the end; when there are enough, in place of the last. */
static int add_witness(struct lh_deps *d, struct lh_dep *dep, uint32_t last,
                       const struct lh_request *r)
{
    if (dep->nwitnesses == LH_MAX_WITNESSES) {
        write_witness(d, dep, last, 0, r);
        return 0;
    }
    uint32_t witness;
    if (lh_words_get(&d->words, witness_words(dep->room), &witness) != 0)
        return ENOMEM;
    write_witness(d, dep, witness, 0, r);
    if (last)
        d->words.at[last + LH_WITNESS_NEXT] = witness;
    else
        dep->witness = witness;
    dep->nwitnesses++;
    return 0;
}

/* Sees to it that a known dependency knows who made the request. */
static int note_witness(struct lh_deps *d, struct lh_dep *dep,
                        const struct lh_request *r, enum lh_news *news)
{
    uint32_t last;
    uint32_t known = find_witness(d, dep, r->segment.thread, &last);
    if (!known) {
        *news = LH_NEWS_THREAD;
        return add_witness(d, dep, last, r);
    }
    uint32_t *w = &d->words.at[known];
    *news = LH_NEWS_NONE;
    if (w[LH_WITNESS_NEWEST] < r->segment.index) {
        w[LH_WITNESS_NEWEST] = r->segment.index;
        *news = LH_NEWS_SEGMENT;
    }
    if (w[LH_WITNESS_GONE] & ~r->gone) {
        w[LH_WITNESS_GONE] &= r->gone;
        *news = LH_NEWS_SEGMENT;
    }
    return 0;
}

/* Copies the request with the held locks that count; held is NULL when there
 * is nothing to learn from it. */
static int clean(struct lh_deps *d, const struct lh_request *request,
                 struct lh_request *r)
{
    *r = *request;
    r->held = NULL;
    r->nheld = 0;
    if (!lh_nodes_alive(d->nodes, request->lock))
        return 0;
    if (lh_array_reserve(d->mem, &d->held, &d->held_capacity, sizeof *d->held,
                         request->nheld) != 0)
        return ENOMEM;
    lh_nodes_new_stamp(d->nodes);
    for (size_t i = 0; i < request->nheld; i++) {
        lh_lock lock = request->held[i].lock;
        if (lock == request->lock) {
            r->nheld = 0;
            return 0;
        }
        if (!lh_nodes_alive(d->nodes, lock) ||
            d->nodes->at[lock].stamp == d->nodes->stamp)
            continue;
        d->nodes->at[lock].stamp = d->nodes->stamp;
        d->held[r->nheld++] = request->held[i];
    }
    r->held = r->nheld ? d->held : NULL;
    return r->nheld <= UINT16_MAX ? 0 : ENOMEM;
}

int lh_deps_take(struct lh_deps *d, const struct lh_request *request,
                 lh_dep_slot *slot, enum lh_news *news)
{
    struct lh_request r;
    if (clean(d, request, &r) != 0)
        return ENOMEM;
    if (!r.held) {
        *slot = 0;
        *news = LH_NEWS_NONE;
        return 0;
    }
    uint32_t hash = hash_request(&r);
    lh_dep_slot found = find_dep(d, &r, hash);
    enum lh_news what = LH_NEWS_DEPENDENCY;
    if (found ? note_witness(d, &d->at[found], &r, &what) != 0
              : add_dep(d, &r, hash, &found) != 0)
        return ENOMEM;
    d->at[found].times++;
    *slot = found;
    *news = what;
    return 0;
}

lh_dep_slot lh_deps_find_serial(const struct lh_deps *d, uint32_t serial)
{
    lh_dep_slot low = 1, high = d->ndeps;
    while (low <= high) {
        lh_dep_slot middle = low + (high - low) / 2;
        if (d->at[middle].serial == serial)
            return middle;
        if (d->at[middle].serial < serial)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return 0;
}

/* Takes one held lock out of the dependency and of its witnesses' places. */
static void drop_held(struct lh_deps *d, struct lh_dep *dep, size_t i)
{
    size_t nafter = dep->nheld - i - 1;
    uint32_t *held = &d->words.at[dep->held + 2 * i];
    uint32_t gone = UINT32_C(1) << (lh_mix64(d->epoch, held[0] >> 1) & 31);
    memmove(held, held + 2, nafter * 2 * sizeof *held);
    for (uint32_t w = dep->witness; w; w = d->words.at[w + LH_WITNESS_NEXT]) {
        uint32_t *place = &d->words.at[w + LH_WITNESS_PLACES + 1 + i];
        memmove(place, place + 1, nafter * sizeof *place);
        d->words.at[w + LH_WITNESS_GONE] |= gone;
    }
    dep->nheld--;
}

/* Takes ended locks out; false when nothing is left of the dependency. */
static bool prune(struct lh_deps *d, struct lh_dep *dep)
{
    if (!lh_nodes_alive(d->nodes, dep->wanted))
        return false;
    for (size_t i = dep->nheld; i-- > 0;) {
        if (!lh_nodes_alive(d->nodes, lh_deps_held_lock(d, dep, i)))
            drop_held(d, dep, i);
    }
    return dep->nheld > 0;
}

static void free_blocks(struct lh_deps *d, const struct lh_dep *dep)
{
    for (uint32_t w = dep->witness; w;) {
        uint32_t next = d->words.at[w + LH_WITNESS_NEXT];
        lh_words_put(&d->words, w, witness_words(dep->room));
        w = next;
    }
    lh_words_put(&d->words, dep->held, held_words(dep->room));
}

/* The dependency and one of its witnesses as a request, held in scratch that
 * was made for as many when it was learned. */
static struct lh_request as_request(const struct lh_deps *d,
                                    const struct lh_dep *dep, uint32_t witness)
{
    const uint32_t *w = &d->words.at[witness];
    for (size_t i = 0; i < dep->nheld; i++) {
        d->held[i] = (struct lh_held){
            .lock = lh_deps_held_lock(d, dep, i),
            .mode = lh_deps_held_mode(d, dep, i),
            .stack = lh_witness_held_stack(w, i),
        };
    }
    return (struct lh_request){
        .lock = dep->wanted,
        .mode = dep->mode,
        .wait = dep->wait,
        .stack = lh_witness_wants_stack(w),
        .segment = { w[LH_WITNESS_THREAD], w[LH_WITNESS_FIRST] },
        .held = d->held,
        .nheld = dep->nheld,
        .gone = w[LH_WITNESS_GONE],
    };
}

lh_dep_slot lh_deps_find_like(const struct lh_deps *d, const struct lh_dep *dep,
                              lh_lock wanted)
{
    struct lh_request r = as_request(d, dep, dep->witness);
    r.lock = wanted;
    return find_dep(d, &r, hash_request(&r));
}

static void tell(struct lh_deps *d, lh_dep_slot slot, lh_request_fn fn,
                 void *ctx)
{
    const struct lh_dep *dep = &d->at[slot];
    struct lh_request request = as_request(d, dep, dep->witness);
    fn(ctx, dep->serial, &request);
}

void lh_deps_each_of(struct lh_deps *d, lh_lock lock, lh_request_fn fn,
                     void *ctx)
{
    lh_edge edge = lh_graph_first_in(d->graph, lock);
    for (; edge; edge = lh_graph_next_in(d->graph, edge)) {
        lh_lock from = lh_graph_edge_from(d->graph, edge);
        lh_dep_slot slot = lh_deps_first_on(d, edge);
        for (; slot; slot = lh_deps_next_on(d, slot, from)) {
            /* It is on the edge of each lock that it holds. */
            if (lh_deps_held_lock(d, &d->at[slot], 0) == from)
                tell(d, slot, fn, ctx);
        }
    }
    edge = lh_graph_first_out(d->graph, lock);
    for (; edge; edge = lh_graph_next_out(d->graph, edge)) {
        lh_dep_slot slot = lh_deps_first_on(d, edge);
        for (; slot; slot = lh_deps_next_on(d, slot, lock))
            tell(d, slot, fn, ctx);
    }
}

/* Adds what is known of one dependency to another that is now the same.
 * Witnesses for which there is no memory are left out. */
static void merge(struct lh_deps *d, struct lh_dep *into,
                  const struct lh_dep *dep)
{
    enum lh_news news;
    into->times += dep->times;
    for (uint32_t w = dep->witness; w; w = d->words.at[w + LH_WITNESS_NEXT]) {
        struct lh_request r = as_request(d, dep, w);
        if (note_witness(d, into, &r, &news) != 0)
            return;
        r.segment.index = d->words.at[w + LH_WITNESS_NEWEST];
        (void)note_witness(d, into, &r, &news);
    }
}

/* Empties the lists of a dependency's edges, and notes their numbers. */
static void clear_edges(struct lh_deps *d, const struct lh_dep *dep)
{
    for (size_t i = 0; i < dep->nheld; i++) {
        uint32_t *held = &d->words.at[dep->held + 2 * i];
        held[1] = lh_graph_find_edge(d->graph, held[0] >> 1, dep->wanted);
        *lh_graph_edge_word(d->graph, held[1]) = 0;
    }
}

/* Drops what has ended and closes the gaps. */
static void prune_all(struct lh_deps *d)
{
    uint32_t kept = 0;
    for (lh_dep_slot slot = 1; slot <= d->ndeps; slot++) {
        if (prune(d, &d->at[slot])) {
            d->at[++kept] = d->at[slot];
            clear_edges(d, &d->at[kept]);
        } else {
            free_blocks(d, &d->at[slot]);
        }
    }
    d->ndeps = kept;
}

/* Finds everything anew, and merges what has become the same. */
static void intern_all(struct lh_deps *d)
{
    uint32_t kept = 0;
    lh_table_clear(&d->table);
    for (lh_dep_slot slot = 1; slot <= d->ndeps; slot++) {
        struct lh_dep dep = d->at[slot];
        struct lh_request r = as_request(d, &dep, dep.witness);
        dep.hash = hash_dep(d, &dep);
        lh_dep_slot same = find_dep(d, &r, dep.hash);
        if (same) {
            merge(d, &d->at[same], &dep);
            free_blocks(d, &dep);
            continue;
        }
        d->at[++kept] = dep;
        link_to_edges(d, kept);
        lh_table_insert(&d->table, kept, dep.hash);
    }
    d->ndeps = kept;
}

void lh_deps_sweep(struct lh_deps *d)
{
    prune_all(d);
    lh_nodes_sweep(d->nodes);
    intern_all(d);
    d->epoch++;
}
