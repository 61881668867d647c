/* SPDX-License-Identifier: MIT
 * holders.c - which thread holds a lock, by the threads' own chains. */
#include "runtime/holders.h"

#include "runtime/detector.h"
#include "runtime/held.h"
#include "runtime/stacks.h"
#include "runtime/state.h"
#include "runtime/sys.h"
#include "runtime/thread.h"

uint32_t lh_holder_stack(const struct lh_slot *slot)
{
    uint32_t stack = __atomic_load_n(&slot->stack, __ATOMIC_RELAXED);

    return stack ? stack : lh_stack_of_pc(slot->pc);
}

uint32_t lh_holder_own_stack(const struct lh_slot *slot)
{
    struct lh_guard guard;
    uint32_t stack = slot->stack;

    if (stack || lh_self->busy)
        return stack;
    lh_guard_enter(&guard);
    lh_detector_check_process();
    stack = lh_stack_of_pc(slot->pc);
    lh_guard_leave(&guard);
    return stack;
}

static bool is_held(const struct lh_slot *slot)
{
    uint8_t state = atomic_load_explicit(&slot->state, memory_order_relaxed);

    return state == LH_HOLDS || state == LH_TAKES;
}

/* Chunks are never given back while their thread is in the list. */
void lh_holder_walk(struct lh_thread *t,
                    bool (*take)(void *ctx, struct lh_thread *t,
                                 struct lh_slot *slot),
                    void *ctx)
{
    const struct lh_slot *top = __atomic_load_n(&t->top, __ATOMIC_RELAXED);

    for (struct lh_chunk *c = t->chunk; c;
         c = __atomic_load_n(&c->above, __ATOMIC_RELAXED)) {
        const struct lh_slot *end = c->slots + LH_CHUNK_SLOTS + 1;
        for (struct lh_slot *s = c->slots + 1; s != end; s++)
            if (s == top || !take(ctx, t, s))
                return;
        if (top == end)
            return;
    }
}

struct search {
    const void *lock;
    struct lh_slot *found;
};

static bool matches(void *ctx, struct lh_thread *t, struct lh_slot *slot)
{
    struct search *search = ctx;

    (void)t;
    if (__atomic_load_n(&slot->lock, __ATOMIC_RELAXED) == search->lock &&
        slot->generation == lh_generation_now(search->lock) && is_held(slot))
        search->found = slot;
    return !search->found;
}

static bool waits(void *ctx, struct lh_thread *t, struct lh_slot *slot)
{
    const struct lh_slot **found = ctx;

    (void)t;
    if (atomic_load_explicit(&slot->state, memory_order_relaxed) == LH_WANTS &&
        lh_wait_of(slot->how) == LH_WAIT_CONDITION)
        *found = slot;
    return true;
}

const struct lh_slot *lh_holder_wait(struct lh_thread *t)
{
    const struct lh_slot *found = NULL;

    lh_holder_walk(t, waits, &found);
    return found;
}

static bool find(const void *lock, int32_t tid, struct lh_holder *holder,
                 bool disown)
{
    struct search search = { .lock = lock };
    struct lh_guard guard;

    *holder = (struct lh_holder){ 0 };
    if (lh_state_is_off())
        return false;
    lh_state_enter(&guard);
    for (struct lh_thread *t = lh_thread_first(); t && !search.found;
         t = t->next) {
        if (tid && t->tid != tid)
            continue;
        lh_holder_walk(t, matches, &search);
        if (!tid && !search.found)
            continue;
        holder->number = t->number;
        if (search.found)
            holder->stack = lh_holder_stack(search.found);
        if (disown && search.found)
            __atomic_fetch_or(&search.found->count, LH_DISOWNED,
                              __ATOMIC_RELAXED);
        if (disown)
            atomic_store_explicit(&t->disowned, true, memory_order_relaxed);
    }
    lh_state_leave(&guard);
    return search.found;
}

bool lh_holder_find(const void *lock, int32_t tid, struct lh_holder *holder)
{
    return find(lock, tid, holder, false);
}

bool lh_holder_disown(const void *lock, int32_t tid, struct lh_holder *holder)
{
    return find(lock, tid, holder, true);
}

bool lh_holder_is_here(int32_t tid)
{
    struct lh_guard guard;
    bool exists;

    lh_guard_enter(&guard);
    exists = lh_sys_thread_exists(lh_sys_getpid(), tid);
    lh_guard_leave(&guard);
    return exists;
}

struct each {
    void (*take)(void *ctx, struct lh_thread *t, const struct lh_slot *slot);
    void *ctx;
};

static bool pass_on(void *ctx, struct lh_thread *t, struct lh_slot *slot)
{
    const struct each *each = ctx;

    if (slot->lock && is_held(slot))
        each->take(each->ctx, t, slot);
    return true;
}

void lh_holder_each(struct lh_thread *t,
                    void (*take)(void *ctx, struct lh_thread *t,
                                 const struct lh_slot *slot),
                    void *ctx)
{
    lh_holder_walk(t, pass_on, &(struct each){ take, ctx });
}
