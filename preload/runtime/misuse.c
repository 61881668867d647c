/* SPDX-License-Identifier: MIT
 * misuse.c - findings about one lock. */
#include "runtime/misuse.h"

#include <stdlib.h>

#include "runtime/config.h"
#include "runtime/detector.h"
#include "runtime/guard.h"
#include "runtime/holders.h"
#include "runtime/kinds.h"
#include "runtime/locks.h"
#include "runtime/news.h"
#include "runtime/stacks.h"
#include "runtime/state.h"
#include "runtime/sys.h"
#include "runtime/unwind.h"

enum { STATUS_HAPPENED = 67 };

static bool has_happened(enum lh_finding_kind kind)
{
    return kind == LH_SELF || kind == LH_ENDLESS || kind == LH_FORKED_HELD;
}

static uint64_t place_of(const struct lh_misuse *m)
{
    return lh_fold((uintptr_t)m->pc, UINT64_C(0xe7037ed1a0b428db) + m->kind);
}

/*
 * What was told lately, by this process: a loop that does it again and again
 * is not to pay for a stack each time. Relaxed: two threads that race here
 * meet at the detector's lock.
 */
enum { NTOLD = 64 };
static _Atomic uint64_t told[NTOLD];

static _Atomic uint64_t *told_of(const struct lh_misuse *m, uint64_t *mark)
{
    uint64_t place = place_of(m);

    *mark = place ^ (uint64_t)lh_state.pid;
    return &told[place % NTOLD];
}

static bool was_told(const struct lh_misuse *m)
{
    uint64_t mark;
    _Atomic uint64_t *last = told_of(m, &mark);

    return atomic_load_explicit(last, memory_order_relaxed) == mark;
}

static void remember_told(const struct lh_misuse *m)
{
    uint64_t mark;
    _Atomic uint64_t *last = told_of(m, &mark);

    atomic_store_explicit(last, mark, memory_order_relaxed);
}

/* Under the detector's lock. */
static void file(struct lh_thread *t, const struct lh_misuse *m, uint32_t stack)
{
    struct lh_lock_info *l = lh_lock_find((uintptr_t)m->lock, true);
    struct lh_lock_info *other =
        m->other ? lh_lock_find((uintptr_t)m->other, true) : NULL;
    struct lh_finding *f = lh_finding_new(0, 0);

    if (!l || !f || (m->other && !other)) {
        lh_state.short_of_memory = true;
        return;
    }
    if (!l->node && !l->recorded)
        l->kind = m->lock_kind;
    if (!l->born)
        l->born = m->holder_stack ? m->holder_stack : stack;
    f->kind = m->kind;
    f->grade = has_happened(m->kind) ? LH_HAPPENED : LH_POSSIBLE;
    f->lock = *l;
    if (other)
        f->other = *other;
    f->stack = stack;
    f->detail = m->detail;
    f->holder.number = m->holder;
    f->holder_stack = m->holder_stack;
    f->thread.number = m->thread ? m->thread : t->number;
    lh_news_misuse(t, f);
}

void lh_misuse_file(struct lh_thread *t, const struct lh_misuse *m)
{
    if (lh_news_wants_records())
        lh_news_open_log();
    if (lh_kind_is_new(place_of(m)))
        file(t, m, m->stack);
}

void lh_misuse_report(const struct lh_misuse *m)
{
    struct lh_thread *t = lh_self ? lh_self : lh_detector_attach();
    struct lh_guard guard;
    uint32_t stack;

    if (!t || t->busy || lh_state_is_off() ||
        (!has_happened(m->kind) && was_told(m)))
        return;
    lh_guard_enter(&guard);
    lh_detector_check_process();
    t->busy = true;
    stack = lh_config.stacks == LH_STACKS_PC ? lh_stack_of_pc(m->pc)
                                             : lh_stack_take(t, m->pc, m->cfa);
    lh_rawlock_take(&lh_state.lock);
    if (lh_kind_is_new(place_of(m)))
        file(t, m, stack);
    remember_told(m);
    if (lh_news_wants_records())
        lh_news_open_log();
    lh_rawlock_give(&lh_state.lock);
    lh_news_flush(t);
    t->busy = false;
    if (has_happened(m->kind))
        lh_misuse_act();
    lh_guard_leave(&guard);
}

bool lh_misuse_destroy_held(void *lock, uint8_t lock_kind, int32_t tid,
                            void *pc, uintptr_t cfa)
{
    struct lh_holder holder;

    if (!lh_self || lh_self->busy || !lh_holder_disown(lock, tid, &holder))
        return false;
    lh_misuse_report(&(struct lh_misuse){
        .kind = LH_ENDED_HELD,
        .lock_kind = lock_kind,
        .lock = lock,
        .pc = pc,
        .cfa = cfa,
        .detail = "destroyed",
        .holder = holder.number,
        .holder_stack = holder.stack,
    });
    return true;
}

void lh_misuse_act(void)
{
    if (lh_config.on_deadlock == LH_ON_DEADLOCK_EXIT)
        lh_sys_exit(lh_config.exit_code ? lh_config.exit_code
                                        : STATUS_HAPPENED);
    if (lh_config.on_deadlock == LH_ON_DEADLOCK_ABORT)
        abort();
}
