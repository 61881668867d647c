/* SPDX-License-Identifier: MIT
 * news.c - what the detector has to tell: findings, notes, records. */
#include "runtime/news.h"

#include <string.h>

#include "core/segments.h"
#include "runtime/arena.h"
#include "runtime/config.h"
#include "runtime/locks.h"
#include "runtime/logfile.h"
#include "runtime/modules.h"
#include "runtime/printer.h"
#include "runtime/record.h"
#include "runtime/request.h"
#include "runtime/state.h"

/* Under the detector's lock. */
static unsigned told;      /* bits: notes[] that were said */
static uint32_t *reported; /* serials of dependencies in findings */
static size_t nreported, reported_capacity;
static uint32_t
    *finding_of_ring; /* ids by the lh_state.order store's ring ids */
static size_t finding_of_ring_capacity;
static struct lh_finding_thread *known_threads; /* by number */
static size_t known_threads_capacity;

bool lh_news_wants_records(void)
{
    return *lh_config.dir;
}

/* A forked child has no file of its own until it has something to say. */
void lh_news_open_log(void)
{
    struct lh_fmt first = { 0 };

    if (!*lh_config.dir || lh_logfile_is_open())
        return;
    if (lh_logfile_open(lh_config.dir, lh_modules_executable()) != 0)
        return;
    lh_record_process(&first, lh_state.forked_from);
    if (!first.failed)
        lh_logfile_write(first.text, first.length);
    lh_fmt_free(&first);
}

static const struct note {
    const char *code, *text;
} notes[] = {
    { "memory", "out of memory: orders seen from here on are missing" },
    { "bounded", "a search for rings was cut short: some may be missing" },
    { "lost", "records could not be written; is the disk full?" },
};
enum { LOST = 2, NNOTES };

/* What limits the answer and was not said yet; under the lock. */
void lh_news_add_notes(struct lh_thread *t)
{
    struct lh_order_totals totals;
    bool due[NNOTES];

    lh_order_totals(lh_state.order, &totals);
    due[0] = lh_state.short_of_memory || lh_arena_ran_out();
    due[1] = totals.bounded;
    due[LOST] = lh_logfile_take_lost() > 0;
    for (unsigned i = 0; i < NNOTES; i++) {
        bool is_new = !(told & 1u << i);
        if (!due[i] || !(is_new || i == LOST))
            continue;
        told |= 1u << i;
        if (is_new)
            t->notes |= 1u << i;
        /* That records were lost is written until there is room for it. */
        if (lh_news_wants_records())
            lh_record_note(&t->out, notes[i].code, notes[i].text);
    }
}

/* Writes what a thread has gathered; inside the guard, outside the lock. */
void lh_news_flush(struct lh_thread *t)
{
    if (t->out.failed)
        lh_printer_note("out of memory: a record was dropped");
    else if (t->out.length && lh_logfile_is_open())
        lh_logfile_write(t->out.text, t->out.length);
    lh_fmt_reset(&t->out);
    for (unsigned i = 0; i < NNOTES; i++)
        if (t->notes & 1u << i)
            lh_printer_note(notes[i].text);
    t->notes = 0;
    while (t->findings) {
        struct lh_finding *f = t->findings;
        t->findings = f->next;
        lh_record_finding(&t->out, f);
        if (!t->out.failed && lh_logfile_is_open())
            lh_logfile_write(t->out.text, t->out.length);
        lh_fmt_reset(&t->out);
        lh_printer_finding(f);
        lh_finding_free(f);
    }
}

/* A thread that may be named in a finding, also after its end. */
static void remember_thread(const struct lh_thread *t)
{
    void *array = known_threads;
    struct lh_finding_thread *known;

    if (lh_arena_reserve(&array, &known_threads_capacity, sizeof *known_threads,
                         (size_t)t->number + 1) != 0)
        return;
    known_threads = array;
    known = &known_threads[t->number];
    known->number = t->number;
    known->tid = t->tid;
    known->start = (void *)t->start;
    memcpy(known->name, t->name, sizeof known->name);
}

static struct lh_finding_thread thread_of(uint32_t number)
{
    return number < known_threads_capacity
               ? known_threads[number]
               : (struct lh_finding_thread){ .number = number };
}

static void copy_lock(struct lh_lock_info *to, lh_lock node)
{
    const struct lh_lock_info *known = lh_lock_of_node(node);

    if (known)
        *to = *known;
}

/* Remembers a dependency whose count is to be written at exit. */
static void remember_reported(uint32_t serial)
{
    void *array = reported;

    if (lh_arena_reserve(&array, &reported_capacity, sizeof *reported,
                         nreported + 1) != 0)
        return;
    reported = array;
    reported[nreported++] = serial;
}

static void add_finding(struct lh_thread *t, struct lh_finding *f)
{
    struct lh_finding **last = &t->findings;

    while (*last)
        last = &(*last)->next;
    *last = f;
    if (f->grade == LH_POSSIBLE)
        lh_state.found_something = true;
}

/* The finding of a ring; 0 when memory is short. */
static uint32_t finding_id(const struct lh_ring *ring)
{
    void *array = finding_of_ring;

    if (lh_arena_reserve(&array, &finding_of_ring_capacity,
                         sizeof *finding_of_ring, (size_t)ring->id + 1) != 0)
        return 0;
    finding_of_ring = array;
    if (ring->is_new)
        finding_of_ring[ring->id] = ++lh_state.nfindings;
    return finding_of_ring[ring->id];
}

void lh_news_on_ring(void *ctx, const struct lh_ring *ring)
{
    struct lh_finding *f = lh_finding_new(ring->nsides, ring->nreasons);

    (void)ctx;
    if (!f) {
        lh_state.short_of_memory = true;
        return;
    }
    f->kind = LH_RING;
    f->id = finding_id(ring);
    f->grade = ring->grade;
    for (size_t i = 0; i < ring->nsides; i++) {
        struct lh_finding_side *s = &f->sides[i];
        s->side = ring->sides[i];
        copy_lock(&s->wants, s->side.wants);
        copy_lock(&s->holds, s->side.holds);
        s->thread = thread_of(s->side.segment.thread);
        s->seen = lh_order_seen(lh_state.order, s->side.dependency);
        remember_reported(s->side.dependency);
        s->seen.times += lh_request_uncounted(s->side.slot);
        if (lh_news_wants_records()) {
            lh_record_stack(&lh_state.judged->out, s->side.wants_stack);
            lh_record_stack(&lh_state.judged->out, s->side.holds_stack);
        }
    }
    for (size_t i = 0; i < ring->nreasons; i++) {
        f->reasons[i].reason = ring->reasons[i];
        if (ring->reasons[i].lock)
            copy_lock(&f->reasons[i].lock, ring->reasons[i].lock);
        if (lh_news_wants_records() &&
            ring->reasons[i].kind == LH_REASON_GATE) {
            lh_record_stack(&lh_state.judged->out, ring->reasons[i].stack_a);
            lh_record_stack(&lh_state.judged->out, ring->reasons[i].stack_b);
        }
    }
    add_finding(lh_state.judged, f);
}

void lh_news_mention(struct lh_thread *t)
{
    remember_thread(t);
    if (!lh_news_wants_records())
        return;
    for (struct lh_thread *one = t; one && !one->recorded;
         one = lh_thread_numbered(
             lh_segments_creator(lh_state.segments, one->number)))
        lh_record_thread(&t->out, one, lh_state.segments);
}

void lh_news_assertion(struct lh_thread *t, void *address, bool expected,
                       uint32_t stack)
{
    struct lh_lock_info *l = lh_lock_find((uintptr_t)address, true);
    struct lh_finding *f = lh_finding_new(0, 0);

    if (!l || !f) {
        lh_state.short_of_memory = true;
        return;
    }
    if (!l->born)
        l->born = stack;
    lh_news_mention(t);
    f->kind = LH_ASSERTION;
    f->grade = LH_POSSIBLE;
    f->id = ++lh_state.nfindings;
    f->lock = *l;
    f->stack = stack;
    f->asserted_held = expected;
    f->thread = thread_of(t->number);
    if (lh_news_wants_records()) {
        lh_record_lock(&t->out, l);
        lh_record_stack(&t->out, stack);
    }
    add_finding(t, f);
}

void lh_news_write_counts(struct lh_fmt *out)
{
    struct lh_order_totals totals;

    for (size_t i = 0; i < nreported; i++)
        lh_record_count(out, reported[i],
                        lh_order_seen(lh_state.order, reported[i]));
    lh_order_totals(lh_state.order, &totals);
    for (uint32_t id = 1; id <= totals.possible + totals.conditional; id++)
        lh_record_merged(out, finding_of_ring[id],
                         lh_order_merged(lh_state.order, id));
    lh_record_end(out, lh_locks_count(), lh_state.nthreads, &totals);
}

void lh_news_after_fork(void)
{
    told = 0;
    nreported = 0;
}
