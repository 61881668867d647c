/* SPDX-License-Identifier: MIT
 * semaphore.c - which semaphores are locks, and who has taken them. */
#include "runtime/semaphore.h"

#include "core/order.h"
#include "runtime/arena.h"
#include "runtime/config.h"
#include "runtime/detector.h"
#include "runtime/forked.h"
#include "runtime/guard.h"
#include "runtime/locks.h"
#include "runtime/misuse.h"
#include "runtime/news.h"
#include "runtime/real.h"
#include "runtime/request.h"
#include "runtime/sites.h"
#include "runtime/stacks.h"
#include "runtime/state.h"
#include "runtime/sys.h"
#include "runtime/unwind.h"

enum {
    FIRST_CHAINS = 256,
    /* So often a post may come from where the stack shows no way back, before
     * it is taken for a handler's. */
    MOST_UNPROVED = 8,
};

/* Its holder is a thread that only the parent of this process has. */
#define LEFT_BEHIND UINT32_MAX

struct lh_semaphore *_Atomic lh_semaphores_near[1 << LH_LOG2_SEMAPHORES_NEAR];

/* All of them, in chains. Published with release, read with acquire. */
struct table {
    size_t nchains; /* a power of two */
    struct lh_semaphore *_Atomic *chains;
};

static const struct table *_Atomic current;

/* Under the detector's lock. A table that was outgrown stays: a reader may
 * still be in it. So do entries, and one that wanders with an entry into
 * another chain finds nothing. */
static size_t nentries;
static _Atomic uint32_t changes; /* grows with each, after it was made */
static struct lh_semaphore *free_entries;

static size_t index_of(const struct table *all, uintptr_t address)
{
    return address * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (all->nchains - 1);
}

/* The entry found by one that may run while the table is changed. */
static struct lh_semaphore *look_for(const struct table *all, uintptr_t address)
{
    enum { LOOKED_AT = 32 };
    struct lh_semaphore *s = atomic_load_explicit(
        &all->chains[index_of(all, address)], memory_order_acquire);

    for (int i = 0; s && i < LOOKED_AT; i++) {
        if (atomic_load_explicit(&s->address, memory_order_relaxed) == address)
            return s;
        s = atomic_load_explicit(&s->next, memory_order_acquire);
    }
    return NULL;
}

struct lh_semaphore *lh_semaphore_find_far(const void *semaphore)
{
    const struct table *all =
        atomic_load_explicit(&current, memory_order_acquire);
    uintptr_t address = (uintptr_t)semaphore;
    struct lh_semaphore *s = all ? look_for(all, address) : NULL;

    if (s)
        atomic_store_explicit(lh_semaphore_near(semaphore), s,
                              memory_order_release);
    return s;
}

static struct lh_semaphore *_Atomic *chain_of(uintptr_t address)
{
    const struct table *all =
        atomic_load_explicit(&current, memory_order_relaxed);

    return &all->chains[index_of(all, address)];
}

static void note_change(void)
{
    atomic_fetch_add_explicit(&changes, 1, memory_order_release);
}

static void link_entry(struct lh_semaphore *s, struct lh_semaphore *_Atomic *at)
{
    atomic_store_explicit(&s->next,
                          atomic_load_explicit(at, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store_explicit(at, s, memory_order_release);
}

/* Moves every entry into a table of twice the size. */
static void grow(void)
{
    const struct table *old =
        atomic_load_explicit(&current, memory_order_relaxed);
    size_t n = old ? 2 * old->nchains : FIRST_CHAINS;
    char *block = lh_arena_resize(
        NULL, NULL, 0, sizeof *old + n * sizeof(struct lh_semaphore *));
    struct table *all = (struct table *)(void *)block;

    if (!all)
        return;
    all->nchains = n;
    all->chains =
        (struct lh_semaphore * _Atomic *)(void *)(block + sizeof *all);
    for (size_t i = 0; old && i < old->nchains; i++) {
        struct lh_semaphore *s =
            atomic_load_explicit(&old->chains[i], memory_order_relaxed);
        while (s) {
            struct lh_semaphore *next =
                atomic_load_explicit(&s->next, memory_order_relaxed);
            uintptr_t address =
                atomic_load_explicit(&s->address, memory_order_relaxed);
            link_entry(s, &all->chains[index_of(all, address)]);
            s = next;
        }
    }
    atomic_store_explicit(&current, all, memory_order_release);
    note_change();
}

/* Of those that are in the table, whatever a reader may see of it. */
static struct lh_semaphore *find_exactly(uintptr_t address)
{
    struct lh_semaphore *s =
        atomic_load_explicit(chain_of(address), memory_order_relaxed);

    while (s &&
           atomic_load_explicit(&s->address, memory_order_relaxed) != address)
        s = atomic_load_explicit(&s->next, memory_order_relaxed);
    return s;
}

static struct lh_semaphore *add(uintptr_t address, enum lh_semaphore_use use)
{
    struct lh_semaphore *s = free_entries;

    if (s)
        free_entries = atomic_load_explicit(&s->next, memory_order_relaxed);
    else if (!(s = lh_arena_small(sizeof *s)))
        return NULL;
    atomic_store_explicit(&s->use, (uint8_t)use, memory_order_relaxed);
    atomic_store_explicit(&s->unproved, 0, memory_order_relaxed);
    lh_semaphore_set_holder(s, 0);
    atomic_store_explicit(&s->address, address, memory_order_release);
    link_entry(s, chain_of(address));
    note_change();
    nentries++;
    return s;
}

static struct lh_semaphore *find_or_add(uintptr_t address,
                                        enum lh_semaphore_use use)
{
    const struct table *all =
        atomic_load_explicit(&current, memory_order_relaxed);
    struct lh_semaphore *s = NULL;

    if (all)
        s = find_exactly(address);
    if (!all || (!s && nentries >= all->nchains))
        grow();
    if (!s && atomic_load_explicit(&current, memory_order_relaxed))
        s = add(address, use);
    if (!s)
        lh_state.short_of_memory = true;
    return s;
}

struct lh_semaphore *lh_semaphore_meet(sem_t *semaphore, bool takes)
{
    struct lh_guard guard;
    struct lh_semaphore *s;

    if (!lh_self)
        lh_real_ensure();
    if (lh_state_is_off() || !(lh_self ? lh_self : lh_detector_attach()) ||
        lh_self->busy)
        return NULL;
    lh_state_enter(&guard);
    s = find_or_add((uintptr_t)semaphore,
                    takes && lh_semaphore_value(semaphore) == 1
                        ? LH_SEMAPHORE_CANDIDATE
                        : LH_SEMAPHORE_SIGNAL);
    lh_state_leave(&guard);
    return s;
}

/* False if it was something else, as a signal meanwhile. */
static bool becomes(struct lh_semaphore *s, uint8_t from, uint8_t to)
{
    return atomic_compare_exchange_strong_explicit(
        &s->use, &from, to, memory_order_relaxed, memory_order_relaxed);
}

/* Has the stack of this call nothing but calls in it, no signal? What can be
 * recalled was found to be so before. */
static bool is_called(struct lh_thread *t, void *pc, uintptr_t cfa)
{
    struct lh_unwound u;
    uint8_t hint;

    if (lh_config.stacks == LH_STACKS_PC ||
        lh_stack_recall(t, pc, cfa, &hint) != 0)
        return true;
    (void)lh_stack_take(t, pc, cfa);
    return lh_unwind(t, pc, cfa, &u) && u.provable;
}

void lh_semaphore_return(struct lh_semaphore *s, void *semaphore, void *pc,
                         uintptr_t cfa)
{
    struct lh_thread *t = lh_self;
    struct lh_guard guard;
    bool is_proved;

    if (t->busy || lh_state_is_off())
        return;
    lh_guard_enter(&guard);
    lh_detector_check_process();
    t->busy = true;
    is_proved = is_called(t, pc, cfa);
    t->busy = false;
    lh_guard_leave(&guard);
    if (is_proved)
        becomes(s, LH_SEMAPHORE_CANDIDATE, LH_SEMAPHORE_RETURNED);
    else if (atomic_fetch_add_explicit(&s->unproved, 1, memory_order_relaxed) >=
             MOST_UNPROVED)
        lh_semaphore_demote(s, semaphore);
}

void lh_semaphore_confirm(struct lh_semaphore *s, const void *semaphore)
{
    struct lh_thread *t = lh_self;
    struct lh_guard guard;
    struct lh_lock_info *l;

    if (t->busy || lh_state_is_off())
        return;
    lh_state_enter(&guard);
    t->busy = true;
    l = lh_lock_find((uintptr_t)semaphore, false);
    /* Not if it was found to be a signal meanwhile. */
    if (becomes(s, LH_SEMAPHORE_RETURNED, LH_SEMAPHORE_LOCK)) {
        lh_state.judged = t;
        if (lh_news_wants_records())
            lh_news_open_log();
        if (l && l->node) {
            lh_request_record_of(t, l->node);
            lh_order_admit_lock(lh_state.order, l->node);
        }
    }
    lh_rawlock_give(&lh_state.lock);
    lh_news_flush(t);
    t->busy = false;
    lh_guard_leave(&guard);
}

void lh_semaphore_demote(struct lh_semaphore *s, void *semaphore)
{
    if (lh_self->busy)
        return;
    atomic_store_explicit(&s->use, LH_SEMAPHORE_SIGNAL, memory_order_relaxed);
    lh_detector_lock_died(semaphore);
}

/* Takes the entry out; under the lock. */
static void remove_entry(uintptr_t address)
{
    struct lh_semaphore *_Atomic *at = chain_of(address);
    struct lh_semaphore *s;

    while ((s = atomic_load_explicit(at, memory_order_relaxed)) &&
           atomic_load_explicit(&s->address, memory_order_relaxed) != address)
        at = &s->next;
    if (!s)
        return;
    atomic_store_explicit(at,
                          atomic_load_explicit(&s->next, memory_order_relaxed),
                          memory_order_release);
    atomic_store_explicit(&s->address, 0, memory_order_relaxed);
    atomic_store_explicit(&s->next, free_entries, memory_order_relaxed);
    free_entries = s;
    note_change();
    nentries--;
}

/* Most semaphores that are made were never here before. */
void lh_semaphore_forget(const void *semaphore)
{
    uint32_t before = atomic_load_explicit(&changes, memory_order_acquire);
    struct lh_guard guard;

    if (before == 0 || (lh_self && lh_self->busy))
        return;
    if (!lh_semaphore_find(semaphore)) {
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&changes, memory_order_relaxed) == before)
            return;
    }
    lh_state_enter(&guard);
    remove_entry((uintptr_t)semaphore);
    lh_state_leave(&guard);
}

bool lh_semaphore_is_held(const void *semaphore, uint32_t thread)
{
    struct lh_semaphore *s = lh_semaphore_find(semaphore);

    return s && lh_semaphore_use(s) != LH_SEMAPHORE_SIGNAL &&
           lh_semaphore_holder(s) == thread;
}

bool lh_semaphore_is_lock(const void *semaphore)
{
    struct lh_semaphore *s = lh_semaphore_find(semaphore);

    return s && lh_semaphore_use(s) == LH_SEMAPHORE_LOCK;
}

/* sem_init() and sem_open() note there for whom it is. */
static bool is_private(const sem_t *semaphore)
{
    return ((const uint32_t *)(const void *)semaphore)[2] == 0;
}

static uint32_t stack_of(struct lh_slot *slot)
{
    struct lh_guard guard;

    if (!slot || slot->stack)
        return slot ? slot->stack : 0;
    lh_guard_enter(&guard);
    slot->stack = lh_stack_of_pc(slot->pc);
    lh_guard_leave(&guard);
    return slot->stack;
}

/* Who has taken it that will not post it: the caller, or a thread that this
 * process was forked without. A handler can post what its thread waits for:
 * only one that has been used as a lock is believed to be one then. */
static bool is_left(struct lh_semaphore *s, void *semaphore,
                    struct lh_holder *by)
{
    struct lh_thread *t = lh_self;
    uint32_t holder = lh_semaphore_holder(s);

    if (lh_semaphore_use(s) != LH_SEMAPHORE_LOCK &&
        (holder != t->number || lh_sys_catches_signals()))
        return false;
    if (holder != t->number)
        return holder == LEFT_BEHIND && lh_forked_find(semaphore, 0, by);
    *by = (struct lh_holder){ t->number,
                              stack_of(lh_held_find(t, semaphore, false)) };
    return true;
}

/* Threads are counted last: that is slow, and a threading.Condition comes here
 * at each wait. */
void lh_semaphore_check_self(struct lh_semaphore *s, void *semaphore, void *pc,
                             uintptr_t cfa)
{
    struct lh_holder by;

    if (lh_self->busy || !is_private(semaphore) ||
        !is_left(s, semaphore, &by) || !lh_sys_is_only_thread())
        return;
    lh_misuse_report(&(struct lh_misuse){
        .kind = by.number == lh_self->number ? LH_SELF : LH_FORKED_HELD,
        .lock_kind = LH_KIND_SEMAPHORE,
        .lock = semaphore,
        .pc = pc,
        .cfa = cfa,
        .holder = by.number,
        .holder_stack = by.stack,
    });
}

void lh_semaphore_try_failed(const void *semaphore, const void *pc)
{
    struct lh_thread *t = lh_self;

    t->tried.lock = semaphore;
    t->tried.pc = pc;
    t->tried.top = t->top;
    t->tried.below = t->top[-1].lock;
}

void lh_semaphore_waits(const void *semaphore)
{
    struct lh_thread *t = lh_self;
    struct lh_guard guard;
    struct lh_site *site;

    if (t->tried.lock != semaphore)
        return;
    t->tried.lock = NULL;
    if (t->tried.top != t->top || t->tried.below != t->top[-1].lock ||
        lh_semaphore_place_waits(t->tried.pc) || t->busy)
        return;
    lh_guard_enter(&guard);
    lh_detector_check_process();
    site = lh_site_add(t->tried.pc);
    if (site)
        atomic_store_explicit(&site->waits, true, memory_order_relaxed);
    lh_guard_leave(&guard);
}

bool lh_semaphore_place_waits(const void *pc)
{
    struct lh_site *site = lh_site_find(pc);

    return site && atomic_load_explicit(&site->waits, memory_order_relaxed);
}

void lh_semaphores_after_fork(uint32_t was, uint32_t is)
{
    const struct table *all =
        atomic_load_explicit(&current, memory_order_relaxed);

    for (size_t i = 0; all && i < all->nchains; i++) {
        struct lh_semaphore *s =
            atomic_load_explicit(&all->chains[i], memory_order_relaxed);
        for (; s; s = atomic_load_explicit(&s->next, memory_order_relaxed)) {
            uint32_t holder = lh_semaphore_holder(s);
            if (holder)
                lh_semaphore_set_holder(s, holder == was ? is : LEFT_BEHIND);
        }
    }
}
