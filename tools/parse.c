/* SPDX-License-Identifier: MIT
 * parse.c - one line of a record file into the model. */
#include "parse.h"

#include <errno.h>
#include <string.h>

#include "fields.h"
#include "jsonline.h"
#include "model.h"
#include "pool.h"

/* More than any recorder of ours keeps. A stack is told wherever a record names
 * it, so that one of a whole file would be told at length very often. */
enum { MAX_FRAMES = 256 };

/* The record of this id, at its address of old if it replaces one. */
static void *slot(struct lh_fields *r, struct lh_idmap *map, uint64_t key,
                  const void *record, size_t size_bytes)
{
    if (r->bad)
        return NULL;
    void *place = lh_idmap_get(map, key);
    if (!place) {
        place = lh_pool_alloc(&r->process->pool, size_bytes);
        lh_idmap_put(map, key, place);
    }
    return memcpy(place, record, size_bytes);
}

static void add_event(struct lh_fields *r, enum lh_model_event_kind kind,
                      uint64_t thread, uint64_t number,
                      const struct lh_model_dependency *dependency)
{
    struct lh_model_process *p = r->process;
    if (r->bad)
        return;
    p->events = lh_pool_grow(p->events, p->nevents, &p->events_capacity,
                             sizeof *p->events);
    p->events[p->nevents++] =
        (struct lh_model_event){ kind, thread, number, dependency };
}

static void read_fork(struct lh_fields *r)
{
    add_event(r, LH_MODEL_FORK, lh_fields_id(r, "thread"),
              lh_fields_id(r, "fork"), NULL);
}

static void read_reaped(struct lh_fields *r)
{
    add_event(r, LH_MODEL_REAPED, lh_fields_id(r, "thread"),
              lh_fields_id(r, "fork"), NULL);
}

static void read_process(struct lh_fields *r)
{
    uint64_t pid = lh_fields_number(r, "pid");
    uint64_t forked_from = lh_fields_optional_number(r, "forked_from");
    uint64_t fork = lh_fields_optional_number(r, "fork");
    uint64_t start_s = lh_fields_optional_number(r, "time");
    const char *exe = lh_fields_text(r, "exe");
    if (r->bad)
        return;
    r->process->pid = pid;
    r->process->forked_from = forked_from;
    r->process->fork = fork;
    r->process->start_s = start_s;
    r->process->exe = exe;
    r->process->started = true;
}

static void read_module(struct lh_fields *r)
{
    struct lh_model_module m = { .id = lh_fields_id(r, "id"),
                                 .path = lh_fields_text(r, "path"),
                                 .base = lh_fields_address(r, "base"),
                                 .build_id =
                                     lh_fields_optional_text(r, "build_id") };
    m.key = lh_idmap_text(*m.build_id ? m.build_id : m.path);
    slot(r, &r->process->modules, m.id, &m, sizeof m);
    if (!r->bad && strcmp(m.path, r->process->exe) == 0)
        r->process->build_id = m.build_id;
}

static void read_thread(struct lh_fields *r)
{
    struct lh_model_thread t = {
        .id = lh_fields_id(r, "id"),
        .tid = lh_fields_number(r, "tid"),
        .creator = lh_fields_optional_number(r, "creator"),
        .joined_by = lh_fields_optional_number(r, "joined_by"),
        .name = lh_fields_optional_text(r, "name"),
    };
    t.has_start = lh_fields_optional_frame(r, "start", &t.start);
    const struct lh_model_thread *known = lh_model_thread(r->process, t.id);
    if (t.creator && !known)
        add_event(r, LH_MODEL_CREATED, t.creator, t.id, NULL);
    if (t.joined_by && (!known || !known->joined_by))
        add_event(r, LH_MODEL_JOINED, t.joined_by, t.id, NULL);
    slot(r, &r->process->threads, t.id, &t, sizeof t);
}

/* What processes share: [device, inode, offset]. */
static void read_object(struct lh_fields *r, struct lh_model_lock *l)
{
    const struct lh_jsonline_value *list = lh_fields_array(r, "object", false);
    uint64_t *const parts[] = { &l->device, &l->inode, &l->offset };
    if (!list)
        return;
    l->is_shared = true;
    if (lh_jsonline_size(list) < 3) {
        r->bad = "object";
        return;
    }
    const struct lh_jsonline_value *part = lh_jsonline_first(list);
    for (size_t i = 0; i < 3; i++, part = lh_jsonline_next(list, part)) {
        if (!lh_jsonline_is(part, LH_JSONLINE_INTEGER))
            r->bad = "object";
        *parts[i] = (uint64_t)lh_jsonline_integer(part);
    }
}

static void read_lock(struct lh_fields *r)
{
    struct lh_model_lock l = {
        .id = lh_fields_id(r, "id"),
        .kind = lh_fields_text(r, "kind"),
        .subtype = lh_fields_optional_text(r, "subtype"),
        .name = lh_fields_optional_text(r, "name"),
        .address = lh_fields_address(r, "address"),
        .init = lh_fields_optional_number(r, "init"),
        .first = lh_fields_optional_number(r, "first"),
    };
    l.is_static = lh_fields_optional_frame(r, "static", &l.where);
    const struct lh_jsonline_value *rank = lh_fields_get(r, "rank", false);
    l.has_rank = rank != NULL;
    l.rank = lh_jsonline_integer(rank);
    if (rank && !lh_jsonline_is(rank, LH_JSONLINE_INTEGER))
        r->bad = "rank";
    read_object(r, &l);
    if (r->bad)
        return;
    if (!lh_model_lock(r->process, l.id))
        lh_model_count_birth(r->process, &l);
    r->process->has_shared |= l.is_shared;
    slot(r, &r->process->locks, l.id, &l, sizeof l);
}

static void read_stack(struct lh_fields *r)
{
    const struct lh_jsonline_value *list = lh_fields_array(r, "frames", true);
    size_t given = lh_jsonline_size(list);
    size_t n = given < MAX_FRAMES ? given : MAX_FRAMES;
    struct lh_model_frame *frames =
        lh_pool_array(&r->process->pool, n, sizeof *frames);
    const struct lh_jsonline_value *frame = lh_jsonline_first(list);
    for (size_t i = 0; i < n && !r->bad;
         i++, frame = lh_jsonline_next(list, frame))
        frames[i] = lh_fields_frame(r, "frames", frame);
    struct lh_model_stack s = { .id = lh_fields_id(r, "id"),
                                .nframes = n,
                                .frames = frames,
                                .partial =
                                    lh_fields_optional_true(r, "partial"),
                                .truncated =
                                    lh_fields_optional_true(r, "truncated") };
    s.truncated |= n < given;
    slot(r, &r->process->stacks, s.id, &s, sizeof s);
}

static void read_held(struct lh_fields *r, struct lh_model_held *held, size_t n)
{
    const struct lh_jsonline_value *holds = lh_fields_array(r, "holds", true);
    const struct lh_jsonline_value *v = lh_jsonline_first(holds);
    for (size_t i = 0; i < n && !r->bad; i++, v = lh_jsonline_next(holds, v)) {
        struct lh_fields h = lh_fields_inner(r, v);
        held[i] = (struct lh_model_held){ lh_fields_id(&h, "lock"),
                                          lh_fields_number(&h, "stack"),
                                          lh_fields_shared(&h, "mode") };
        r->bad = h.bad;
    }
}

/* Of the requests only the orders are kept, as a finding repeats what it
 * needs; unless other processes may be waiting for this one, or are compared
 * with it. */
static void read_dependency(struct lh_fields *r)
{
    struct lh_model_process *p = r->process;
    struct lh_model_held small[4];
    size_t n = lh_jsonline_size(lh_fields_array(r, "holds", true));
    struct lh_model_held *held = small;
    bool keep = p->has_shared || p->keeps_requests;
    if (keep || n > sizeof small / sizeof *small)
        held = lh_pool_array(&p->pool, n, sizeof *held);
    uint64_t id = lh_fields_id(r, "id");
    struct lh_model_dependency d = {
        .thread = lh_fields_id(r, "thread"),
        .wants = lh_fields_id(r, "wants"),
        .stack = lh_fields_number(r, "stack"),
        .shared = lh_fields_shared(r, "mode"),
        .wait = lh_fields_wait(r),
        .nholds = n,
        .holds = held,
    };
    read_held(r, held, n);
    for (size_t i = 0; i < n && !r->bad; i++)
        lh_model_add_edge(p, (struct lh_model_edge){ id, held[i].lock, d.wants,
                                                     d.thread, held[i].stack,
                                                     d.stack, 0 });
    if (r->bad || !keep)
        return;
    struct lh_model_dependency *kept = lh_pool_alloc(&p->pool, sizeof *kept);
    *kept = d;
    add_event(r, LH_MODEL_REQUEST, d.thread, 0, kept);
}

static void read_side(struct lh_fields *r, struct lh_model_side *side)
{
    static const char *const modes[] = { "exclusive", "shared", "queued",
                                         NULL };
    int holds_mode = lh_fields_word(r, "holds_mode", modes);
    *side = (struct lh_model_side){
        .dependency = lh_fields_number(r, "dependency"),
        .thread = lh_fields_id(r, "thread"),
        .holds = lh_fields_id(r, "holds"),
        .holds_stack = lh_fields_number(r, "holds_stack"),
        .wants = lh_fields_id(r, "wants"),
        .wants_stack = lh_fields_number(r, "wants_stack"),
        .holds_shared = holds_mode == 1,
        .holds_queued = holds_mode == 2,
        .wants_shared = lh_fields_shared(r, "wants_mode"),
        .wait = lh_fields_wait(r),
        .waited_ms = lh_fields_optional_number(r, "waited_ms"),
        .seen = { lh_fields_optional_number(r, "times"),
                  lh_fields_optional_number(r, "threads") },
    };
}

static bool is_ring(const struct lh_model_finding *f)
{
    static const char *const kinds[] = { "LH001", "LH002", "LH005" };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(f->kind, kinds[i]) == 0)
            return true;
    return false;
}

static void read_ring(struct lh_fields *r, struct lh_model_finding *f)
{
    const struct lh_jsonline_value *ring =
        lh_fields_array(r, "ring", is_ring(f));
    size_t n = lh_jsonline_size(ring);
    if (!ring || r->bad)
        return;
    if (n < 2) {
        r->bad = "ring";
        return;
    }
    struct lh_model_side *sides =
        lh_pool_array(&r->process->pool, n, sizeof *sides);
    const struct lh_jsonline_value *v = lh_jsonline_first(ring);
    for (size_t i = 0; i < n && !r->bad; i++, v = lh_jsonline_next(ring, v)) {
        struct lh_fields s = lh_fields_inner(r, v);
        read_side(&s, &sides[i]);
        r->bad = s.bad;
    }
    f->sides = sides;
    f->nsides = n;
}

/* Up to two numbers; the second is the first again if it is absent. */
static void read_pair(struct lh_fields *r, const char *key, bool needed,
                      uint64_t pair[2])
{
    const struct lh_jsonline_value *list = lh_fields_array(r, key, needed);
    size_t n = lh_jsonline_size(list);
    if (needed && n == 0)
        r->bad = r->bad ? r->bad : key;
    const struct lh_jsonline_value *value = NULL;
    for (size_t i = 0; i < 2 && n; i++) {
        if (i < n)
            value = i ? lh_jsonline_next(list, value) : lh_jsonline_first(list);
        if (!lh_jsonline_is(value, LH_JSONLINE_INTEGER) ||
            lh_jsonline_integer(value) < 0)
            r->bad = key;
        pair[i] = (uint64_t)lh_jsonline_integer(value);
    }
}

static void read_reason(struct lh_fields *r, size_t nsides,
                        struct lh_model_reason *reason)
{
    static const char *const words[] = { "gate",        "one-thread",
                                         "few-threads", "ordered",
                                         "timed",       "tried",
                                         "unseen-end",  NULL };
    const char *name = lh_fields_text(r, "reason");
    int kind = 0;
    while (words[kind] && strcmp(words[kind], name) != 0)
        kind++;
    *reason = (struct lh_model_reason){ (enum lh_model_reason_kind)kind,
                                        .word = name };
    if (kind == LH_MODEL_GATE)
        reason->lock = lh_fields_id(r, "lock");
    if (kind == LH_MODEL_UNSEEN_END)
        reason->lock = lh_fields_optional_number(r, "lock");
    if (kind == LH_MODEL_ONE_THREAD)
        reason->thread = lh_fields_id(r, "thread");
    if (kind == LH_MODEL_FEW_THREADS)
        reason->threads = lh_fields_number(r, "threads");
    uint64_t sides[2] = { 0, 0 };
    read_pair(r, "sides",
              kind == LH_MODEL_GATE || kind == LH_MODEL_ORDERED ||
                  kind == LH_MODEL_TIMED_WAIT || kind == LH_MODEL_TRIED_ONLY,
              sides);
    read_pair(r, "stacks", false, reason->stacks);
    if (sides[0] >= nsides || sides[1] >= nsides)
        r->bad = r->bad ? r->bad : "sides";
    reason->sides[0] = (size_t)sides[0];
    reason->sides[1] = (size_t)sides[1];
}

static void read_reasons(struct lh_fields *r, struct lh_model_finding *f)
{
    const struct lh_jsonline_value *list = lh_fields_array(r, "reasons", false);
    size_t n = lh_jsonline_size(list);
    struct lh_model_reason *reasons =
        lh_pool_array(&r->process->pool, n, sizeof *reasons);
    const struct lh_jsonline_value *v = lh_jsonline_first(list);
    for (size_t i = 0; i < n && !r->bad; i++, v = lh_jsonline_next(list, v)) {
        struct lh_fields s = lh_fields_inner(r, v);
        read_reason(&s, f->nsides, &reasons[i]);
        r->bad = s.bad;
    }
    f->reasons = reasons;
    f->nreasons = n;
}

/* A finding about one lock. */
static void read_misuse(struct lh_fields *r, struct lh_model_finding *f)
{
    f->detail = lh_fields_optional_text(r, "detail");
    f->holder = lh_fields_optional_number(r, "holder");
    f->holder_stack = lh_fields_optional_number(r, "holder_stack");
    f->other = lh_fields_optional_number(r, "other");
    if (f->nsides || strncmp(f->kind, "LH0", 3) != 0)
        return;
    lh_fields_id(r, "thread");
    lh_fields_id(r, "lock");
    lh_fields_number(r, "stack");
    if (strcmp(f->kind, "LH016") == 0 && strcmp(f->detail, "held") != 0 &&
        strcmp(f->detail, "not-held") != 0)
        r->bad = "detail";
}

static void read_finding(struct lh_fields *r)
{
    static const char *const grades[] = { "conditional", "possible", "happened",
                                          NULL };
    struct lh_model_finding f = { .id = lh_fields_id(r, "id"),
                                  .kind = lh_fields_text(r, "kind") };
    f.grade = (enum lh_model_grade)lh_fields_word(r, "grade", grades);
    f.thread = lh_fields_optional_number(r, "thread");
    f.lock = lh_fields_optional_number(r, "lock");
    f.stack = lh_fields_optional_number(r, "stack");
    read_ring(r, &f);
    read_reasons(r, &f);
    lh_model_rotate(r->process, &f);
    read_misuse(r, &f);

    struct lh_model_process *p = r->process;
    struct lh_model_finding *place = lh_idmap_get(&p->finding_ids, f.id);
    if (r->bad)
        return;
    if (!place) {
        place = lh_model_add_finding(p);
        lh_idmap_put(&p->finding_ids, f.id, place);
    }
    *place = f;
}

static void read_count(struct lh_fields *r)
{
    struct lh_model_process *p = r->process;
    if (lh_jsonline_get(r->object, "finding")) {
        uint64_t finding = lh_fields_id(r, "finding");
        uint64_t rings = lh_fields_number(r, "rings");
        slot(r, &p->rings, finding, &rings, sizeof rings);
        return;
    }
    uint64_t dependency = lh_fields_id(r, "dependency");
    struct lh_model_seen seen = { lh_fields_number(r, "times"),
                                  lh_fields_number(r, "threads") };
    slot(r, &p->counts, dependency, &seen, sizeof seen);
}

static void read_note(struct lh_fields *r)
{
    struct lh_model_process *p = r->process;
    struct lh_model_note note = { lh_fields_text(r, "code"),
                                  lh_fields_text(r, "text") };
    if (!r->bad)
        lh_model_add_note(p, note);
}

static void read_end(struct lh_fields *r)
{
    struct lh_model_totals totals = { lh_fields_number(r, "locks"),
                                      lh_fields_number(r, "threads"),
                                      lh_fields_number(r, "orders") };
    if (r->bad)
        return;
    r->process->end = totals;
    r->process->ended = true;
}

static const struct {
    const char *type;
    void (*read)(struct lh_fields *r);
} types[] = {
    { "module", read_module },
    { "thread", read_thread },
    { "lock", read_lock },
    { "stack", read_stack },
    { "dependency", read_dependency },
    { "finding", read_finding },
    { "fork", read_fork },
    { "reaped", read_reaped },
    { "count", read_count },
    { "note", read_note },
    { "end", read_end },
    { "process", read_process },
};

static void read_record(struct lh_fields *r)
{
    const char *type = lh_fields_borrow(r, "type", true);
    for (size_t i = 0; !r->bad && i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].type, type) == 0) {
            types[i].read(r);
            return;
        }
    }
}

/* The first record: its version before anything else in it, as another version
 * may have changed everything else. */
static int read_first(struct lh_fields *r, const char **why)
{
    uint64_t version = lh_fields_number(r, "lockhound");
    if (r->bad || !version)
        return EPROTO;
    if (version > LH_PARSE_VERSION) {
        *why = lh_pool_format(&r->process->pool, "version %llu",
                              (unsigned long long)version);
        return ENOTSUP;
    }
    read_record(r);
    return r->process->started ? 0 : EPROTO;
}

int lh_parse_line(struct lh_model_process *p, struct lh_jsonline *json,
                  const char *line, size_t n, const char **why)
{
    const struct lh_jsonline_value *object = lh_jsonline_read(json, line, n);
    int rc = 0;
    if (!lh_jsonline_is(object, LH_JSONLINE_OBJECT)) {
        *why = "not a JSON object";
        rc = EINVAL;
    } else {
        struct lh_fields r = { p, object, NULL };
        if (!p->started) {
            rc = read_first(&r, why);
        } else {
            read_record(&r);
            if (r.bad)
                *why = lh_pool_format(&p->pool, "\"%s\" is missing or wrong",
                                      r.bad);
            rc = r.bad ? EINVAL : 0;
        }
    }
    return rc;
}
