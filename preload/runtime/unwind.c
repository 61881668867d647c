/* SPDX-License-Identifier: MIT
 * unwind.c - one thread's return addresses, by a private unwinder. */
#include "runtime/unwind.h"

#include <stdatomic.h>
#include <string.h>
#include <unwind.h>

#include "runtime/arena.h"
#include "runtime/stacks.h"
#include "runtime/sys.h"
#include "runtime/thread.h"

/* What the unwinder, its callback and the slow path around it may use. */
enum { ROOM_BYTES = 6 * 1024 };

enum { NREMEMBERED = 128 };

struct remembered {
    void *pc;
    uintptr_t cfa;
    uint32_t n;
    _Atomic uint32_t stack; /* 0 while the rest is being changed */
    uint32_t at[LH_MAX_FRAMES];
    uintptr_t pcs[LH_MAX_FRAMES];
};

struct lh_stack_cache {
    struct remembered known[NREMEMBERED];
    uint32_t at[LH_MAX_FRAMES]; /* of the unwinding that goes on */
    uintptr_t pcs[LH_MAX_FRAMES];
};

static struct remembered *place_of(const struct lh_thread *t, const void *pc,
                                   uintptr_t cfa)
{
    uint64_t h = ((uintptr_t)pc ^ cfa << 20) * UINT64_C(0x9e3779b97f4a7c15);

    return &t->stacks->known[h >> 57];
}

uint32_t lh_stack_recall(const struct lh_thread *t, const void *pc,
                         uintptr_t cfa)
{
    const struct remembered *r;
    const uintptr_t *words = (const uintptr_t *)cfa - 1;
    uint32_t stack;

    if (!t->stacks)
        return 0;
    r = place_of(t, pc, cfa);
    stack = atomic_load_explicit(&r->stack, memory_order_acquire);
    if (stack == 0 || r->pc != pc || r->cfa != cfa)
        return 0;
    for (uint32_t i = 0; i < r->n; i++)
        if (words[r->at[i]] != r->pcs[i])
            return 0;
    /* A handler may have put another stack here meanwhile. */
    atomic_signal_fence(memory_order_seq_cst);
    return atomic_load_explicit(&r->stack, memory_order_relaxed) == stack &&
                   r->pc == pc && r->cfa == cfa
               ? stack
               : 0;
}

static bool has_room(const struct lh_thread *t)
{
    uintptr_t sp = (uintptr_t)__builtin_frame_address(0);

    if (t->stack_low && sp > t->stack_low && sp <= t->stack_high)
        return sp - t->stack_low > ROOM_BYTES;
    /* A signal's own stack, or a coroutine's. */
    return lh_sys_altstack_left(sp) > ROOM_BYTES;
}

struct walk {
    struct lh_unwound *u;
    struct lh_stack_cache *to;
    bool inside; /* the hook's caller was reached */
};

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context,
                                    void *walk_ptr)
{
    struct walk *w = walk_ptr;
    uintptr_t pc = _Unwind_GetIP(context);
    /* The stack pointer in this frame, just above its return address. */
    uintptr_t sp = _Unwind_GetCFA(context);
    uintptr_t at = (sp - w->u->cfa) / sizeof(uintptr_t);

    if (!w->inside) {
        if (sp < w->u->cfa)
            return _URC_NO_REASON;
        if (sp > w->u->cfa || pc != (uintptr_t)w->u->pc)
            return _URC_NORMAL_STOP; /* overshot: cannot be trusted */
        w->inside = true;
    }
    if (pc == 0)
        return _URC_NORMAL_STOP;
    if (w->u->n == LH_MAX_FRAMES) {
        w->u->truncated = true;
        return _URC_NORMAL_STOP;
    }
    if (sp < w->u->cfa || at > UINT32_MAX ||
        ((const uintptr_t *)sp)[-1] != pc)
        w->u->provable = false; /* a signal frame, or another stack */
    w->to->at[w->u->n] = (uint32_t)at;
    w->to->pcs[w->u->n++] = pc;
    return _URC_NO_REASON;
}

bool lh_unwind(struct lh_thread *t, void *pc, uintptr_t cfa,
               struct lh_unwound *u)
{
    struct walk w = { .u = u };

    if (!has_room(t))
        return false;
    if (!t->stacks)
        t->stacks = lh_arena_resize(NULL, NULL, 0, sizeof *t->stacks);
    if (!t->stacks)
        return false;
    *u = (struct lh_unwound){ .provable = true, .pc = pc, .cfa = cfa };
    w.to = t->stacks;
    _Unwind_Backtrace(on_frame, &w);
    u->pcs = t->stacks->pcs;
    u->at = t->stacks->at;
    return u->n > 0;
}

void lh_unwind_remember(struct lh_thread *t, const struct lh_unwound *u,
                        uint32_t stack)
{
    struct remembered *r = place_of(t, u->pc, u->cfa);

    if (!u->provable || stack == 0)
        return;
    atomic_store_explicit(&r->stack, 0, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    r->pc = u->pc;
    r->cfa = u->cfa;
    r->n = (uint32_t)u->n;
    memcpy(r->at, u->at, u->n * sizeof *u->at);
    memcpy(r->pcs, u->pcs, u->n * sizeof *u->pcs);
    atomic_store_explicit(&r->stack, stack, memory_order_release);
}

void lh_stack_cache_free(struct lh_thread *t)
{
    if (t->stacks)
        lh_arena_resize(NULL, t->stacks, sizeof *t->stacks, 0);
    t->stacks = NULL;
}

static _Unwind_Reason_Code stop(struct _Unwind_Context *context, void *arg)
{
    (void)context;
    (void)arg;
    return _URC_NORMAL_STOP;
}

void lh_stacks_warm_up(void)
{
    _Unwind_Backtrace(stop, NULL);
}
