/* SPDX-License-Identifier: MIT
 * heapname.c - what a lock on the heap or on a stack is a member of. */
#include "heapname.h"

#include <stdbool.h>

#include "callsite.h"
#include "explain.h"
#include "member.h"
#include "model.h"
#include "naming.h"
#include "phrase.h"
#include "place.h"
#include "symbols.h"
#include "trace.h"
#include "types.h"

enum { MAX_OUTWARDS = 4 }; /* callers that are asked */

static const struct lh_heapname unknown = { "", "" };

/* How many functions of the frame are inside the one of line i. */
static size_t level_of(const struct lh_trace *t, size_t i)
{
    size_t level = 0;
    while (i > 0 && t->lines[i - 1].inlined) {
        i--;
        level++;
    }
    return level;
}

/* A function in a stack, and what is asked of it. */
struct place {
    const struct lh_trace_line *line;
    size_t level;
    struct lh_member_query query;
    struct lh_callsite call;
};

/* Whether the function's source has no other call that this one can have been
 * merged with. */
static bool is_only_call(const struct lh_explain *e, const struct place *p,
                         const char *path, Dwarf_Die *function,
                         const char *callee)
{
    int line = 0;
    if (!*callee || dwarf_decl_line(function, &line) != 0 ||
        line > p->line->line)
        return false;
    const char *body =
        lh_source_from(&e->names->heap.sources, path, line, p->line->module);
    return lh_phrase_count_in_block(e->pool, body, callee) == 1;
}

static bool is_certain(const struct lh_explain *e, const struct place *p,
                       const char *path, const struct lh_symbols_scopes *s)
{
    const char *callee;
    /* That one inlined function calls another is. */
    if (p->level > 0 && *p->call.callee)
        return true;
    switch (
        lh_callsite_judge(e->pool, s->list, s->n, s->back, &p->call, &callee)) {
    case LH_CALLSITE_CERTAIN:
        return true;
    case LH_CALLSITE_MERGED:
        return is_only_call(e, p, path, &s->list[s->last], callee);
    default:
        return false;
    }
}

static struct lh_member read_place(const struct lh_explain *e, struct place *p)
{
    struct lh_member member = { .result = LH_MEMBER_UNKNOWN };
    struct lh_symbols_scopes s;
    const char *path = lh_place_path(e->pool, p->line->file, p->line->built_in);
    p->query.statement = p->call.statement = lh_source_from(
        &e->names->heap.sources, path, p->line->line, p->line->module);
    if (!*p->query.statement ||
        !lh_symbols_scopes(lh_symbols_open(e->symbols, p->line->record),
                           p->line->offset, p->level, &s))
        return member;
    if (is_certain(e, p, path, &s))
        member = lh_member_find(e->pool, s.list + s.first, s.last + 1 - s.first,
                                &e->names->heap.scopes, &p->query);
    return member;
}

/* For longer than a finding. */
static struct lh_member *keep(struct lh_pool *pool, struct lh_member member)
{
    const char **texts[] = { &member.name, &member.written, &member.function,
                             &member.type, &member.rest };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = *texts[i] ? lh_pool_copy(pool, *texts[i]) : "";
    struct lh_member *kept = lh_pool_alloc(pool, sizeof *kept);
    *kept = member;
    return kept;
}

static uint64_t key_of(const struct place *p)
{
    const struct lh_model_module *m = p->line->record;
    const struct lh_member_query *q = &p->query;
    uint64_t key =
        lh_idmap_mix(lh_idmap_text(m->path), lh_idmap_text(m->build_id));
    key = lh_idmap_mix(lh_idmap_mix(key, p->line->offset), p->level);
    key = lh_idmap_mix(lh_idmap_mix(key, lh_idmap_text(q->kind)),
                       lh_idmap_text(q->callee));
    return lh_idmap_mix(lh_idmap_mix(key, (uint64_t)q->argument),
                        q->within ? lh_idmap_text(q->within) : 0);
}

/* The answer of the function in line i, read once for each place. */
static struct lh_member look(const struct lh_explain *e,
                             const struct lh_trace *t, size_t i,
                             const struct lh_member_query *query, int position)
{
    struct lh_heapname_memory *memory = &e->names->heap;
    struct place p = {
        .line = &t->lines[i],
        .level = level_of(t, i),
        .query = *query,
        .call = { query->callee, position,
                  !*query->callee && i > 0 &&
                      lh_trace_is_wrapper(&t->lines[i - 1]),
                  "" },
    };
    if (!p.line->record || !*p.line->file)
        return (struct lh_member){ .result = LH_MEMBER_UNKNOWN };
    uint64_t key = key_of(&p);
    struct lh_member *member = lh_idmap_get(&memory->places, key);
    if (!member) {
        member = keep(&memory->pool, read_place(e, &p));
        lh_idmap_put(&memory->places, key, member);
    }
    return *member;
}

/* A caller that has what a parameter points to inside something else tells more
 * of it: "worker->inbox.lock" of "queue->lock". */
static struct lh_heapname widen(const struct lh_explain *e,
                                const struct lh_trace *t, size_t i,
                                struct lh_member member)
{
    struct lh_heapname name = { member.name, member.written };
    for (int n = 0; n < MAX_OUTWARDS; n++) {
        if (member.parameter == LH_MEMBER_NO_PARAMETER || ++i >= t->n ||
            t->lines[i].hidden)
            break;
        struct lh_member_query query = { .kind = "",
                                         .callee = member.function,
                                         .argument = member.parameter,
                                         .within = member.type };
        const char *rest = member.rest;
        member = look(e, t, i, &query, member.position);
        if (member.result != LH_MEMBER_NAMED)
            break;
        name.name = lh_pool_format(e->pool, "%s%s", member.name, rest);
        name.written = "";
        member.rest = lh_pool_format(e->pool, "%s%s", member.rest, rest);
    }
    return name;
}

/* From the innermost function of the program outwards, as long as functions are
 * given the lock as such. */
static struct lh_heapname find(const struct lh_explain *e,
                               const struct lh_trace *t, const char *kind)
{
    struct lh_member_query query = { .kind = kind,
                                     .callee = "",
                                     .argument = LH_MEMBER_NO_PARAMETER };
    size_t first = 0;
    while (first < t->n && lh_trace_is_outside(&t->lines[first]))
        first++;
    int position = 0;
    for (size_t i = first; i < t->n && i < first + MAX_OUTWARDS; i++) {
        if (lh_trace_is_outside(&t->lines[i]))
            break;
        struct lh_member member = look(e, t, i, &query, position);
        if (member.result == LH_MEMBER_NAMED) {
            struct lh_heapname name = widen(e, t, i, member);
            return i == first ? name : (struct lh_heapname){ name.name, "" };
        }
        if (member.result != LH_MEMBER_PASSED)
            break;
        query.callee = member.function;
        query.argument = member.parameter;
        position = member.position;
    }
    return unknown;
}

static struct lh_heapname by_stack(const struct lh_explain *e, const char *kind,
                                   uint64_t stack)
{
    struct lh_heapname_memory *memory = &e->names->heap;
    if (!lh_types_has_lock(kind))
        return unknown;
    uint64_t key = lh_idmap_mix(lh_idmap_mix((uintptr_t)e->process, stack),
                                lh_idmap_text(kind));
    struct lh_heapname *name = lh_idmap_get(&memory->stacks, key);
    if (name)
        return *name;
    struct lh_trace t = lh_trace_read(e->pool, e->symbols, e->process, stack);
    struct lh_heapname found = find(e, &t, kind);
    name = lh_pool_alloc(&memory->pool, sizeof *name);
    name->name = lh_pool_copy(&memory->pool, found.name);
    name->written = lh_pool_copy(&memory->pool, found.written);
    lh_idmap_put(&memory->stacks, key, name);
    return *name;
}

static uint64_t hint_key(const struct lh_explain *e, uint64_t lock)
{
    return lh_idmap_mix((uintptr_t)e->process, lock);
}

void lh_heapname_hint(const struct lh_explain *e, uint64_t lock, uint64_t stack)
{
    struct lh_heapname_memory *memory = &e->names->heap;
    const struct lh_model_lock *l = lh_model_lock(e->process, lock);
    if (!l || l->is_static || lh_idmap_get(&memory->hints, hint_key(e, lock)))
        return;
    struct lh_heapname found = by_stack(e, l->kind, stack);
    if (*found.name)
        lh_idmap_put(&memory->hints, hint_key(e, lock),
                     lh_pool_copy(&memory->pool, found.name));
}

struct lh_heapname lh_heapname_of(const struct lh_explain *e,
                                  const struct lh_model_lock *l)
{
    uint64_t stack = l->init ? l->init : l->first;
    if (l->is_static)
        return unknown;
    if (stack)
        return by_stack(e, l->kind, stack);
    const char *hint = lh_idmap_get(&e->names->heap.hints, hint_key(e, l->id));
    return hint ? (struct lh_heapname){ hint, "" } : unknown;
}

void lh_heapname_free(struct lh_heapname_memory *memory)
{
    lh_idmap_free(&memory->stacks);
    lh_idmap_free(&memory->places);
    lh_idmap_free(&memory->hints);
    lh_source_free(&memory->sources);
    lh_scope_free(&memory->scopes);
    lh_pool_free(&memory->pool);
    *memory = (struct lh_heapname_memory){ 0 };
}
