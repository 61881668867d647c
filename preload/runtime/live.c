/* SPDX-License-Identifier: MIT
 * live.c - waits that do not end, found while they last. */
#include "runtime/live.h"

#include <stddef.h>
#include <string.h>

#include "runtime/config.h"
#include "runtime/detector.h"
#include "runtime/guard.h"
#include "runtime/holders.h"
#include "runtime/kinds.h"
#include "runtime/misuse.h"
#include "runtime/mutexword.h"
#include "runtime/news.h"
#include "runtime/stacks.h"
#include "runtime/state.h"
#include "runtime/sys.h"
#include "runtime/unwind.h"

enum {
    FIRST_LOOK_MS = 50,
    SLOWEST_LOOK_MS = 1000,
    LOOKS_AT_FIRST = 4, /* 50 ms apart; then they grow rarer */
};

/* ---- what a thread holds and wants, read while it may change ---- */

static uint8_t state_of(const struct lh_slot *slot)
{
    return atomic_load_explicit(&slot->state, memory_order_relaxed);
}

/* Who a lock itself says holds it: a tid, 0 for nobody, LH_HOLDER_UNSURE for
 * locks that do not tell. */
static int32_t owner_of(const struct lh_slot *slot)
{
    unsigned kind = lh_kind_of(slot->how);
    const pthread_mutex_t *mutex = slot->lock;

    if (kind != LH_KIND_MUTEX && kind != LH_KIND_LOADER &&
        kind != LH_KIND_LOADER_WRITE)
        return LH_HOLDER_UNSURE;
    return lh_sys_can_read(&mutex->__data.__kind) ? lh_mutex_holder(mutex) : 0;
}

struct newest {
    struct lh_slot *slot;
};

static bool keep_newest(void *ctx, struct lh_thread *t, struct lh_slot *slot)
{
    struct newest *newest = ctx;

    (void)t;
    newest->slot = slot;
    return true;
}

/* The request of a thread that is not granted yet; NULL if it has none. */
static struct lh_slot *wanted_by(struct lh_thread *t)
{
    struct newest newest = { NULL };
    struct lh_slot *slot;

    lh_holder_walk(t, keep_newest, &newest);
    slot = newest.slot;
    if (!slot)
        return NULL;
    if (state_of(slot) == LH_WANTS)
        return slot;
    if ((state_of(slot) == LH_TAKES || state_of(slot) == LH_INSIDE) &&
        owner_of(slot) != t->tid)
        return slot;
    return NULL;
}

struct obstacle {
    const struct lh_slot *want;
    struct lh_slot *found;
};

static bool stands_in_the_way(void *ctx, struct lh_thread *t,
                              struct lh_slot *slot)
{
    struct obstacle *o = ctx;
    uint8_t state = state_of(slot);

    if (slot->lock != o->want->lock || slot == o->want ||
        (state != LH_HOLDS && state != LH_TAKES && state != LH_INSIDE))
        return true;
    if (owner_of(slot) != LH_HOLDER_UNSURE && owner_of(slot) != t->tid)
        return true;
    if (lh_mode_of(o->want->how) == LH_EXCLUSIVE ||
        lh_mode_of(slot->how) == LH_EXCLUSIVE)
        o->found = slot;
    return !o->found;
}

/* The slot by which a thread stands in the way of a request: it holds the
 * lock, or is a writer in line that holds back later readers. */
static struct lh_slot *obstacle_in(struct lh_thread *t,
                                   const struct lh_slot *want)
{
    struct obstacle o = { want, NULL };
    struct lh_slot *other;

    lh_holder_walk(t, stands_in_the_way, &o);
    if (o.found || !(want->how & LH_HOW_QUEUES) ||
        lh_mode_of(want->how) == LH_EXCLUSIVE)
        return o.found;
    other = wanted_by(t);
    return other && other != want && other->lock == want->lock &&
                   lh_mode_of(other->how) == LH_EXCLUSIVE
               ? other
               : NULL;
}

/* A thread in a condition wait asks for its mutex once it was signalled: then
 * it sleeps on that. */
static bool is_asking(const struct lh_thread *t, const struct lh_slot *want)
{
    return lh_wait_of(want->how) != LH_WAIT_CONDITION ||
           lh_sys_sleeps_on(t->tid) == (uintptr_t)want->lock;
}

static uint32_t joined_by(const struct lh_thread *t)
{
    return __atomic_load_n(&t->live.joins, __ATOMIC_RELAXED);
}

/* ---- the search for a ring: breadth first, so that a shortest one is found.
 * Its marks are in the threads' states; under the detector's lock. ---- */

static uint32_t mark;
static struct lh_thread *queue, **queue_end;

static void push(struct lh_thread *t, struct lh_thread *waiter,
                 struct lh_slot *stands)
{
    t->live.mark = mark;
    t->live.waiter = waiter;
    t->live.stands = stands;
    t->live.next = NULL;
    *queue_end = t;
    queue_end = &t->live.next;
}

/* Queues the threads that stand in the way of t and were not met yet; true if
 * `goal` is among them. */
static bool look_behind(struct lh_thread *t, struct lh_thread *goal)
{
    struct lh_slot *want = wanted_by(t);
    uint32_t joins = joined_by(t);

    if (!joins && (!want || !is_asking(t, want)))
        return false;
    for (struct lh_thread *u = lh_thread_first(); u; u = u->next) {
        struct lh_slot *stands = joins || u == t ? NULL : obstacle_in(u, want);
        if (u == t || (u->live.mark == mark && u != goal) ||
            !(joins ? u->number == joins : stands != NULL))
            continue;
        push(u, t, stands);
        if (u == goal)
            return true;
    }
    return false;
}

/* Whether a ring goes through goal; it leads backwards by live.waiter. */
static bool find_ring(struct lh_thread *goal)
{
    bool found;

    mark++;
    queue = NULL;
    queue_end = &queue;
    found = look_behind(goal, goal);
    for (struct lh_thread *t = queue; t && !found; t = t->live.next)
        found = look_behind(t, goal);
    return found;
}

/* Names who is in the ring and what each waits for, in the very same wait;
 * whoever of them asks. */
static uint64_t signature_of(struct lh_thread *goal)
{
    uint64_t sum = 0;
    struct lh_thread *t = goal;

    do {
        const struct lh_slot *want = wanted_by(t);
        uint64_t wait = __atomic_load_n(&t->live.waits, __ATOMIC_RELAXED);
        uint64_t lock = (uintptr_t)(want ? want->lock : NULL);
        sum += lh_fold((uintptr_t)want + t->number,
                       lock ^ wait << 48 ^ UINT64_C(0xa0761d6478bd642f));
        t = t->live.waiter;
    } while (t != goal);
    return sum | 1;
}

/*
 * A ring that heals itself is told, but nobody is ended for it; nor for one
 * through a semaphore that a thread outside of it could post, though none has
 * done so yet.
 */
static bool may_heal(struct lh_thread *goal)
{
    struct lh_thread *t = goal;
    size_t nmembers = 0, nthreads = 0;
    bool has_semaphore = false;

    do {
        const struct lh_slot *want = wanted_by(t);
        if (want && lh_wait_of(want->how) == LH_WAIT_TIMED)
            return true;
        has_semaphore |= want && lh_kind_of(want->how) == LH_KIND_SEMAPHORE;
        nmembers++;
        t = t->live.waiter;
    } while (t != goal);
    for (t = lh_thread_first(); t; t = t->next)
        nthreads++;
    return has_semaphore && nthreads > nmembers;
}

/* ---- telling ---- */

static bool is_watched(const struct lh_thread *t)
{
    return __atomic_load_n(&t->live.waits, __ATOMIC_RELAXED) & 1;
}

/* Sides in the order of the ring: each wants what the next one holds. The
 * links lead from who stands in the way to who waits. */
static void tell(struct lh_thread *self)
{
    size_t n = 0;
    struct lh_thread *t = self;
    struct lh_finding *f;

    do {
        n++;
        t = t->live.waiter;
    } while (t != self);
    f = lh_finding_new(n, 0);
    if (!f) {
        lh_state.short_of_memory = true;
        return;
    }
    f->kind = LH_DEADLOCK;
    f->grade = LH_HAPPENED;
    for (size_t i = n; i-- > 0; t = t->live.waiter) {
        struct lh_thread *waiter = t->live.waiter;
        struct lh_slot *want = wanted_by(waiter);
        struct lh_finding_side *s = &f->sides[i];
        struct lh_finding_side *next = &f->sides[(i + 1) % n];
        const struct lh_slot *stands = t->live.stands;

        s->thread.number = s->side.segment.thread = waiter->number;
        if (is_watched(waiter))
            s->since_ms = lh_sys_monotonic_ms() - waiter->live.since_ms;
        s->side.wants_stack = want && !joined_by(waiter)
                                  ? lh_holder_stack(want)
                                  : waiter->live.join_stack;
        s->side.wants_mode = want ? (uint8_t)lh_mode_of(want->how) : 0;
        s->side.wait = want ? (uint8_t)lh_wait_of(want->how) : 0;
        if (stands)
            next->side.holds_stack = lh_holder_stack(stands);
        next->side.holds_mode = !stands ? LH_EXCLUSIVE
                                : state_of(stands) == LH_WANTS
                                    ? LH_QUEUED
                                    : (uint8_t)lh_mode_of(stands->how);
        s->wants = lh_news_awaited(stands ? stands->lock : NULL,
                                   stands ? lh_kind_of(stands->how) : 0, t);
        next->holds = s->wants;
    }
    lh_news_deadlock(self, f);
}

/* ---- LH004: nobody is left who could end the wait ---- */

static bool has_ended(int32_t tid, bool shared)
{
    if (shared)
        return !lh_sys_tid_exists(tid);
    return !lh_sys_thread_exists(lh_state.pid, tid) ||
           (tid == lh_state.pid && lh_sys_main_has_ended());
}

/* A robust mutex comes free with its holder. That of processes may have its
 * holder in any of them. One that has ended may have given it back before, but
 * after its tid was read here. */
static bool is_orphaned(const struct lh_slot *want, int32_t *tid)
{
    const pthread_mutex_t *mutex = want->lock;

    *tid = owner_of(want);
    return lh_kind_of(want->how) == LH_KIND_MUTEX && *tid > 0 &&
           !(mutex->__data.__kind & LH_MUTEX_ROBUST) &&
           has_ended(*tid, mutex->__data.__kind & LH_MUTEX_SHARED) &&
           owner_of(want) == *tid;
}

/* ---- looking ---- */

/* Under the detector's lock. Whether on-deadlock= is to be followed. */
static bool look(struct lh_watch *w, int32_t *orphan)
{
    struct lh_thread *t = w->thread;
    struct lh_slot *want = wanted_by(t);
    uint64_t signature = find_ring(t) ? signature_of(t) : 0;
    bool stands = signature && signature == w->signature;

    w->signature = signature;
    if (stands && !w->told) {
        w->told = true;
        /* Another one of the ring may have, who ends the process, too: after
         * it was written. */
        if (!lh_kind_is_new(signature))
            return false;
        tell(t);
        return !may_heal(t);
    }
    if (!signature && want && !joined_by(t) && !w->told)
        w->told = is_orphaned(want, orphan);
    return false;
}

static void set_next(struct lh_watch *w)
{
    unsigned ms = FIRST_LOOK_MS;

    for (unsigned i = LOOKS_AT_FIRST; i < w->looks && ms < SLOWEST_LOOK_MS; i++)
        ms *= 2;
    w->looks++;
    lh_sys_in_ms(&w->next, ms);
}

static void report_orphan(const struct lh_slot *want, int32_t tid)
{
    lh_misuse_report(&(struct lh_misuse){
        .kind = LH_ENDLESS,
        .lock_kind = (uint8_t)lh_kind_of(want->how),
        .lock = want->lock,
        .pc = want->pc,
        .cfa = want->cfa,
        .holder = lh_news_number_of_tid(tid),
    });
}

void lh_live_look(struct lh_watch *w)
{
    struct lh_guard guard;
    int32_t orphan = 0;
    bool acts;

    set_next(w);
    if (w->thread->busy || lh_state_is_off())
        return;
    lh_guard_enter(&guard);
    lh_detector_check_process();
    w->thread->busy = true;
    lh_rawlock_take(&lh_state.lock);
    acts = look(w, &orphan);
    if (lh_news_wants_records())
        lh_news_open_log();
    lh_rawlock_give(&lh_state.lock);
    lh_news_flush(w->thread);
    w->thread->busy = false;
    if (acts)
        lh_misuse_act();
    lh_guard_leave(&guard);
    if (orphan && w->told)
        report_orphan(wanted_by(w->thread), orphan);
}

void lh_live_look_before(struct lh_watch *w)
{
    /* Published before anybody is looked at: of two that close a ring at once,
     * one sees the other. */
    atomic_thread_fence(memory_order_seq_cst);
    lh_live_look(w);
    if (!w->signature)
        return;
    lh_sys_nap(FIRST_LOOK_MS);
    lh_live_look(w);
}

/* A thread has ended while it held something. */
static _Atomic bool orphans;

void lh_live_orphaned(void)
{
    atomic_store_explicit(&orphans, true, memory_order_relaxed);
}

void lh_live_main_ends(void)
{
    const struct lh_thread *t = lh_self;

    if (t && t->tid == lh_state.pid && t->top != t->chunk->slots + 1)
        lh_live_orphaned();
}

bool lh_live_concerns(const struct lh_slot *request)
{
    struct lh_thread *t = lh_self;

    return request && t &&
           (request != t->chunk->slots + 1 ||
            __atomic_load_n(&t->live.njoiners, __ATOMIC_RELAXED) ||
            atomic_load_explicit(&orphans, memory_order_relaxed));
}

bool lh_live_concerns_join(void)
{
    const struct lh_thread *t = lh_self;

    return t->top != t->chunk->slots + 1 ||
           __atomic_load_n(&t->live.njoiners, __ATOMIC_RELAXED);
}

void lh_live_begin(struct lh_watch *w)
{
    struct lh_thread *t = lh_self;

    *w = (struct lh_watch){ .thread = t };
    t->live.since_ms = lh_sys_monotonic_ms();
    /* Odd; the last wait may have been left by an exception. */
    __atomic_store_n(&t->live.waits, (t->live.waits + 1) | 1, __ATOMIC_RELAXED);
    set_next(w);
}

void lh_live_end(struct lh_watch *w)
{
    __atomic_store_n(&w->thread->live.waits, (w->thread->live.waits | 1) + 1,
                     __ATOMIC_RELAXED);
}

void lh_live_enter(struct lh_watch *w, const struct lh_slot *request)
{
    w->thread = NULL;
    if (!lh_live_concerns(request))
        return;
    lh_live_begin(w);
    lh_live_look_before(w);
}

void lh_live_leave(struct lh_watch *w)
{
    if (w->thread)
        lh_live_end(w);
}

/* ---- joins ---- */

/*
 * The thread with that number is waited for by one that could be in a ring: it
 * holds something, or is waited for by such a one. Then so could the thread
 * itself, and whom it waits for. Most joiners hold nothing: what they wait for
 * is spared the looks.
 */
static void concern(uint32_t number)
{
    struct lh_thread *t = lh_thread_numbered(number);

    while (t) {
        __atomic_fetch_add(&t->live.njoiners, 1, __ATOMIC_RELAXED);
        if (!t->live.joins || t->live.concerns)
            return;
        t->live.concerns = true;
        t = lh_thread_numbered(t->live.joins);
    }
}

void lh_live_joins(uint32_t number, void *pc, uintptr_t cfa)
{
    struct lh_thread *t = lh_self;
    uint32_t stack = lh_detector_stack(t, pc, cfa);
    struct lh_guard guard;

    lh_state_enter(&guard);
    t->live.join_stack = stack;
    __atomic_store_n(&t->live.joins, number, __ATOMIC_RELAXED);
    t->live.concerns = lh_live_concerns_join();
    if (t->live.concerns)
        concern(number);
    lh_state_leave(&guard);
}

void lh_live_joined(uint32_t number)
{
    struct lh_thread *t = lh_self, *target;
    struct lh_guard guard;

    lh_state_enter(&guard);
    target = t->live.concerns ? lh_thread_numbered(number) : NULL;
    if (target)
        __atomic_fetch_sub(&target->live.njoiners, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&t->live.joins, 0, __ATOMIC_RELAXED);
    t->live.concerns = false;
    lh_state_leave(&guard);
}

void lh_live_after_fork(struct lh_thread *self)
{
    memset(&self->live, 0, sizeof self->live);
}
