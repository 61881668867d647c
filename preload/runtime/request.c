/* SPDX-License-Identifier: MIT
 * request.c - a request made while something is held is taken in. */
#include "runtime/request.h"

#include "core/order.h"
#include "runtime/arena.h"
#include "runtime/children.h"
#include "runtime/detector.h"
#include "runtime/frames.h"
#include "runtime/kinds.h"
#include "runtime/locks.h"
#include "runtime/modules.h"
#include "runtime/news.h"
#include "runtime/semaphore.h"
#include "runtime/shared.h"
#include "runtime/stacks.h"
#include "runtime/state.h"
#include "runtime/sys.h"
#include "runtime/unseen.h"

/* The held locks of one request; as large as the deepest chain so far. Under
 * the detector's lock. */
static struct lh_held *held;
static size_t held_capacity;

static void add_count(void *ctx, const struct lh_entry *entry)
{
    uint32_t dependency = entry->dependency & ~LH_ENTRY_NESTING;

    (void)ctx;
    if (dependency && entry->times)
        lh_order_count(lh_state.order, dependency, entry->times);
}

void lh_detector_spill(void *ctx, const struct lh_entry *entry)
{
    if (!(entry->dependency & ~LH_ENTRY_NESTING) || !entry->times)
        return;
    lh_rawlock_take(&lh_state.lock);
    if (lh_self->cache_epoch == lh_order_epoch(lh_state.order))
        add_count(ctx, entry);
    lh_rawlock_give(&lh_state.lock);
}

/* Numbers of dependencies may mean others now: the cache starts afresh. */
static void renew_cache(struct lh_thread *t)
{
    if (t->cache_epoch == lh_order_epoch(lh_state.order))
        return;
    t->cache_epoch = lh_order_epoch(lh_state.order);
    lh_cache_clear(&t->cache);
}

void lh_request_keep_counts(const struct lh_thread *t)
{
    if (t->cache.entries && t->cache_epoch == lh_order_epoch(lh_state.order))
        lh_cache_each(&t->cache, add_count, NULL);
}

struct tally {
    uint32_t dependency;
    uint64_t times;
};

static void tally(void *ctx, const struct lh_entry *entry)
{
    struct tally *sum = ctx;

    if ((entry->dependency & ~LH_ENTRY_NESTING) == sum->dependency)
        sum->times += entry->times;
}

uint64_t lh_request_uncounted(uint32_t dependency)
{
    struct tally sum = { dependency, 0 };

    for (struct lh_thread *t = lh_thread_first(); t; t = t->next)
        if (t->cache.entries &&
            t->cache_epoch == lh_order_epoch(lh_state.order))
            lh_cache_each(&t->cache, tally, &sum);
    return sum.times;
}

/* What is born by an init call has that call's stack; a static has its place;
 * what shows up otherwise, its first acquisition's stack. */
static uint64_t class_of(const struct lh_lock_info *l)
{
    bool fixed = !l->initialized && lh_module_holds(l->address);

    if (l->alone)
        return lh_fold(l->serial, UINT64_C(0x9e3779b97f4a7c15));
    return lh_fold(fixed ? l->address : l->born,
                   UINT64_C(0x1d8e4e27c47d124f) + fixed);
}

/* A program may unmap what it holds. What it asks for right now, the hook has
 * read: there is no need to ask the kernel. */
static bool can_read(const struct lh_slot *slot)
{
    unsigned kind = lh_kind_of(slot->how);
    uint8_t state = atomic_load_explicit(&slot->state, memory_order_relaxed);

    return (state >= LH_WANTS &&
            (kind == LH_KIND_MUTEX || kind == LH_KIND_RWLOCK)) ||
           lh_sys_can_read(slot->lock);
}

/* Of a lock that can be read. */
static unsigned subtype_of(const struct lh_slot *slot)
{
    const pthread_mutex_t *mutex = slot->lock;
    const pthread_rwlock_t *rwlock = slot->lock;

    if (lh_kind_of(slot->how) == LH_KIND_MUTEX)
        return (unsigned)mutex->__data.__kind & 3;
    if (lh_kind_of(slot->how) == LH_KIND_RWLOCK)
        return rwlock->__data.__flags & 3;
    return 0;
}

/* A semaphore may turn out to be none; what has ended is NULL. */
static bool is_surely_lock(const struct lh_lock_info *l)
{
    return l && (l->kind != LH_KIND_SEMAPHORE ||
                 lh_semaphore_is_lock((const void *)l->address));
}

/* In no module and on no stack, and no init call has told of it. */
static void settle_doubt(struct lh_lock_info *l)
{
    l->settled = true;
    if (lh_module_holds(l->address))
        lh_stacks_know_module(l->address);
    else if (!l->initialized && lh_unseen_holds(l->address))
        lh_order_doubt_lock(lh_state.order, l->node, true);
}

/*
 * Is this use of a lock by t surely one of the same lock as those before? Not
 * if the lock may have ended since without an event, and another one taken its
 * place. On a stack that depends on who uses it, and more is learned of frames
 * as time goes by.
 */
static void doubt(struct lh_thread *t, struct lh_lock_info *l)
{
    struct lh_thread *owner;

    if (l->settled)
        return;
    owner = l->initialized ? NULL : lh_frames_owner(t, l->address);
    if (!owner) {
        settle_doubt(l);
        return;
    }
    lh_frames_add_lock(owner, l->address);
    l->settled = lh_frames_lasts(owner, l->address);
    if (l->settled || !lh_frames_is_sure(owner, t, l->address))
        lh_order_doubt_lock(lh_state.order, l->node, !l->settled);
}

/* The lock of a slot, with a node in the lh_state.order store; NULL without
 * memory. */
static struct lh_lock_info *resolve(struct lh_thread *t, struct lh_slot *slot)
{
    struct lh_lock_info *l = lh_lock_find((uintptr_t)slot->lock, true);
    lh_lock node;

    if (!l)
        return NULL;
    if (!l->node) {
        bool readable = can_read(slot);
        l->kind = (uint8_t)lh_kind_of(slot->how);
        l->subtype = readable ? subtype_of(slot) & 3 : 0;
        /* All locks of an interpreter are made and taken at one place. */
        l->alone =
            l->kind == LH_KIND_SEMAPHORE && lh_semaphore_place_waits(slot->pc);
        if (!l->born)
            l->born = slot->stack;
        if (lh_order_add_lock(lh_state.order, class_of(l), &node) != 0 ||
            lh_lock_set_node(l, node) != 0)
            return NULL;
        if (!is_surely_lock(l))
            lh_order_withhold_lock(lh_state.order, node);
        l->shared = readable && lh_shared_set(node, slot->lock, l->kind);
    }
    doubt(t, l);
    return l;
}

static bool gather_held(struct lh_thread *t, struct lh_slot *until, size_t *n)
{
    void *array = held;

    *n = 0;
    for (struct lh_slot *s = lh_held_first(t); s && s != until;
         s = lh_held_next(t, s)) {
        struct lh_lock_info *l;
        if (!lh_held_is_held(t, s))
            continue;
        if (!s->stack)
            s->stack = lh_stack_of_pc(s->pc);
        if (lh_arena_reserve(&array, &held_capacity, sizeof *held, *n + 1))
            return false;
        held = array;
        if (!(l = resolve(t, s)))
            return false;
        held[(*n)++] = (struct lh_held){ .lock = l->node,
                                         .stack = s->stack,
                                         .mode = (uint8_t)lh_mode_of(s->how) };
    }
    return true;
}

static bool is_shared(lh_lock node)
{
    const struct lh_lock_info *l = lh_lock_of_node(node);

    return l && l->shared;
}

/* One that processes share is its own class: other processes' requests are to
 * be matched with those for this very lock. */
static uint64_t class_and_site(lh_lock node, uint32_t stack)
{
    struct lh_object object = lh_shared_get(node);
    uint64_t class_key =
        is_shared(node) ? lh_fold(object.inode + UINT64_C(0x6a09e667f3bcc909),
                                  object.offset ^ object.device << 40)
                        : class_of(lh_lock_of_node(node));

    return lh_fold(class_key,
                   lh_stack_site(stack) ^ UINT64_C(0x2d358dccaa6c78a5));
}

static bool involves_shared(const struct lh_request *request)
{
    bool shared = is_shared(request->lock);

    for (size_t i = 0; i < request->nheld; i++)
        shared |= is_shared(request->held[i].lock);
    return shared;
}

/* Requests for shared locks are told apart by their threads, up to a few, and
 * by the forks that they come before. */
static uint64_t kind_among_processes(uint64_t kind, uint32_t thread)
{
    enum { TOLD_APART = 16 };

    return lh_fold(kind + (thread < TOLD_APART ? thread : TOLD_APART),
                   lh_children_count() + UINT64_C(0xbb67ae8584caa73b));
}

/* The same for requests of one kind, in whatever order their locks were taken:
 * kinds.h. */
static uint64_t kind_of(const struct lh_request *request)
{
    uint64_t held_sum = 0;

    for (size_t i = 0; i < request->nheld; i++)
        held_sum +=
            class_and_site(request->held[i].lock, request->held[i].stack);
    return lh_fold(class_and_site(request->lock, request->stack) +
                       request->mode + 2u * request->wait,
                   held_sum ^ UINT64_C(0x8bb84b93962eacc9));
}

/* Is it about locks only? */
static bool is_sure(const struct lh_request *request)
{
    for (size_t i = 0; i < request->nheld; i++)
        if (!is_surely_lock(lh_lock_of_node(request->held[i].lock)))
            return false;
    return is_surely_lock(lh_lock_of_node(request->lock));
}

/* Records a request that is the first of its kind. */
static void record(void *thread, uint32_t serial,
                   const struct lh_request *request)
{
    struct lh_thread *t = thread;
    bool shared = involves_shared(request);
    uint64_t kind;

    if (!lh_news_wants_records() || !is_sure(request))
        return;
    kind = kind_of(request);
    if (shared)
        kind = kind_among_processes(kind, t->number);
    if (!lh_kind_is_new(kind))
        return;
    if (shared)
        lh_children_record_reaped(t);
    lh_news_dependency(serial, request);
}

void lh_request_record_of(struct lh_thread *t, lh_lock lock)
{
    if (lh_news_wants_records())
        lh_order_each_of(lh_state.order, lock, record, t);
}

static uint32_t take_in(struct lh_thread *t, struct lh_slot *slot,
                        uint32_t stack)
{
    struct lh_lock_info *wanted;
    struct lh_request request;
    struct lh_learned learned = { 0 };
    size_t n;

    renew_cache(t);
    if (!slot->stack)
        slot->stack = lh_stack_of_pc(slot->pc);
    if (!gather_held(t, slot, &n) || !(wanted = resolve(t, slot))) {
        lh_state.short_of_memory = true;
        return 0;
    }
    request = (struct lh_request){
        .lock = wanted->node,
        .stack = stack ? stack : slot->stack,
        .mode = (uint8_t)lh_mode_of(slot->how),
        .wait = (uint8_t)lh_wait_of(slot->how),
        .queues = slot->how & LH_HOW_QUEUES,
        .segment = lh_segments_now(lh_state.segments, t->number),
        .held = held,
        .nheld = n,
    };
    lh_state.judged = t;
    if (lh_order_request(lh_state.order, &request, &learned) != 0) {
        lh_state.short_of_memory = true;
        return 0;
    }
    if (!learned.slot)
        return 0;
    renew_cache(t);
    if (learned.is_new || involves_shared(&request))
        record(t, learned.serial, &request);
    return learned.slot;
}

uint32_t lh_detector_request(struct lh_thread *t, struct lh_slot *slot,
                             uint32_t stack)
{
    uint32_t dependency;

    if (lh_state_is_off())
        return 0;
    lh_rawlock_take(&lh_state.lock);
    dependency = take_in(t, slot, stack);
    if (lh_news_wants_records())
        lh_news_open_log();
    lh_news_add_notes(t);
    lh_rawlock_give(&lh_state.lock);
    lh_news_flush(t);
    return dependency;
}
