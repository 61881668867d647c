/* SPDX-License-Identifier: MIT
 * held.c - what the hot path leaves: growing, learning, odd releases. */
#include "runtime/held.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "runtime/arena.h"
#include "runtime/config.h"
#include "runtime/detector.h"
#include "runtime/frames.h"
#include "runtime/guard.h"
#include "runtime/mutexword.h"
#include "runtime/real.h"
#include "runtime/semaphore.h"
#include "runtime/sites.h"
#include "runtime/stacks.h"
#include "runtime/sys.h"
#include "runtime/unload.h"
#include "runtime/unwind.h"

_Atomic uint32_t lh_generation[LH_NGENERATIONS];

/* What an unused slot has found: no key is 0. */
static struct lh_entry nowhere;

/* Of a slot, not of the place behind the last: chunks begin at pages, and
 * their slots fill the first one. */
static struct lh_chunk *chunk_of(const struct lh_slot *slot)
{
    _Static_assert(offsetof(struct lh_chunk, own) == 4096,
                   "the slots of a chunk end with its first page");
    return (struct lh_chunk *)((uintptr_t)slot & ~(uintptr_t)4095);
}

static uint8_t state_of(const struct lh_slot *slot)
{
    return atomic_load_explicit(&slot->state, memory_order_relaxed);
}

/* Asks the mutex itself. A program may unmap what it holds. */
static bool owns(const struct lh_thread *t, const struct lh_slot *slot)
{
    const pthread_mutex_t *mutex = slot->lock;

    return lh_sys_can_read(&mutex->__data.__owner) &&
           lh_mutex_holder(mutex) == t->tid;
}

/* Of a slot that is LH_INSIDE: the loader's locks are never unmapped. */
static bool is_inside(const struct lh_thread *t, const struct lh_slot *slot)
{
    const pthread_mutex_t *mutex = slot->lock;

    return mutex->__data.__owner == t->tid;
}

static bool on_own_stack(const struct lh_thread *t, uintptr_t sp)
{
    return t->stack_low && sp > t->stack_low && sp <= t->stack_high;
}

/* glibc's word: one that is given back is 0, one that is done 2. */
static bool is_in_progress(const pthread_once_t *once)
{
    return lh_sys_can_read(once) && (*once & 3) == 1;
}

/* A once is held while its routine runs: below the frame that asked for it. An
 * exception or pthread_exit takes that away and gives the once back. */
static bool is_left(const struct lh_thread *t, const struct lh_slot *slot,
                    uintptr_t cfa)
{
    return (slot->how & LH_HOW_RUNS) &&
           ((slot->cfa <= cfa && on_own_stack(t, cfa) &&
             on_own_stack(t, slot->cfa)) ||
            !is_in_progress(slot->lock));
}

bool lh_held_is_held(const struct lh_thread *t, const struct lh_slot *slot)
{
    const struct lh_slot *newest = t->top - 1;
    uint8_t state = state_of(slot);

    /* A semaphore may be posted by anyone. */
    if (state == LH_HOLDS && lh_kind_of(slot->how) == LH_KIND_SEMAPHORE)
        return lh_semaphore_is_held(slot->lock, t->number);
    if (state == LH_HOLDS)
        return !is_left(t, slot, newest == slot ? 0 : newest->cfa);
    return (state == LH_TAKES && slot != t->unsure) ||
           (state == LH_INSIDE && is_inside(t, slot));
}

/* The slot below, over chunk borders; NULL below the oldest. */
static struct lh_slot *below(struct lh_slot *slot)
{
    struct lh_chunk *c;

    if (state_of(--slot) != LH_BASE)
        return slot;
    c = chunk_of(slot)->below;
    return c ? c->slots + LH_CHUNK_SLOTS : NULL;
}

struct lh_slot *lh_held_first(struct lh_thread *t)
{
    struct lh_slot *first = t->chunk->slots + 1;

    return first == t->top ? NULL : first;
}

struct lh_slot *lh_held_next(struct lh_thread *t, struct lh_slot *slot)
{
    struct lh_chunk *c;

    if (++slot == t->top)
        return NULL;
    c = chunk_of(slot - 1);
    /* A signal handler may have popped the slot where a walk stands. */
    if (slot > t->top && c == chunk_of(t->top - 1))
        return NULL;
    if (slot < c->slots + LH_CHUNK_SLOTS + 1)
        return slot;
    if (!c->above)
        return NULL;
    slot = c->above->slots + 1;
    return slot == t->top ? NULL : slot;
}

/* The chunk is full: goes on in the one above. */
static bool next_chunk(struct lh_thread *t)
{
    struct lh_chunk *c = chunk_of(t->top - 1);

    if (!c->above) {
        struct lh_chunk *fresh = lh_arena_resize(NULL, NULL, 0, sizeof *fresh);
        if (!fresh)
            return false;
        fresh->below = c;
        c->above = fresh;
    }
    c->above->slots[0].key = c->slots[LH_CHUNK_SLOTS].key;
    atomic_store_explicit(&c->above->slots[0].state, LH_BASE,
                          memory_order_relaxed);
    t->end = c->above->slots + LH_CHUNK_SLOTS + 1;
    t->top = c->above->slots + 1;
    return true;
}

/* The present chunk is empty: goes back to the one below. */
static void previous_chunk(struct lh_thread *t)
{
    struct lh_chunk *c = chunk_of(t->top - 1)->below;

    t->top = t->end = c->slots + LH_CHUNK_SLOTS + 1;
}

static void drop_newest(struct lh_thread *t, struct lh_slot *slot)
{
    if (t->top == chunk_of(t->top - 1)->slots + 1)
        previous_chunk(t);
    t->top = slot;
}

/*
 * Drops slots whose request was left behind: an exception or a longjmp out of
 * a signal handler took its frame away. A handler that locks right now lies
 * below the request that it interrupted, or on another stack. A frame that
 * tries again after the longjmp asks from the very same place.
 */
static void drop_abandoned(struct lh_thread *t, uintptr_t cfa)
{
    struct lh_slot *slot = below(t->top);

    /* An alternate signal stack may lie anywhere, even in a frame. */
    if (!slot || state_of(slot) < LH_WANTS ||
        lh_sys_altstack_left(cfa) != SIZE_MAX)
        return;
    while ((slot = below(t->top)) && state_of(slot) >= LH_WANTS &&
           lh_kind_of(slot->how) != LH_KIND_ANNOTATED && slot->cfa <= cfa &&
           on_own_stack(t, cfa) && on_own_stack(t, slot->cfa)) {
        drop_newest(t, slot);
    }
}

void lh_held_drop_left(struct lh_thread *t, uintptr_t cfa)
{
    struct lh_slot *slot;
    struct lh_guard guard;

    if (!(slot = below(t->top)) || !(slot->how & LH_HOW_RUNS))
        return;
    lh_guard_enter(&guard);
    while ((slot = below(t->top)) && state_of(slot) == LH_HOLDS &&
           is_left(t, slot, cfa))
        drop_newest(t, slot);
    lh_guard_leave(&guard);
}

struct lh_slot *lh_held_running(struct lh_thread *t, const void *once,
                                uintptr_t cfa)
{
    struct lh_slot *slot = lh_held_find(t, once, false);

    return slot && !is_left(t, slot, cfa) ? slot : NULL;
}

void lh_held_abandon(void)
{
    struct lh_thread *t = lh_self;
    struct lh_guard guard;
    struct lh_slot *slot;

    if (!t)
        return;
    lh_guard_enter(&guard);
    while ((slot = below(t->top)) && state_of(slot) >= LH_WANTS)
        drop_newest(t, slot);
    lh_guard_leave(&guard);
}

/*
 * What was asked for before this request was got since, or the thread would not
 * be here; but for the newest, which a signal handler may have interrupted.
 */
static void doubt_newest(struct lh_thread *t, struct lh_slot *request)
{
    struct lh_slot *slot = below(request);

    while (slot && state_of(slot) == LH_GONE)
        slot = below(slot);
    t->unsure =
        slot && state_of(slot) == LH_TAKES && !owns(t, slot) ? slot : NULL;
}

/* Does the thread hold anything, apart from what this slot asks for? */
static bool holds_anything(struct lh_thread *t, struct lh_slot *slot)
{
    while ((slot = below(slot)))
        if (lh_held_is_held(t, slot))
            return true;
    return false;
}

static __attribute__((noinline)) void take_stack(struct lh_thread *t,
                                                 struct lh_slot *slot)
{
    struct lh_guard guard;

    if (t->busy)
        return;
    lh_guard_enter(&guard);
    lh_detector_check_process(); /* the lock over stacks may be a lost one */
    t->busy = true;
    slot->stack = lh_stack_take(t, slot->pc, slot->cfa);
    t->busy = false;
    lh_guard_leave(&guard);
}

static __attribute__((noinline)) void recall_or_take(struct lh_thread *t,
                                                     struct lh_slot *slot)
{
    slot->stack = lh_stack_recall(t, slot->pc, slot->cfa, &slot->proof);
    if (!slot->stack)
        take_stack(t, slot);
}

void lh_held_capture(struct lh_thread *t, struct lh_slot *slot)
{
    if (__builtin_expect(!t->stacks || !lh_stack_is_proved(
                                           &t->stacks->known[slot->proof],
                                           slot->pc, slot->cfa, &slot->stack),
                         0))
        recall_or_take(t, slot);
}

/* Every lock held now is at a site that nests. */
static void mark_nesting(struct lh_thread *t, struct lh_slot *until)
{
    bool news = false;

    for (struct lh_slot *s = lh_held_first(t); s && s != until;
         s = lh_held_next(t, s)) {
        struct lh_site *site =
            lh_held_is_held(t, s) ? lh_site_add(s->pc) : NULL;
        if (site &&
            !atomic_load_explicit(&site->nesting, memory_order_relaxed)) {
            atomic_store_explicit(&site->nesting, true, memory_order_relaxed);
            news = true;
        }
    }
    if (news)
        lh_detector_new_epoch();
}

static bool is_nesting(const struct lh_site *site)
{
    return lh_config.stacks == LH_STACKS_EXACT ||
           (lh_config.stacks == LH_STACKS_AUTO &&
            atomic_load_explicit(&site->nesting, memory_order_relaxed));
}

/*
 * With nothing held, or for a try, which never waits, there is mostly no order
 * to learn: all that is asked is whether the site's stack is wanted. The cache
 * is spared: a program may take a million locks one at a time, or try them.
 */
static bool is_without_order(const struct lh_thread *t,
                             const struct lh_slot *slot)
{
    return (slot == t->chunk->slots + 1 && !lh_holds_back(slot->how)) ||
           lh_wait_of(slot->how) == LH_WAIT_TRY;
}

static void drop_disowned(struct lh_thread *t, const struct lh_slot *until);

static void learn(struct lh_thread *t, struct lh_slot *slot)
{
    struct lh_site *site = lh_site_add(slot->pc);
    uint32_t dependency = 0;
    bool request, cold, nesting;

    if (!site)
        return;
    if (atomic_load_explicit(&t->disowned, memory_order_relaxed))
        drop_disowned(t, slot);
    doubt_newest(t, slot);
    request = (holds_anything(t, slot) || lh_holds_back(slot->how)) &&
              lh_wait_of(slot->how) != LH_WAIT_TRY;
    if (request)
        mark_nesting(t, slot);
    cold = lh_site_is_cold(site);
    nesting = is_nesting(site);
    if (lh_config.stacks != LH_STACKS_PC && (cold || nesting || request)) {
        slot->stack = lh_stack_recall(t, slot->pc, slot->cfa, &slot->proof);
        if (!slot->stack)
            slot->stack = lh_stack_take(t, slot->pc, slot->cfa);
    }
    if (request)
        dependency = lh_detector_request(t, slot, slot->stack);
    /* While it is cold the next one is to be exact, too. */
    if (cold || is_without_order(t, slot))
        return;
    if (!lh_cache_find(&t->cache, slot->key))
        lh_cache_add(&t->cache, slot->key,
                     dependency | (nesting ? LH_ENTRY_NESTING : 0),
                     lh_detector_spill, NULL);
}

static void learn_new(struct lh_thread *t, struct lh_slot *slot)
{
    struct lh_guard guard;

    if (t->busy)
        return;
    lh_guard_enter(&guard);
    lh_detector_check_process();
    t->busy = true;
    learn(t, slot);
    t->busy = false;
    lh_guard_leave(&guard);
}

static void count_hit(struct lh_thread *t, struct lh_slot *slot)
{
    if (lh_held_count(slot->known))
        lh_held_capture(t, slot);
}

static bool look_up_site(struct lh_thread *t, struct lh_slot *slot)
{
    struct lh_site *site = lh_site_find(slot->pc);
    struct lh_chunk *c;

    if (!site || atomic_load_explicit(&site->times, memory_order_relaxed) <
                     LH_COLD_TIMES)
        return false;
    c = chunk_of(slot);
    slot->known = &c->own[slot - c->slots];
    *slot->known = (struct lh_entry){
        .probe = slot->key,
        .dependency = is_nesting(site) ? LH_ENTRY_NESTING : 0,
    };
    count_hit(t, slot);
    return true;
}

/* By a request that is not repeated in its slot. */
static __attribute__((noinline)) void end_left_behind(struct lh_thread *t,
                                                      uintptr_t cfa)
{
    struct lh_guard guard;

    if (t->busy)
        return;
    lh_guard_enter(&guard);
    lh_detector_check_process();
    lh_frames_left(t, cfa);
    if (lh_unload_is_noted(t))
        lh_unload_look(t, cfa);
    lh_guard_leave(&guard);
}

static void look_up(struct lh_thread *t, struct lh_slot *slot)
{
    struct lh_entry *known;

    if (__builtin_expect(
            lh_frames_may_be_left(t, slot->cfa) || lh_unload_is_noted(t), 0))
        end_left_behind(t, slot->cfa);
    if (is_without_order(t, slot)) {
        if (look_up_site(t, slot))
            return;
    } else if ((known = lh_cache_find(&t->cache, slot->key))) {
        slot->known = known;
        count_hit(t, slot);
        return;
    }
    slot->known = &nowhere;
    learn_new(t, slot);
}

static void write_state(struct lh_slot *slot, uint16_t how, uintptr_t cfa)
{
    slot->cfa = cfa;
    slot->stack = 0;
    atomic_store_explicit(&slot->state,
                          lh_wait_of(how) == LH_WAIT_TRY ? LH_TRIES : LH_WANTS,
                          memory_order_relaxed);
}

static void write_request(struct lh_slot *slot, void *lock, uint16_t how,
                          void *pc, uintptr_t cfa)
{
    slot->lock = lock;
    slot->pc = pc;
    slot->below = slot[-1].key;
    slot->generation = lh_generation_now(lock);
    slot->how = how;
    slot->key = lh_chain_key(slot->below, lock, slot->generation, how, pc);
    slot->count = 1;
    write_state(slot, how, cfa);
}

/* Where the code of locks that are made of others lies, and ours, which seems
 * to be the caller when that code ends in a jump. Relaxed: whoever is called
 * from there has seen them written. */
static _Atomic uintptr_t makers[2][2];

void lh_held_set_maker(const void *function)
{
    const void *of[2] = { function, (const void *)(uintptr_t)lh_held_push };
    struct dl_find_object found;

    for (int i = 0; i < 2; i++) {
        if (_dl_find_object((void *)of[i], &found) != 0)
            continue;
        atomic_store_explicit(&makers[i][0], (uintptr_t)found.dlfo_map_start,
                              memory_order_relaxed);
        atomic_store_explicit(&makers[i][1], (uintptr_t)found.dlfo_map_end,
                              memory_order_relaxed);
    }
}

static bool is_in_maker(int i, uintptr_t pc)
{
    return pc >= atomic_load_explicit(&makers[i][0], memory_order_relaxed) &&
           pc < atomic_load_explicit(&makers[i][1], memory_order_relaxed);
}

/* Asked for by the code that gets the newest request's lock? */
static bool is_part_of_newest(struct lh_thread *t, const void *pc)
{
    const struct lh_slot *slot = below(t->top);

    return slot && state_of(slot) >= LH_WANTS &&
           lh_kind_of(slot->how) >= LH_KIND_GMUTEX &&
           lh_kind_of(slot->how) <= LH_KIND_GRWLOCK &&
           (is_in_maker(0, (uintptr_t)pc) || is_in_maker(1, (uintptr_t)pc));
}

/*
 * Drops calls into the loader that have ended. One that a signal handler has
 * interrupted before it got the lock is dropped, too: what it runs under the
 * lock is then not seen as such, this once.
 */
static void drop_ended_calls(struct lh_thread *t)
{
    struct lh_slot *s;

    while (state_of(s = t->top - 1) == LH_INSIDE && !is_inside(t, s)) {
        t->top = s;
        lh_held_pop_gone(t);
    }
}

/* Whether push_slow() is to push, after calls that have ended are dropped. */
static __attribute__((noinline)) bool is_blocked(struct lh_thread *t)
{
    drop_ended_calls(t);
    return t->top == t->end || state_of(t->top - 1) >= LH_WANTS;
}

/* The chunk may be full, or the last request may have been abandoned. */
static struct lh_slot *push_slow(struct lh_thread *t, void *lock, uint16_t how,
                                 void *pc, uintptr_t cfa)
{
    struct lh_slot *slot = NULL;
    struct lh_guard guard;

    if (is_part_of_newest(t, pc))
        return NULL;
    lh_guard_enter(&guard);
    drop_abandoned(t, cfa);
    if (t->top != t->end || next_chunk(t)) {
        slot = t->top++;
        write_request(slot, lock, how, pc, cfa);
    }
    lh_guard_leave(&guard);
    return slot;
}

/*
 * Takes the next slot for a request; true if the cache is known to have it.
 * The slot is written before it is reserved: a handler that locks in between
 * would take what lies there since its last use for a lock that is held. When
 * a handler has used the slot meanwhile, it is written again.
 */
static inline bool reserve(struct lh_thread *t, struct lh_slot *slot,
                           void *lock, uint16_t how, void *pc, uintptr_t cfa)
{
    bool repeated =
        lh_held_is_repeated(slot, lock, how, pc, lh_generation_now(lock));

    if (repeated)
        write_state(slot, how, cfa);
    else
        write_request(slot, lock, how, pc, cfa);
    atomic_signal_fence(memory_order_seq_cst);
    t->top = slot + 1;
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(
            slot->lock == lock && slot->pc == pc && slot->cfa == cfa, 1))
        return repeated;
    write_request(slot, lock, how, pc, cfa);
    return false;
}

/* Publishes a request; *known says that nothing is to be learned from it. */
static struct lh_slot *publish(struct lh_thread *t, void *lock, uint16_t how,
                               void *pc, uintptr_t cfa, bool *known)
{
    struct lh_slot *slot = t->top;

    *known = false;
    if (__builtin_expect(slot == t->end || state_of(slot - 1) >= LH_INSIDE,
                         0)) {
        if (is_blocked(t))
            return push_slow(t, lock, how, pc, cfa);
        slot = t->top;
    }
    if (reserve(t, slot, lock, how, pc, cfa)) {
        count_hit(t, slot);
        *known = true;
    }
    return slot;
}

/* The caller's state; NULL if it is not to be followed. */
static struct lh_thread *self(void)
{
    if (__builtin_expect(!lh_self, 0)) {
        lh_real_ensure();
        return lh_detector_attach();
    }
    return lh_self;
}

struct lh_slot *lh_held_push(void *lock, uint16_t how, void *pc, uintptr_t cfa)
{
    struct lh_thread *t = self();
    struct lh_slot *slot;
    bool known;

    if (!t)
        return NULL;
    slot = publish(t, lock, how, pc, cfa, &known);
    if (slot && !known)
        look_up(t, slot);
    return slot;
}

int lh_held_lock_free(pthread_mutex_t *mutex, uint16_t how, void *pc,
                      uintptr_t cfa)
{
    struct lh_thread *t = self();
    struct lh_slot *slot = NULL;
    bool known = true;
    int rc;

    if (t)
        slot = publish(t, mutex, how, pc, cfa, &known);
    if (slot && !known && is_without_order(t, slot)) {
        /* Not with the lock in hand: others would come to wait for it. */
        look_up(t, slot);
        known = true;
    }
    if (slot && !known)
        lh_cache_prefetch(&t->cache, slot->key);
    rc = known ? EBUSY : lh_real()->mutex_trylock(mutex);
    /* Not if a handler has moved it: then it is learned the next time. */
    if (slot && !known && t->top == slot + 1 && slot->lock == mutex)
        look_up(t, slot);
    if (rc != 0)
        rc = lh_real()->mutex_lock(mutex);
    lh_held_settle(slot, mutex, rc == 0 ? LH_TAKES : LH_GONE);
    return rc;
}

struct lh_slot *lh_held_find(struct lh_thread *t, const void *lock, bool wants)
{
    for (struct lh_slot *s = below(t->top); s; s = below(s))
        if (s->lock == lock && (state_of(s) >= LH_WANTS) == wants)
            return s;
    return NULL;
}

struct lh_slot *lh_held_within(struct lh_thread *t, uintptr_t low,
                               uintptr_t high)
{
    for (struct lh_slot *s = below(t->top); s; s = below(s))
        if ((uintptr_t)s->lock - low < high - low && state_of(s) < LH_WANTS)
            return s;
    return NULL;
}

static void renew_key(struct lh_slot *slot)
{
    slot->below = slot[-1].key;
    if (state_of(slot) == LH_GONE)
        slot->key = slot->below;
    else
        slot->key = lh_chain_key(slot->below, slot->lock, slot->generation,
                                 slot->how, slot->pc);
}

static void settle_in_child(struct lh_thread *t, struct lh_slot *slot)
{
    if (state_of(slot) == LH_TAKES && owns(t, slot)) {
        atomic_store_explicit(&slot->state, LH_HOLDS, memory_order_relaxed);
    } else if (state_of(slot) == LH_HOLDS && (slot->how & LH_HOW_RUNS)) {
        slot->lock = NULL;
        atomic_store_explicit(&slot->state, LH_GONE, memory_order_relaxed);
        t->ngone++;
    }
}

void lh_held_settle_all(struct lh_thread *t)
{
    for (struct lh_slot *s = lh_held_first(t); s; s = lh_held_next(t, s))
        settle_in_child(t, s);
    lh_held_pop_gone(t);
}

void lh_held_renew_keys(struct lh_thread *t)
{
    for (struct lh_slot *s = lh_held_first(t); s; s = lh_held_next(t, s)) {
        if (state_of(s - 1) == LH_BASE && chunk_of(s)->below)
            s[-1].key = below(s)->key;
        renew_key(s);
    }
    /* The next request may be the first of a chunk. */
    if (state_of(t->top - 1) == LH_BASE && chunk_of(t->top - 1)->below)
        t->top[-1].key = below(t->top)->key;
}

/* Takes a slot out, moves those above it down, and renews their keys. */
static void take_out(struct lh_thread *t, struct lh_slot *slot)
{
    for (struct lh_slot *next; (next = lh_held_next(t, slot)); slot = next) {
        *slot = *next;
        renew_key(slot);
        /* The base of the chunk above repeats the last key of this one. */
        if (state_of(next - 1) == LH_BASE)
            next[-1].key = slot->key;
    }
    if (t->top == chunk_of(t->top - 1)->slots + 1)
        previous_chunk(t);
    slot->count = 1;
    t->top = slot;
}

/* The newest slot that asks for the lock, wherever it was moved to. */
static void settle(struct lh_thread *t, void *lock, enum lh_slot_state state)
{
    struct lh_slot *slot = lh_held_find(t, lock, true);

    if (slot && state != LH_GONE)
        atomic_store_explicit(&slot->state, (uint8_t)state,
                              memory_order_relaxed);
    else if (slot)
        take_out(t, slot);
}

void lh_held_settle_slow(struct lh_slot *slot, void *lock,
                         enum lh_slot_state state)
{
    struct lh_thread *t = lh_self;
    struct lh_guard guard;

    if (state == LH_GONE && t->top == slot + 1 && slot->lock == lock) {
        t->top = slot; /* not got: the usual case */
        if (state_of(slot - 1) == LH_GONE)
            lh_held_pop_gone(t);
        return;
    }
    lh_guard_enter(&guard);
    settle(t, lock, state);
    lh_guard_leave(&guard);
}

/* The newest slot may not be the one, after a signal handler that has left a
 * lock held. */
static __attribute__((noinline)) int settle_other(void *lock, int rc)
{
    lh_held_settle_slow(lh_self->top - 1, lock, rc == 0 ? LH_HOLDS : LH_GONE);
    return rc;
}

int lh_held_settle_repeated(void *lock, int rc)
{
    struct lh_slot *slot = lh_self->top - 1;

    if (__builtin_expect(
            rc != 0 || slot->lock != lock || state_of(slot) != LH_WANTS, 0))
        return settle_other(lock, rc);
    atomic_store_explicit(&slot->state, LH_HOLDS, memory_order_relaxed);
    return rc;
}

void lh_held_pop_gone(struct lh_thread *t)
{
    /* A handler that unlocks in between pops as well: what is stored is where
     * the top was seen to be, not one less than it is. */
    for (struct lh_slot *s; state_of(s = t->top - 1) == LH_GONE; t->top = s)
        t->ngone -= t->ngone > 0;
}

/*
 * Some 10 % of unlocks are not last in, first out. Nothing is moved, so that
 * no signal needs to be blocked: a handler that comes in between finds the
 * chain whole, and at worst learns what it asks for anew.
 */
static void leave_gap(struct lh_thread *t, struct lh_slot *slot)
{
    struct lh_slot *next;

    /* In this order: a handler must not find NULL held. */
    atomic_store_explicit(&slot->state, LH_GONE, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    slot->lock = NULL;
    t->ngone++;
    for (; slot; slot = next) {
        renew_key(slot);
        next = lh_held_next(t, slot);
        /* The base of the chunk above repeats the last key of this one. */
        if (next && state_of(next - 1) == LH_BASE)
            next[-1].key = slot->key;
    }
}

/* By another thread. A mutex that was, or is being, taken again since has two
 * slots: the newest is meant. Only a mutex says whose it is. */
static bool is_given_back(struct lh_thread *t, struct lh_slot *slot)
{
    if (lh_kind_of(slot->how) != LH_KIND_MUTEX)
        return slot->count & LH_DISOWNED;
    return !owns(t, slot) || lh_held_find(t, slot->lock, false) != slot;
}

/* What another thread has released is held no more. */
static void drop_disowned(struct lh_thread *t, const struct lh_slot *until)
{
    atomic_store_explicit(&t->disowned, false, memory_order_relaxed);
    for (struct lh_slot *s = lh_held_first(t); s && s != until;
         s = lh_held_next(t, s))
        if ((state_of(s) == LH_HOLDS || state_of(s) == LH_TAKES) &&
            ((s->lock == until->lock && s->count & LH_DISOWNED) ||
             is_given_back(t, s)))
            leave_gap(t, s);
}

/* A walk hand over hand leaves a gap at each step. */
static void close_gaps(struct lh_thread *t)
{
    struct lh_guard guard;

    lh_guard_enter(&guard);
    for (struct lh_slot *s = lh_held_first(t), *next; s; s = next) {
        next = lh_held_next(t, s);
        if (state_of(s) == LH_GONE) {
            take_out(t, s);
            next = lh_held_first(t);
        }
    }
    t->ngone = 0;
    lh_guard_leave(&guard);
}

void lh_held_forget(struct lh_thread *t, const void *lock)
{
    struct lh_slot *slot = lh_held_find(t, lock, false);

    if (slot)
        leave_gap(t, slot);
    lh_held_pop_gone(t);
}

enum { MOST_GAPS = 16 };

/* If another thread has released it meanwhile, the slot goes. */
static bool is_disowned(struct lh_thread *t, struct lh_slot *slot)
{
    struct lh_guard guard;
    bool gone;

    if (!(slot->count & LH_DISOWNED))
        return false;
    lh_guard_enter(&guard);
    slot->count &= ~LH_DISOWNED;
    gone = lh_kind_of(slot->how) != LH_KIND_MUTEX || !owns(t, slot);
    if (gone) {
        leave_gap(t, slot);
        lh_held_pop_gone(t);
    }
    lh_guard_leave(&guard);
    return gone;
}

struct lh_slot *lh_held_release_slow(void *lock)
{
    struct lh_thread *t = lh_self;
    struct lh_slot *slot;

    if (!t) {
        lh_real_ensure();
        return NULL;
    }
    drop_ended_calls(t);
    slot = lh_held_find(t, lock, false);
    if (!slot || is_disowned(t, slot))
        return NULL;
    if (slot->count > 1) {
        slot->count--;
        return slot;
    }
    if (slot + 1 == t->top) { /* at the border of a chunk */
        t->top = slot;
        lh_held_pop_gone(t);
        return slot;
    }
    leave_gap(t, slot);
    if (t->ngone > MOST_GAPS)
        close_gaps(t);
    return slot;
}

void lh_held_restore(struct lh_slot *slot, void *lock)
{
    /* Its words are still there: nothing was pushed since but by a signal
     * handler, which would have written another lock. */
    if (slot && slot == lh_self->top && slot->lock == lock)
        lh_self->top = slot + 1;
}
