/* SPDX-License-Identifier: MIT
 * model.c - the records of one process in memory, found by id. */
#include "model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "diag.h"
#include "jsonline.h"
#include "parse.h"

enum {
    MAX_LINE_BYTES = 256 * 1024 * 1024, /* longer is no line of ours */
    MAX_COMPLAINTS = 5,                 /* single ones a file */
};

struct lh_model_input {
    char *partial; /* a line whose end has not come yet */
    size_t n, capacity;
    uint64_t line;     /* number of the line that ended last */
    uint64_t ndamaged; /* lines skipped */
    uint64_t nmoved;   /* bytes dropped of a line that is too long */
    bool failed;
    struct lh_jsonline json;
};

struct lh_model_process *lh_model_new(const char *file)
{
    struct lh_pool pool = { 0 };
    struct lh_model_process *p = lh_pool_alloc(&pool, sizeof *p);
    p->input = lh_pool_alloc(&pool, sizeof *p->input);
    p->file = lh_pool_copy(&pool, file);
    p->exe = p->build_id = "";
    p->pool = pool;
    return p;
}

void lh_model_free(struct lh_model_process *p)
{
    struct lh_idmap *maps[] = { &p->modules, &p->threads,     &p->locks,
                                &p->stacks,  &p->finding_ids, &p->counts,
                                &p->rings,   &p->orders,      &p->births };
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        lh_idmap_free(maps[i]);
    free(p->findings);
    free(p->notes);
    free(p->events);
    free(p->edges);
    free(p->input->partial);
    lh_jsonline_free(&p->input->json);
    struct lh_pool pool = p->pool; /* p itself lies in it */
    lh_pool_free(&pool);
}

static void complain(struct lh_model_process *p, const char *what,
                     const char *why)
{
    if (p->input->ndamaged++ < MAX_COMPLAINTS)
        lh_diag_say("%s: line %llu: %s record skipped%s%s", p->file,
                    (unsigned long long)p->input->line, what, *why ? ": " : "",
                    why);
}

static int refuse(struct lh_model_process *p, int error, const char *why)
{
    if (error == ENOTSUP)
        lh_diag_say("%s: line 1: records of a newer lockhound (%s; expected "
                    "version %d)",
                    p->file, why, LH_PARSE_VERSION);
    else
        lh_diag_say("%s: line 1: not a lockhound record file (expected "
                    "{\"lockhound\":%d,\"type\":\"process\",...})",
                    p->file, LH_PARSE_VERSION);
    p->input->failed = true;
    return EINVAL;
}

static int take_line(struct lh_model_process *p, const char *line, size_t n,
                     const char *what)
{
    const char *why = "";
    p->input->line++;
    /* An empty line is what follows a short write; it stands for nothing. */
    if (n == 0 && p->started)
        return 0;
    int error = lh_parse_line(p, &p->input->json, line, n, &why);
    if (error == EPROTO || error == ENOTSUP || (error && !p->started))
        return refuse(p, error, why);
    if (error)
        complain(p, what, why);
    else
        p->nrecords++;
    return 0;
}

static void keep_partial(struct lh_model_input *in, const char *bytes, size_t n)
{
    if (in->nmoved || in->n + n > MAX_LINE_BYTES) {
        in->nmoved += in->n + n;
        in->n = 0;
        return;
    }
    if (in->n + n > in->capacity) {
        in->capacity = (in->n + n) * 2;
        in->partial = realloc(in->partial, in->capacity);
        if (!in->partial)
            lh_diag_fail("out of memory");
    }
    memcpy(in->partial + in->n, bytes, n);
    in->n += n;
}

/* Ends the line that keep_partial() gathered. */
static int take_partial(struct lh_model_process *p, const char *what)
{
    struct lh_model_input *in = p->input;
    size_t n = in->n;
    in->n = 0;
    if (in->nmoved) {
        in->nmoved = 0;
        return take_line(p, "", 0, what);
    }
    return take_line(p, in->partial, n, what);
}

int lh_model_feed(struct lh_model_process *p, const char *bytes, size_t n)
{
    int error = 0;
    while (n && !error && !p->input->failed) {
        const char *end = memchr(bytes, '\n', n);
        size_t length = end ? (size_t)(end - bytes) : n;
        if (end && p->input->n == 0 && !p->input->nmoved) {
            error = take_line(p, bytes, length, "damaged");
        } else {
            keep_partial(p->input, bytes, length);
            if (end)
                error = take_partial(p, "damaged");
        }
        bytes += length + !!end;
        n -= length + !!end;
    }
    return p->input->failed ? EINVAL : error;
}

int lh_model_finish(struct lh_model_process *p, bool may_grow)
{
    struct lh_model_input *in = p->input;
    if (!in->failed && in->n && !may_grow)
        take_partial(p, "truncated");
    if (in->ndamaged > MAX_COMPLAINTS)
        lh_diag_say("%s: %llu records skipped in all", p->file,
                    (unsigned long long)in->ndamaged);
    in->ndamaged = 0;
    lh_jsonline_free(&in->json);
    if (in->failed)
        return EINVAL;
    if (p->started || may_grow)
        return 0;
    lh_diag_say("%s: is empty (expected lockhound records)", p->file);
    in->failed = true;
    return EINVAL;
}

const struct lh_model_module *lh_model_module(const struct lh_model_process *p,
                                              uint64_t id)
{
    return lh_idmap_get(&p->modules, id);
}

const struct lh_model_thread *lh_model_thread(const struct lh_model_process *p,
                                              uint64_t id)
{
    return lh_idmap_get(&p->threads, id);
}

const struct lh_model_lock *lh_model_lock(const struct lh_model_process *p,
                                          uint64_t id)
{
    return lh_idmap_get(&p->locks, id);
}

const struct lh_model_stack *lh_model_stack(const struct lh_model_process *p,
                                            uint64_t id)
{
    return lh_idmap_get(&p->stacks, id);
}

struct lh_model_seen lh_model_seen(const struct lh_model_process *p,
                                   const struct lh_model_side *side)
{
    const struct lh_model_seen *final =
        lh_idmap_get(&p->counts, side->dependency);
    return final ? *final : side->seen;
}

size_t lh_model_newest_edge(const struct lh_model_process *p, uint64_t holds,
                            uint64_t wants)
{
    uint64_t key = lh_idmap_mix(holds, wants);
    size_t i = (uintptr_t)lh_idmap_get(&p->orders, key);
    bool same =
        i && p->edges[i - 1].holds == holds && p->edges[i - 1].wants == wants;
    return same ? i : 0;
}

void lh_model_add_edge(struct lh_model_process *p, struct lh_model_edge edge)
{
    edge.previous = lh_model_newest_edge(p, edge.holds, edge.wants);
    p->edges =
        lh_pool_grow(p->edges, p->nedges, &p->edges_capacity, sizeof *p->edges);
    p->edges[p->nedges++] = edge;
    lh_idmap_put(&p->orders, lh_idmap_mix(edge.holds, edge.wants),
                 (void *)(uintptr_t)p->nedges);
}

struct lh_model_finding *lh_model_add_finding(struct lh_model_process *p)
{
    struct lh_model_finding *f = lh_pool_alloc(&p->pool, sizeof *f);
    p->findings = lh_pool_grow(p->findings, p->nfindings, &p->findings_capacity,
                               sizeof(*p->findings));
    p->findings[p->nfindings++] = f;
    return f;
}

void lh_model_add_note(struct lh_model_process *p, struct lh_model_note note)
{
    p->notes =
        lh_pool_grow(p->notes, p->nnotes, &p->notes_capacity, sizeof(note));
    p->notes[p->nnotes++] = note;
}

void lh_model_count_birth(struct lh_model_process *p,
                          const struct lh_model_lock *l)
{
    uint64_t stack = l->init ? l->init : l->first;
    uint64_t *n = lh_idmap_get(&p->births, stack);
    if (l->is_static || !stack)
        return;
    if (!n) {
        n = lh_pool_alloc(&p->pool, sizeof *n);
        lh_idmap_put(&p->births, stack, n);
    }
    ++*n;
}

bool lh_model_has_siblings(const struct lh_model_process *p,
                           const struct lh_model_lock *l)
{
    const uint64_t *n = lh_idmap_get(&p->births, l->init ? l->init : l->first);
    return !l->is_static && n && *n > 1;
}

/* Of the sides of a gate none is the first: that is for us to choose. */
static void move_sides(struct lh_model_reason *r, size_t n, size_t first)
{
    size_t a = (r->sides[0] + n - first) % n;
    size_t b = (r->sides[1] + n - first) % n;
    bool swap = r->kind == LH_MODEL_GATE && a > b;
    uint64_t stack = r->stacks[swap];
    r->stacks[1] = r->stacks[!swap];
    r->stacks[0] = stack;
    r->sides[0] = swap ? b : a;
    r->sides[1] = swap ? a : b;
}

void lh_model_rotate(struct lh_model_process *p, struct lh_model_finding *f)
{
    size_t n = f->nsides, first = 0;
    for (size_t i = 1; i < n; i++)
        if (f->sides[i].thread < f->sides[first].thread)
            first = i;
    if (first == 0)
        return;
    struct lh_model_side *sides = lh_pool_array(&p->pool, n, sizeof *sides);
    for (size_t i = 0; i < n; i++)
        sides[i] = f->sides[(i + first) % n];
    f->sides = sides;
    struct lh_model_reason *reasons =
        lh_pool_array(&p->pool, f->nreasons, sizeof *reasons);
    for (size_t i = 0; i < f->nreasons; i++) {
        reasons[i] = f->reasons[i];
        move_sides(&reasons[i], n, first);
    }
    f->reasons = reasons;
}

uint64_t lh_model_rings(const struct lh_model_process *p,
                        const struct lh_model_finding *f)
{
    const uint64_t *rings = lh_idmap_get(&p->rings, f->id);
    return rings ? *rings : 0;
}

/* The threads of its parent that a forked child tells of, for what they held
 * at the fork. */
static size_t inherited(const struct lh_model_process *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->nfindings; i++) {
        bool is_new = strcmp(p->findings[i]->kind, "LH020") == 0 &&
                      lh_model_thread(p, p->findings[i]->holder);
        for (size_t j = 0; is_new && j < i; j++)
            is_new = p->findings[j]->holder != p->findings[i]->holder;
        n += is_new;
    }
    return n;
}

struct lh_model_totals lh_model_totals(const struct lh_model_process *p)
{
    if (p->ended)
        return p->end;
    return (struct lh_model_totals){ p->locks.n, p->threads.n - inherited(p),
                                     p->orders.n };
}

static bool has_stack(const struct lh_model_process *p, uint64_t id)
{
    const struct lh_model_stack *s = lh_model_stack(p, id);
    if (!id)
        return true;
    for (size_t i = 0; s && i < s->nframes; i++)
        if (s->frames[i].module && !lh_model_module(p, s->frames[i].module))
            return false;
    return s != NULL;
}

static bool has_lock(const struct lh_model_process *p, uint64_t id)
{
    const struct lh_model_lock *l = lh_model_lock(p, id);
    if (!id)
        return true;
    return l &&
           (!l->is_static || !l->where.module ||
            lh_model_module(p, l->where.module)) &&
           has_stack(p, l->init) && has_stack(p, l->first);
}

static bool has_thread(const struct lh_model_process *p, uint64_t id)
{
    const struct lh_model_thread *t = lh_model_thread(p, id);
    if (!id)
        return true;
    return t && (!t->has_start || !t->start.module ||
                 lh_model_module(p, t->start.module));
}

bool lh_model_is_complete(const struct lh_model_process *p,
                          const struct lh_model_finding *f)
{
    bool complete = has_thread(p, f->thread) && has_lock(p, f->lock) &&
                    has_stack(p, f->stack) && has_lock(p, f->other) &&
                    has_stack(p, f->holder_stack);
    for (size_t i = 0; complete && i < f->nsides; i++) {
        const struct lh_model_side *s = &f->sides[i];
        complete = has_thread(p, s->thread) && has_lock(p, s->holds) &&
                   has_lock(p, s->wants) && has_stack(p, s->holds_stack) &&
                   has_stack(p, s->wants_stack);
    }
    return complete;
}
