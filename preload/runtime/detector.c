/* SPDX-License-Identifier: MIT
 * detector.c - what was seen for the first time is learned. */
#include "runtime/detector.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "core/order.h"
#include "core/segments.h"
#include "runtime/arena.h"
#include "runtime/config.h"
#include "runtime/finding.h"
#include "runtime/guard.h"
#include "runtime/locks.h"
#include "runtime/logfile.h"
#include "runtime/modules.h"
#include "runtime/printer.h"
#include "runtime/rawlock.h"
#include "runtime/real.h"
#include "runtime/record.h"
#include "runtime/sites.h"
#include "runtime/stacks.h"
#include "runtime/sys.h"

/* Everything below is protected by this lock, but for what the constructor
 * sets before there is a second thread. */
static struct lh_rawlock lock;

static struct lh_segments *segments;
static struct lh_order *order;
static uint32_t epoch;      /* mixed into every thread's salt */
static uint64_t nthreads;   /* ever seen */
static long forked_from;    /* 0 unless a forked child */
static bool short_of_memory;
static unsigned told; /* bits: notes[] */
static uint32_t nfindings;
static uint32_t *finding_of_ring; /* ids by the order store's ring ids */
static size_t finding_of_ring_capacity;
static uint32_t *reported; /* serials of dependencies in findings */
static size_t nreported, reported_capacity;
static long pid;
static size_t default_stack_bytes;
static struct lh_guard fork_guard; /* of the thread that forks */

/* A page that the kernel wipes in a child made without the atfork handlers
 * (_Fork, clone, a raw system call): 1 in the process that set it up. */
static uint32_t *alive;
static bool found_something;

/* The held locks of one request; as large as the deepest chain so far. */
static struct lh_held *held;
static size_t held_capacity;

/* The thread whose request the order store is judging. */
static struct lh_thread *judged;

static void start_afresh(void);

void lh_detector_check_process(void)
{
    if (__builtin_expect(alive && *alive == 0, 0))
        start_afresh();
}

static void enter(struct lh_guard *guard)
{
    lh_guard_enter(guard);
    lh_detector_check_process();
    lh_rawlock_take(&lock);
}

static void leave(const struct lh_guard *guard)
{
    lh_rawlock_give(&lock);
    lh_guard_leave(guard);
}

/* ---- segments and salts ---- */

static void renew_salt(struct lh_thread *t)
{
    struct lh_segment s = lh_segments_now(segments, t->number);

    t->salt = lh_fold((uint64_t)s.thread << 32 | s.index,
                      UINT64_C(0xe7037ed1a0b428db)) ^
              (uint64_t)epoch * UINT64_C(0x589965cc75374cc3);
}

static void new_epoch(void)
{
    epoch++;
    for (struct lh_thread *t = lh_thread_first(); t; t = t->next)
        renew_salt(t);
}

void lh_detector_new_epoch(void)
{
    lh_rawlock_take(&lock);
    new_epoch();
    lh_rawlock_give(&lock);
}

/* ---- what goes out ---- */

static bool wants_records(void)
{
    return *lh_config.dir;
}

/* A forked child has no file of its own until it has something to say. */
static void open_log(void)
{
    struct lh_fmt first = { 0 };

    if (!*lh_config.dir || lh_logfile_is_open())
        return;
    if (lh_logfile_open(lh_config.dir, lh_modules_executable()) != 0)
        return;
    lh_record_process(&first, forked_from);
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
enum { NNOTES = sizeof notes / sizeof *notes };

/* What limits the answer and was not said yet; under the lock. */
static void add_notes(struct lh_thread *t)
{
    struct lh_order_totals totals;
    bool due[NNOTES];

    lh_order_totals(order, &totals);
    due[0] = short_of_memory;
    due[1] = totals.bounded;
    due[2] = lh_logfile_take_lost() > 0;
    for (unsigned i = 0; i < NNOTES; i++) {
        if (!due[i] || told & 1u << i)
            continue;
        told |= 1u << i;
        t->notes |= 1u << i;
        if (wants_records())
            lh_record_note(&t->out, notes[i].code, notes[i].text);
    }
}

/* Writes what a thread has gathered; inside the guard, outside the lock. */
static void flush(struct lh_thread *t)
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

/* ---- findings ---- */

static struct lh_thread *thread_numbered(uint32_t number)
{
    for (struct lh_thread *t = lh_thread_first(); t; t = t->next)
        if (t->number == number)
            return t;
    return NULL;
}

static void copy_thread(struct lh_finding_thread *to, uint32_t number)
{
    const struct lh_thread *t = thread_numbered(number);

    to->number = number;
    if (!t)
        return;
    to->tid = t->tid;
    to->start = (void *)t->start;
    memcpy(to->name, t->name, sizeof to->name);
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
        found_something = true;
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
        finding_of_ring[ring->id] = ++nfindings;
    return finding_of_ring[ring->id];
}

static void on_ring(void *ctx, const struct lh_ring *ring)
{
    struct lh_finding *f = lh_finding_new(ring->nsides, ring->nreasons);

    (void)ctx;
    if (!f) {
        short_of_memory = true;
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
        copy_thread(&s->thread, s->side.segment.thread);
        s->seen = lh_order_seen(order, s->side.dependency);
        remember_reported(s->side.dependency);
        if (wants_records()) {
            lh_record_stack(&judged->out, s->side.wants_stack);
            lh_record_stack(&judged->out, s->side.holds_stack);
        }
    }
    for (size_t i = 0; i < ring->nreasons; i++) {
        f->reasons[i].reason = ring->reasons[i];
        if (ring->reasons[i].lock)
            copy_lock(&f->reasons[i].lock, ring->reasons[i].lock);
        if (wants_records() && ring->reasons[i].kind == LH_REASON_GATE) {
            lh_record_stack(&judged->out, ring->reasons[i].stack_a);
            lh_record_stack(&judged->out, ring->reasons[i].stack_b);
        }
    }
    add_finding(judged, f);
}

/* ---- counts ---- */

static void add_count(void *ctx, const struct lh_entry *entry)
{
    uint32_t dependency = entry->dependency & ~LH_ENTRY_NESTING;

    (void)ctx;
    if (dependency && entry->times)
        lh_order_count(order, dependency, entry->times);
}

void lh_detector_spill(void *ctx, const struct lh_entry *entry)
{
    if (!(entry->dependency & ~LH_ENTRY_NESTING) || !entry->times)
        return;
    lh_rawlock_take(&lock);
    if (lh_self->cache_epoch == lh_order_epoch(order))
        add_count(ctx, entry);
    lh_rawlock_give(&lock);
}

/* Numbers of dependencies may mean others now: the cache starts afresh. */
static void renew_cache(struct lh_thread *t)
{
    if (t->cache_epoch == lh_order_epoch(order))
        return;
    t->cache_epoch = lh_order_epoch(order);
    lh_cache_clear(&t->cache);
}

static void keep_counts_of(const struct lh_thread *t)
{
    if (t->cache.entries && t->cache_epoch == lh_order_epoch(order))
        lh_cache_each(&t->cache, add_count, NULL);
}

/* ---- requests ---- */

static uint64_t class_of(const struct lh_lock_info *l)
{
    /* What is born by an init call has that call's stack; a static has its
     * place; what shows up otherwise, the first acquisition's stack. */
    uint64_t kind = l->init_stack ? 1 : lh_module_holds(l->address) ? 2 : 3;

    return lh_fold(kind == 1   ? l->init_stack
                   : kind == 2 ? l->address
                               : l->first_stack,
                   UINT64_C(0x1d8e4e27c47d124f) + kind);
}

static uint8_t subtype_of(const struct lh_slot *slot)
{
    const pthread_mutex_t *mutex = slot->lock;

    return slot->how.kind == LH_KIND_MUTEX
               ? (uint8_t)(mutex->__data.__kind & 3)
               : 0;
}

/* The lock of a slot, with a node in the order store; NULL without memory. */
static struct lh_lock_info *resolve(struct lh_slot *slot, struct lh_fmt *out)
{
    struct lh_lock_info *l = lh_lock_find((uintptr_t)slot->lock, true);
    lh_lock node;

    if (!l)
        return NULL;
    if (!l->node) {
        l->kind = slot->how.kind;
        l->subtype = subtype_of(slot);
        if (!l->init_stack && !l->first_stack)
            l->first_stack = slot->stack;
        if (lh_order_add_lock(order, class_of(l), &node) != 0 ||
            lh_lock_set_node(l, node) != 0)
            return NULL;
    }
    if (wants_records())
        lh_record_lock(out, l);
    return l;
}

static bool gather_held(struct lh_thread *t, struct lh_slot *until, size_t *n)
{
    void *array = held;

    *n = 0;
    for (struct lh_slot *s = lh_held_first(t); s && s != until;
         s = lh_held_next(t, s)) {
        struct lh_lock_info *l;
        if (atomic_load_explicit(&s->state, memory_order_relaxed) != LH_HOLDS)
            continue;
        if (!s->stack)
            s->stack = lh_stack_of_pc(s->pc);
        if (lh_arena_reserve(&array, &held_capacity, sizeof *held, *n + 1))
            return false;
        held = array;
        if (!(l = resolve(s, &t->out)))
            return false;
        held[(*n)++] = (struct lh_held){ .lock = l->node,
                                         .stack = s->stack,
                                         .site = lh_stack_of_pc(s->pc),
                                         .mode = s->how.mode };
    }
    return true;
}

static void record_threads(struct lh_thread *t)
{
    for (struct lh_thread *one = t; one && !one->recorded;
         one = thread_numbered(lh_segments_creator(segments, one->number)))
        lh_record_thread(&t->out, one, segments);
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
    if (!gather_held(t, slot, &n) || !(wanted = resolve(slot, &t->out))) {
        short_of_memory = true;
        return 0;
    }
    request = (struct lh_request){
        .lock = wanted->node,
        .stack = stack ? stack : slot->stack,
        .site = lh_stack_of_pc(slot->pc),
        .mode = slot->how.mode,
        .wait = slot->how.wait,
        .segment = lh_segments_now(segments, t->number),
        .held = held,
        .nheld = n,
    };
    judged = t;
    if (lh_order_request(order, &request, &learned) != 0) {
        short_of_memory = true;
        return 0;
    }
    if (!learned.slot)
        return 0;
    renew_cache(t);
    lh_order_count(order, learned.slot, 1);
    if (wants_records()) {
        record_threads(t);
        if (learned.is_new)
            lh_record_dependency(&t->out, learned.serial, &request);
    }
    return learned.slot;
}

uint32_t lh_detector_request(struct lh_thread *t, struct lh_slot *slot,
                             uint32_t stack)
{
    uint32_t dependency;

    lh_rawlock_take(&lock);
    dependency = take_in(t, slot, stack);
    if (wants_records())
        open_log();
    add_notes(t);
    lh_rawlock_give(&lock);
    flush(t);
    return dependency;
}

/* ---- locks ---- */

/* Dead locks leave the order store when they are many. */
static void sweep_order(void)
{
    if (!lh_order_wants_sweep(order))
        return;
    for (struct lh_thread *t = lh_thread_first(); t; t = t->next)
        keep_counts_of(t);
    lh_order_sweep(order);
}

/* The address is no longer the lock that it was, if it was one. */
static void forget(void *address)
{
    lh_lock node = lh_lock_end((uintptr_t)address);

    atomic_fetch_add_explicit(lh_generation_of(address), 1,
                              memory_order_relaxed);
    if (!node)
        return;
    lh_order_end_lock(order, node);
    sweep_order();
}

void lh_detector_lock_born(void *address, uint8_t kind, void *pc,
                           uintptr_t cfa)
{
    struct lh_thread *t = lh_self ? lh_self : lh_detector_attach();
    struct lh_guard guard;
    struct lh_lock_info *l;
    uint32_t stack;

    if (!t || t->busy)
        return;
    lh_guard_enter(&guard);
    lh_detector_check_process();
    t->busy = true;
    stack = lh_config.stacks == LH_STACKS_PC ? 0
                                             : lh_stack_recall(t, pc, cfa);
    if (!stack)
        stack = lh_config.stacks == LH_STACKS_PC ? lh_stack_of_pc(pc)
                                                 : lh_stack_take(t, pc, cfa);
    lh_rawlock_take(&lock);
    forget(address);
    l = lh_lock_find((uintptr_t)address, true);
    if (l) {
        l->kind = kind;
        l->init_stack = stack;
    } else {
        short_of_memory = true;
    }
    lh_rawlock_give(&lock);
    t->busy = false;
    lh_guard_leave(&guard);
}

void lh_detector_lock_died(void *address)
{
    struct lh_guard guard;

    enter(&guard);
    forget(address);
    leave(&guard);
}

void lh_detector_name_lock(void *address, const char *name)
{
    struct lh_guard guard;
    struct lh_lock_info *l;
    size_t size_bytes = strlen(name) + 1;

    enter(&guard);
    l = lh_lock_find((uintptr_t)address, true);
    if (l && (!l->name || strcmp(l->name, name) != 0)) {
        l->name = lh_arena_small(size_bytes);
        if (l->name)
            memcpy(l->name, name, size_bytes);
        l->recorded = false; /* the next mention records it anew */
    }
    leave(&guard);
}

void lh_detector_rank_lock(void *address, int rank)
{
    struct lh_guard guard;
    struct lh_lock_info *l;

    enter(&guard);
    l = lh_lock_find((uintptr_t)address, true);
    if (l) {
        l->ranked = true;
        l->rank = rank;
        l->recorded = false;
    }
    leave(&guard);
}

/* An assertion is reported once for each place. */
static bool is_new_place(const void *pc)
{
    struct lh_site *site = lh_site_add(pc);

    return site && atomic_fetch_add_explicit(&site->times, 1,
                                             memory_order_relaxed) == 0;
}

static void assertion_failed(struct lh_thread *t, void *address, bool expected,
                             uint32_t stack)
{
    struct lh_lock_info *l = lh_lock_find((uintptr_t)address, true);
    struct lh_finding *f = lh_finding_new(0, 0);

    if (!l || !f) {
        short_of_memory = true;
        return;
    }
    if (!l->init_stack && !l->first_stack)
        l->first_stack = stack;
    f->kind = LH_ASSERTION;
    f->grade = LH_POSSIBLE;
    f->id = ++nfindings;
    f->lock = *l;
    f->stack = stack;
    f->asserted_held = expected;
    copy_thread(&f->thread, t->number);
    if (wants_records()) {
        record_threads(t);
        lh_record_lock(&t->out, l);
        lh_record_stack(&t->out, stack);
    }
    add_finding(t, f);
}

void lh_detector_assert(void *address, bool expected, void *pc, uintptr_t cfa)
{
    struct lh_thread *t = lh_self ? lh_self : lh_detector_attach();
    struct lh_guard guard;
    uint32_t stack;

    if (!t || t->busy || !!lh_held_find(t, address, false) == expected)
        return;
    lh_guard_enter(&guard);
    lh_detector_check_process();
    t->busy = true;
    stack = lh_stack_take(t, pc, cfa);
    lh_rawlock_take(&lock);
    if (is_new_place(pc))
        assertion_failed(t, address, expected, stack);
    if (wants_records())
        open_log();
    lh_rawlock_give(&lock);
    flush(t);
    t->busy = false;
    lh_guard_leave(&guard);
}

/* ---- threads ---- */

/* A state with a number; under the lock. */
static struct lh_thread *new_thread(uint32_t creator)
{
    struct lh_thread *t = lh_thread_new();

    if (!t)
        return NULL;
    if (lh_segments_add(segments, creator, &t->number) != 0) {
        lh_thread_release(t);
        return NULL;
    }
    t->cache_epoch = lh_order_epoch(order);
    nthreads++;
    renew_salt(t);
    return t;
}

/* A thread that nobody announced: libc's own, or one made by clone(2). */
struct lh_thread *lh_detector_attach(void)
{
    struct lh_guard guard;
    struct lh_thread *t;

    if (!order) /* before our constructor: only if it is not the first */
        return NULL;
    enter(&guard);
    t = new_thread(0);
    if (t) {
        t->tid = (int32_t)lh_sys_gettid();
        lh_thread_register(t, pthread_self());
        lh_self = t;
    }
    leave(&guard);
    return t;
}

struct lh_thread *lh_detector_announce(void *(*start)(void *), void *argument,
                                       const pthread_attr_t *attr)
{
    struct lh_thread *self = lh_self ? lh_self : lh_detector_attach();
    struct lh_guard guard;
    struct lh_thread *t = NULL;
    size_t stack_bytes = default_stack_bytes;
    int detached = PTHREAD_CREATE_JOINABLE;

    if (attr) {
        pthread_attr_getdetachstate(attr, &detached);
        pthread_attr_getstacksize(attr, &stack_bytes);
    }
    enter(&guard);
    if (self && (t = new_thread(self->number))) {
        renew_salt(self);
        t->start = start;
        t->argument = argument;
        t->detached = detached == PTHREAD_CREATE_DETACHED;
        t->stack_low = stack_bytes; /* until it begins */
    }
    leave(&guard);
    return t;
}

void lh_detector_cancel(struct lh_thread *t)
{
    struct lh_guard guard;

    enter(&guard);
    lh_thread_release(t);
    leave(&guard);
}

void lh_detector_created(uint32_t number, pthread_t handle)
{
    struct lh_guard guard;
    struct lh_thread *t;

    enter(&guard);
    t = lh_thread_first();
    while (t && t->number != number)
        t = t->next;
    if (t) /* it may have ended already */
        lh_thread_register(t, handle);
    leave(&guard);
}

/* In the new thread, before its start routine. */
void lh_detector_begin(struct lh_thread *t)
{
    struct lh_guard guard;
    pthread_t handle = pthread_self();

    enter(&guard);
    t->tid = (int32_t)lh_sys_gettid();
    /* glibc puts the thread's descriptor, which the handle points to, at the
     * top of its stack; it takes less than a page. */
    t->stack_high = (uintptr_t)handle;
    t->stack_low = t->stack_high + 4096 - t->stack_low;
    lh_thread_register(t, handle);
    lh_self = t;
    leave(&guard);
}

uint32_t lh_detector_number(pthread_t handle)
{
    struct lh_guard guard;
    struct lh_thread *t;
    uint32_t number;

    enter(&guard);
    t = lh_thread_find(handle);
    number = t ? t->number : 0;
    leave(&guard);
    return number;
}

void lh_detector_joined(pthread_t handle, uint32_t number)
{
    struct lh_thread *self = lh_self ? lh_self : lh_detector_attach();
    struct lh_guard guard;
    struct lh_thread *t;

    if (!self || !number)
        return;
    enter(&guard);
    lh_segments_join(segments, self->number, number);
    renew_salt(self);
    t = lh_thread_find(handle);
    if (t && t->number == number) {
        keep_counts_of(t);
        if (t->recorded && wants_records()) /* again, with its joiner */
            lh_record_thread(&self->out, t, segments);
        lh_thread_release(t);
    }
    lh_rawlock_give(&lock);
    flush(self);
    lh_guard_leave(&guard);
}

void lh_detector_detached(pthread_t handle)
{
    struct lh_guard guard;
    struct lh_thread *t;

    enter(&guard);
    t = lh_thread_find(handle);
    if (t)
        t->detached = true;
    leave(&guard);
}

void lh_detector_ending(void)
{
    if (lh_self)
        lh_self->ending = true;
}

void lh_detector_named(pthread_t handle, const char *name)
{
    struct lh_guard guard;
    struct lh_thread *t;

    enter(&guard);
    t = lh_thread_find(handle);
    if (t) {
        memset(t->name, 0, sizeof t->name);
        memcpy(t->name, name, strnlen(name, sizeof t->name - 1));
        t->recorded = false;
    }
    leave(&guard);
}

/* ---- the process ---- */

/* The value behind "NAME=", or NULL: getenv has no environment yet. */
static const char *variable(char **envp, const char *name_equals)
{
    size_t n = strlen(name_equals);

    for (; envp && *envp; envp++)
        if (strncmp(*envp, name_equals, n) == 0)
            return *envp + n;
    return NULL;
}

static size_t default_stack(void)
{
    pthread_attr_t attr;
    size_t size_bytes = 0;

    if (pthread_attr_init(&attr) == 0) {
        pthread_attr_getstacksize(&attr, &size_bytes);
        pthread_attr_destroy(&attr);
    }
    return size_bytes;
}

void lh_detector_start(char **envp)
{
    struct rlimit limit = { 0, 0 };
    struct lh_thread *t;

    lh_config_parse(&lh_config, variable(envp, "LOCKHOUND="));
    lh_arena_set_budget(lh_config.memory_bytes);
    lh_modules_init();
    lh_stderr_remember();
    lh_stacks_warm_up();
    default_stack_bytes = default_stack();
    pid = lh_sys_getpid();
    alive = lh_arena_wiped_by_fork();
    segments = lh_segments_new(lh_arena_mem());
    order = segments ? lh_order_new(lh_arena_mem(), segments, on_ring, NULL)
                     : NULL;
    if (!order || !(t = lh_detector_attach())) {
        order = NULL;
        lh_printer_note("memory= is too small: nothing is watched");
        return;
    }
    getrlimit(RLIMIT_STACK, &limit);
    t->stack_high = (uintptr_t)envp;
    t->stack_low = t->stack_high - (limit.rlim_cur < (1ul << 40)
                                        ? (uintptr_t)limit.rlim_cur
                                        : (uintptr_t)8 << 20);
    if (wants_records())
        open_log();
    if (*lh_config.complaint)
        lh_printer_note(lh_config.complaint);
}

static void write_counts(struct lh_fmt *out)
{
    struct lh_order_totals totals;

    for (size_t i = 0; i < nreported; i++)
        lh_record_count(out, reported[i], lh_order_seen(order, reported[i]));
    lh_order_totals(order, &totals);
    for (uint32_t id = 1; id <= totals.possible + totals.conditional; id++)
        lh_record_merged(out, finding_of_ring[id],
                         lh_order_merged(order, id));
    lh_record_end(out, lh_locks_count(), nthreads, &totals);
}

void lh_detector_finish(void)
{
    struct lh_thread *self = lh_self ? lh_self : lh_detector_attach();
    struct lh_guard guard;

    if (!self || !order)
        return;
    enter(&guard);
    for (struct lh_thread *t = lh_thread_first(); t; t = t->next)
        keep_counts_of(t);
    if (lh_logfile_is_open())
        write_counts(&self->out);
    lh_rawlock_give(&lock);
    flush(self);
    lh_guard_leave(&guard);
}

bool lh_detector_found(void)
{
    return found_something;
}

/* ---- fork ---- */

void lh_detector_before_fork(void)
{
    struct lh_guard guard;

    enter(&guard);
    lh_sites_lock();
    lh_stacks_lock();
    fork_guard = guard;
}

/* In a child: only the caller is left of the threads, and what the others
 * did cannot meet what is done here. */
static void start_afresh(void)
{
    struct lh_thread *self = lh_self;

    if (alive)
        *alive = 1;
    forked_from = pid;
    pid = lh_sys_getpid();
    lh_rawlock_reset(&lock);
    lh_sites_after_fork();
    lh_stacks_after_fork();
    lh_logfile_leave();
    lh_locks_new_era();
    lh_thread_keep_only(self);
    lh_order_free(order);
    lh_segments_free(segments);
    nthreads = nreported = nfindings = 0;
    found_something = false;
    told = 0;
    segments = lh_segments_new(lh_arena_mem());
    order = segments ? lh_order_new(lh_arena_mem(), segments, on_ring, NULL)
                     : NULL;
    if (!self || !order ||
        lh_segments_add(segments, 0, &self->number) != 0)
        return;
    self->tid = (int32_t)lh_sys_gettid();
    self->recorded = false;
    self->findings = NULL;
    self->notes = 0;
    lh_fmt_reset(&self->out);
    lh_cache_clear(&self->cache);
    self->cache_epoch = lh_order_epoch(order);
    nthreads = 1;
    new_epoch();
}

void lh_detector_after_fork(bool child)
{
    struct lh_guard guard = fork_guard;

    if (child) {
        start_afresh();
    } else {
        lh_stacks_unlock();
        lh_sites_unlock();
        lh_rawlock_give(&lock);
    }
    lh_guard_leave(&guard);
}
