/* SPDX-License-Identifier: MIT
 * ends.c - locks end with the memory that they lie in. */
#include "runtime/ends.h"

#include "core/order.h"
#include "runtime/births.h"
#include "runtime/detector.h"
#include "runtime/guard.h"
#include "runtime/holders.h"
#include "runtime/lockowner.h"
#include "runtime/locks.h"
#include "runtime/misuse.h"
#include "runtime/news.h"
#include "runtime/places.h"
#include "runtime/request.h"
#include "runtime/state.h"

/* Dead locks leave the order store when they are many. */
static void sweep_order(void)
{
    if (!lh_self || !lh_order_wants_sweep(lh_state.order))
        return;
    lh_state.judged = lh_self; /* a sweep settles what was put off */
    for (struct lh_thread *t = lh_thread_first(); t; t = t->next)
        lh_request_keep_counts(t);
    lh_order_sweep(lh_state.order);
    lh_state_new_epoch(); /* caches name dependencies by numbers that are void
                             now */
}

void lh_ends_renew(const void *address)
{
    atomic_fetch_add_explicit(lh_generation_of(address), 1,
                              memory_order_relaxed);
}

void lh_ends_forget(const void *address)
{
    lh_lock node = lh_lock_end((uintptr_t)address);

    lh_ends_renew(address);
    if (!node)
        return;
    lh_order_end_lock(lh_state.order, node);
    sweep_order();
}

void lh_ends_leave(const struct lh_guard *guard)
{
    lh_rawlock_give(&lh_state.lock);
    if (lh_self)
        lh_news_flush(lh_self);
    lh_guard_leave(guard);
}

/* The part of a line that lies in what ends. */
struct part {
    uintptr_t low, high;
};

/* The first part from low on that may have locks; false if there is none. */
static bool next_part(uintptr_t low, uintptr_t high, struct part *p)
{
    p->low = lh_place_next(low, high);
    p->high = (p->low | ((1u << LH_PLACE_LINE) - 1)) + 1;
    if (p->high > high || p->high < p->low)
        p->high = high;
    return p->low < high;
}

static void forget_part(const struct part *p)
{
    const struct lh_lock_info *lock;
    uintptr_t address;
    uint8_t kind;

    while ((lock = lh_lock_within(p->low, p->high)))
        lh_ends_forget((void *)lock->address);
    while ((address = lh_birth_within(p->low, p->high, &kind))) {
        lh_birth_take(address);
        lh_ends_renew((void *)address);
    }
}

void lh_ends_forget_all(uintptr_t low, uintptr_t high)
{
    struct part p = { low, low };

    while (next_part(p.high, high, &p))
        forget_part(&p);
}

/* A lock that is held although its memory goes; by whom, is not known of all
 * at first. */
struct held {
    void *lock;
    uint8_t kind;
    int32_t tid;
    struct lh_holder holder;
};

/* One call tells of no more: one finding for each place is enough. */
enum { MOST_HELD = 4 };

struct all_held {
    size_t n;
    struct held at[MOST_HELD];
};

static void add_held(struct all_held *all, struct held held)
{
    if (all->n < MOST_HELD)
        all->at[all->n++] = held;
}

/* What the caller itself holds is held no more. */
static void take_own(const struct lh_ends_memory *m, struct all_held *all)
{
    struct lh_thread *t = lh_self;
    struct lh_slot *s;

    while (t && (s = lh_held_within(t, m->low, m->high))) {
        if (m->detail && lh_held_is_held(t, s) &&
            lh_lockowner_agrees((uintptr_t)s->lock + (uintptr_t)m->moved,
                                lh_kind_of(s->how), lh_mode_of(s->how), t->tid))
            add_held(all, (struct held){ s->lock,
                                         (uint8_t)lh_kind_of(s->how),
                                         t->tid,
                                         { t->number, lh_holder_stack(s) } });
        lh_held_forget(t, s->lock);
    }
}

static void find_other(const struct lh_ends_memory *m, uintptr_t lock,
                       uint8_t kind, struct all_held *all)
{
    int32_t tid = lh_lockowner_of(lock + (uintptr_t)m->moved, kind);

    if (tid && !(lh_self && tid == lh_self->tid))
        add_held(all, (struct held){ (void *)lock, kind, tid, { 0 } });
}

/* Locks that know their owner lie at multiples of a word. */
static void find_others(const struct lh_ends_memory *m, const struct part *p,
                        struct all_held *all)
{
    for (uintptr_t at = (p->low + 7) & ~(uintptr_t)7; at < p->high; at += 8) {
        const struct lh_lock_info *lock = lh_lock_find(at, false);
        uint8_t kind;

        if (lock)
            find_other(m, at, lock->kind, all);
        else if (lh_birth_within(at, at + 8, &kind) == at)
            find_other(m, at, kind, all);
    }
}

static void find_held(const struct lh_ends_memory *m, struct all_held *all)
{
    struct part p = { m->low, m->low };

    take_own(m, all);
    while (m->detail && next_part(p.high, m->high, &p))
        find_others(m, &p, all);
}

/* What another thread holds, its chain must have as well. */
static void tell(const struct lh_ends_memory *m, struct held *held)
{
    if (!held->holder.number &&
        !lh_holder_find(held->lock, held->tid, &held->holder))
        return;
    lh_misuse_report(&(struct lh_misuse){
        .kind = LH_ENDED_HELD,
        .lock_kind = held->kind,
        .lock = held->lock,
        .pc = m->pc,
        .cfa = m->cfa,
        .detail = m->detail,
        .holder = held->holder.number,
        .holder_stack = held->holder.stack,
    });
}

void lh_ends_memory(const struct lh_ends_memory *m)
{
    struct all_held all = { 0 };
    struct lh_guard guard;

    if (!lh_state.order || lh_state_is_off())
        return;
    lh_state_enter(&guard);
    find_held(m, &all);
    if (all.n) {
        lh_state_leave(&guard);
        for (size_t i = 0; i < all.n; i++)
            tell(m, &all.at[i]);
        lh_state_enter(&guard);
    }
    lh_ends_forget_all(m->low, m->high);
    lh_ends_leave(&guard);
}
