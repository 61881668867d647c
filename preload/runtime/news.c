/* SPDX-License-Identifier: MIT
 * news.c - what the detector has to tell: findings, notes, records. */
#include "runtime/news.h"

#include <stdatomic.h>
#include <string.h>

#include "core/lockkind.h"
#include "core/segments.h"
#include "runtime/arena.h"
#include "runtime/config.h"
#include "runtime/locks.h"
#include "runtime/logfile.h"
#include "runtime/modules.h"
#include "runtime/printer.h"
#include "runtime/record.h"
#include "runtime/request.h"
#include "runtime/shared.h"
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

/* Taken before the detector's lock; the other buffer is under it. */
static struct lh_rawlock writing;
static struct lh_fmt written; /* empty */

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
            lh_record_note(&lh_state.out, notes[i].code, notes[i].text);
    }
}

/*
 * Where the records should be, there is nowhere to write: a program that has
 * given up its privileges, and forks or executes, may not make a file there.
 * What it finds is then told on stderr, though not asked for there.
 */
static bool cannot_record(void)
{
    return lh_news_wants_records() && !lh_logfile_is_open();
}

static void tell(const struct lh_finding *f)
{
    static _Atomic bool said;

    if ((!lh_config.print && !cannot_record()) ||
        (f->grade == LH_CONDITIONAL && !lh_config.all))
        return;
    if (!lh_config.print && !atomic_exchange(&said, true))
        lh_printer_note("what follows could not be recorded in dir=");
    lh_printer_finding(f);
}

static void record_findings(struct lh_thread *t)
{
    for (struct lh_finding *f = t->findings; f; f = f->next) {
        if (!f->recorded && lh_news_wants_records())
            lh_record_finding(&lh_state.out, f);
        f->recorded = true;
    }
}

/* Is there anything to write? Without the lock: what this thread has added it
 * sees, what another one has is for that to write. */
static bool is_due(const struct lh_thread *t)
{
    return t->findings ||
           __atomic_load_n(&lh_state.out.length, __ATOMIC_RELAXED) ||
           __atomic_load_n(&lh_state.out.failed, __ATOMIC_RELAXED);
}

/* One writes at a time, and takes what there is when its turn has come. */
static void write_records(struct lh_thread *t, struct lh_finding **found)
{
    struct lh_fmt batch;

    lh_rawlock_take(&writing);
    lh_rawlock_take(&lh_state.lock);
    record_findings(t);
    *found = t->findings;
    t->findings = NULL;
    batch = lh_state.out;
    lh_state.out = written;
    written = (struct lh_fmt){ 0 };
    lh_rawlock_give(&lh_state.lock);
    if (batch.failed)
        lh_printer_note("out of memory: a record was dropped");
    else if (batch.length && lh_logfile_is_open())
        lh_logfile_write(batch.text, batch.length);
    lh_fmt_reset(&batch);
    written = batch;
    lh_rawlock_give(&writing);
}

void lh_news_flush(struct lh_thread *t)
{
    struct lh_finding *found = NULL;

    if (is_due(t))
        write_records(t, &found);
    for (unsigned i = 0; i < NNOTES; i++)
        if (t->notes & 1u << i)
            lh_printer_note(notes[i].text);
    t->notes = 0;
    while (found) {
        struct lh_finding *f = found;
        found = f->next;
        tell(f);
        lh_finding_free(f);
    }
}

void lh_news_know(const struct lh_finding_thread *thread)
{
    void *array = known_threads;

    if (lh_arena_reserve(&array, &known_threads_capacity, sizeof *known_threads,
                         (size_t)thread->number + 1) != 0)
        return;
    known_threads = array;
    known_threads[thread->number] = *thread;
}

void lh_news_remember(const struct lh_thread *t)
{
    struct lh_finding_thread thread = {
        .number = t->number,
        .tid = t->tid,
        .start = (void *)t->start,
    };

    memcpy(thread.name, t->name, sizeof thread.name);
    lh_news_know(&thread);
}

/* Records a thread and those that made it, as far as they are not. */
static void record_threads(struct lh_fmt *out, uint32_t number)
{
    while (number && number < known_threads_capacity &&
           known_threads[number].number && !known_threads[number].recorded) {
        known_threads[number].recorded = true;
        lh_record_thread(out, &known_threads[number], lh_state.segments);
        number = lh_segments_creator(lh_state.segments, number);
    }
}

void lh_news_created(const struct lh_thread *t)
{
    if (!lh_news_wants_records() || !lh_shared_any())
        return;
    lh_news_open_log();
    lh_news_remember(t);
    record_threads(&lh_state.out, t->number);
}

void lh_news_thread_changed(uint32_t number)
{
    if (!lh_news_wants_records() || number >= known_threads_capacity ||
        !known_threads[number].recorded)
        return;
    lh_record_thread(&lh_state.out, &known_threads[number], lh_state.segments);
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
    if (f->grade >= LH_POSSIBLE)
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

static void record_lock_of(struct lh_fmt *out, lh_lock node)
{
    struct lh_lock_info *known = lh_lock_of_node(node);

    if (known)
        lh_record_lock(out, known);
}

static void record_lock_at(struct lh_fmt *out, uintptr_t address)
{
    struct lh_lock_info *known = address ? lh_lock_find(address, false) : NULL;

    if (known)
        lh_record_lock(out, known);
}

void lh_news_dependency(uint32_t serial, const struct lh_request *request)
{
    record_threads(&lh_state.out, request->segment.thread);
    record_lock_of(&lh_state.out, request->lock);
    for (size_t i = 0; i < request->nheld; i++)
        record_lock_of(&lh_state.out, request->held[i].lock);
    lh_record_dependency(&lh_state.out, serial, request);
}

/* What a finding refers to. */
static void record_side(struct lh_fmt *out, const struct lh_side *side)
{
    record_threads(out, side->segment.thread);
    record_lock_of(out, side->wants);
    record_lock_of(out, side->holds);
    lh_record_stack(out, side->wants_stack);
    lh_record_stack(out, side->holds_stack);
}

static void record_reason(struct lh_fmt *out, const struct lh_reason *reason)
{
    if (reason->lock)
        record_lock_of(out, reason->lock);
    if (reason->kind != LH_REASON_GATE)
        return;
    lh_record_stack(out, reason->stack_a);
    lh_record_stack(out, reason->stack_b);
}

/* All of it is about one lock: core/order.h. */
static bool is_nested_read(const struct lh_ring *ring)
{
    for (size_t i = 0; i < ring->nsides; i++)
        if (ring->sides[i].holds != ring->sides[0].holds)
            return false;
    return true;
}

/* Where a side is in a ring that begins with another one. */
static size_t turned(size_t side, size_t first, const struct lh_ring *ring)
{
    return (side + ring->nsides - first) % ring->nsides;
}

void lh_news_on_ring(void *ctx, const struct lh_ring *ring)
{
    struct lh_finding *f = lh_finding_new(ring->nsides, ring->nreasons);
    /* It reads best if it does not begin with a writer that waits. */
    size_t first = ring->sides[0].holds_mode == LH_QUEUED;

    (void)ctx;
    if (!f) {
        lh_state.short_of_memory = true;
        return;
    }
    f->kind = is_nested_read(ring) ? LH_NESTED_READ : LH_RING;
    f->id = finding_id(ring);
    f->grade = ring->grade;
    for (size_t i = 0; i < ring->nsides; i++) {
        struct lh_finding_side *s = &f->sides[i];
        s->side = ring->sides[(i + first) % ring->nsides];
        copy_lock(&s->wants, s->side.wants);
        copy_lock(&s->holds, s->side.holds);
        s->thread = thread_of(s->side.segment.thread);
        s->seen = lh_order_seen(lh_state.order, s->side.dependency);
        remember_reported(s->side.dependency);
        s->seen.times += lh_request_uncounted(s->side.slot);
        if (lh_news_wants_records())
            record_side(&lh_state.out, &s->side);
    }
    for (size_t i = 0; i < ring->nreasons; i++) {
        f->reasons[i].reason = ring->reasons[i];
        f->reasons[i].reason.a = turned(ring->reasons[i].a, first, ring);
        f->reasons[i].reason.b = turned(ring->reasons[i].b, first, ring);
        if (ring->reasons[i].lock)
            copy_lock(&f->reasons[i].lock, ring->reasons[i].lock);
        if (lh_news_wants_records())
            record_reason(&lh_state.out, &ring->reasons[i]);
    }
    add_finding(lh_state.judged, f);
}

uint32_t lh_news_number_of_tid(int32_t tid)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < known_threads_capacity; i++)
        if (known_threads[i].number && known_threads[i].tid == tid)
            found = i; /* the newest */
    return found;
}

/* "the end of T3" */
static void name_end_of(struct lh_lock_info *l, const struct lh_thread *thread)
{
    struct lh_annotation *a = lh_lock_annotate(l);
    struct lh_fmt name = { 0 };

    lh_fmt_text(&name, "the end of T");
    lh_fmt_unsigned(&name, thread->number);
    lh_fmt_bytes(&name, "", 1);
    if (a && !name.failed && (a->name = lh_arena_small(name.length)))
        memcpy(a->name, name.text, name.length);
    lh_fmt_free(&name);
}

struct lh_lock_info lh_news_awaited(void *lock, unsigned kind,
                                    const struct lh_thread *holder)
{
    uintptr_t address = lock ? (uintptr_t)lock : (uintptr_t)holder->handle;
    struct lh_lock_info *l = lh_lock_find(address, true);

    if (!l)
        return (struct lh_lock_info){ .address = address };
    if (!l->node && !l->recorded)
        l->kind = lock ? (uint8_t)kind : LH_KIND_THREAD;
    if (!lock)
        name_end_of(l, holder);
    return *l;
}

void lh_news_deadlock(struct lh_thread *t, struct lh_finding *f)
{
    f->id = ++lh_state.nfindings;
    for (size_t i = 0; i < f->nsides; i++) {
        struct lh_finding_side *s = &f->sides[i];
        s->thread = thread_of(s->thread.number);
        if (!lh_news_wants_records())
            continue;
        record_threads(&lh_state.out, s->thread.number);
        record_lock_at(&lh_state.out, s->wants.address);
        lh_record_stack(&lh_state.out, s->side.wants_stack);
        lh_record_stack(&lh_state.out, s->side.holds_stack);
    }
    add_finding(t, f);
}

void lh_news_misuse(struct lh_thread *t, struct lh_finding *f)
{
    f->id = ++lh_state.nfindings;
    f->thread = thread_of(f->thread.number);
    if (f->holder.number)
        f->holder = thread_of(f->holder.number);
    if (lh_news_wants_records()) {
        record_threads(&lh_state.out, f->thread.number);
        record_threads(&lh_state.out, f->holder.number);
        record_lock_at(&lh_state.out, f->lock.address);
        record_lock_at(&lh_state.out, f->other.address);
        lh_record_stack(&lh_state.out, f->stack);
        lh_record_stack(&lh_state.out, f->holder_stack);
    }
    add_finding(t, f);
}

void lh_news_write_counts(void)
{
    struct lh_fmt *out = &lh_state.out;
    struct lh_order_totals totals;

    for (struct lh_thread *t = lh_thread_first(); t; t = t->next)
        record_findings(t);
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
    lh_rawlock_reset(&writing);
    written = (struct lh_fmt){ 0 }; /* a thread may have been using it */
    if (known_threads)
        lh_arena_empty(known_threads,
                       known_threads_capacity * sizeof *known_threads);
}
