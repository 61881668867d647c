/* SPDX-License-Identifier: MIT
 *
 * unwind.h - one thread's return addresses, by a private unwinder.
 *
 * The unwinder is _Unwind_Backtrace of a libgcc linked statically into this
 * library and hidden: it takes no lock and calls no malloc where the C library
 * has _dl_find_object (glibc 2.35), and the target's own unwinder and its
 * exceptions are left alone. It needs about 1.3 KiB of stack.
 *
 * Threads:  everything here belongs to the calling thread.
 */
#ifndef LH_RUNTIME_UNWIND_H
#define LH_RUNTIME_UNWIND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/stacks.h"
#include "runtime/thread.h"

struct lh_unwound {
    size_t n;
    bool truncated;
    bool provable;        /* every word lies where `at` says */
    const uintptr_t *pcs; /* the hook's caller first; in the thread's memory */
    const uint32_t *at;   /* where each lay, in words above cfa - 8 */
    void *pc;
    uintptr_t cfa;
};

/*
 * A stack that was unwound here before, and what proves it the same: pcs[i]
 * lies at[i] words above cfa - 8, for the first n frames. The outermost ones,
 * which cannot return while the thread lives, need no proof.
 */
struct lh_remembered {
    void *pc;
    uintptr_t cfa;
    uint32_t n;
    _Atomic uint32_t stack; /* 0 while the rest is being changed */
    uint32_t at[LH_MAX_FRAMES];
    uintptr_t pcs[LH_MAX_FRAMES];
};

enum { LH_NREMEMBERED = 128 };

struct lh_stack_cache {
    struct lh_remembered known[LH_NREMEMBERED];
    uint32_t at[LH_MAX_FRAMES]; /* of the unwinding that goes on */
    uintptr_t pcs[LH_MAX_FRAMES];
};

static inline struct lh_remembered *
lh_unwind_place(const struct lh_thread *t, const void *pc, uintptr_t cfa)
{
    uint64_t h = ((uintptr_t)pc ^ cfa << 20) * UINT64_C(0x9e3779b97f4a7c15);

    return &t->stacks->known[h >> 57];
}

/* The stack known for this place, if its words still prove it; else 0. Reads
 * only; may run with signals open. */
static inline uint32_t lh_stack_recall(const struct lh_thread *t,
                                       const void *pc, uintptr_t cfa)
{
    const uintptr_t *words = (const uintptr_t *)cfa - 1;
    const struct lh_remembered *r;
    uint32_t stack;

    if (__builtin_expect(!t->stacks, 0))
        return 0;
    r = lh_unwind_place(t, pc, cfa);
    stack = atomic_load_explicit(&r->stack, memory_order_acquire);
    if (__builtin_expect(stack == 0 || r->pc != pc || r->cfa != cfa, 0))
        return 0;
    for (uint32_t i = 0; i < r->n; i++)
        if (__builtin_expect(words[r->at[i]] != r->pcs[i], 0))
            return 0;
    /* A signal handler may have put another stack here meanwhile. */
    atomic_signal_fence(memory_order_seq_cst);
    return __builtin_expect(
               atomic_load_explicit(&r->stack, memory_order_relaxed) == stack &&
                   r->cfa == cfa,
               1)
               ? stack
               : 0;
}

/* False when this stack has too little room left, or memory is short. */
bool lh_unwind(struct lh_thread *t, void *pc, uintptr_t cfa,
               struct lh_unwound *u);

/* Keeps an unwound stack's words, to be recalled with its number. */
void lh_unwind_remember(struct lh_thread *t, const struct lh_unwound *u,
                        uint32_t stack);

#endif
