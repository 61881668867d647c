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
    bool provable;                  /* every one lies where `at` says */
    const struct lh_return *frames; /* innermost first; the thread's memory */
    void *pc;
    uintptr_t cfa;
};

/* A return address, and where it lies: in words above cfa - 8. */
struct lh_return {
    uintptr_t pc;
    uint32_t at;
};

/*
 * A stack that was unwound here before, and what proves it the same. The
 * innermost return address is pc itself, and the outermost ones cannot return
 * while the thread lives: neither needs a proof.
 */
struct lh_remembered {
    void *pc;
    uintptr_t cfa;
    uint32_t n;
    _Atomic uint32_t stack; /* 0 while the rest is being changed */
    struct lh_return proof[LH_MAX_FRAMES - 1]; /* makes a kilobyte of it */
    uint64_t pad;
};

/* How many words lie between the return address into a function and that into
 * its caller. Kept as first seen: it only helps to find a set (unwind.c). */
struct lh_extent {
    _Atomic uintptr_t pc; /* written last */
    uint32_t words;
};

enum {
    LH_STACK_WAYS = 4,
    LH_STACK_SETS = 64,
    LH_EXTENTS = 4096,
    LH_GUESSED_FRAMES = 24,
};

struct lh_stack_cache {
    struct lh_remembered known[LH_STACK_SETS * LH_STACK_WAYS];
    struct lh_extent extents[LH_EXTENTS];
    uint8_t next[LH_STACK_SETS];             /* the way to be overwritten */
    struct lh_return unwound[LH_MAX_FRAMES]; /* by the one that goes on */
};

/* True if the words on the stack still are what was remembered. Reads only;
 * may run with signals open. */
static inline bool lh_stack_is_proved(const struct lh_remembered *r,
                                      const void *pc, uintptr_t cfa,
                                      uint32_t *stack)
{
    const uintptr_t *words = (const uintptr_t *)cfa - 1;
    uint32_t number = atomic_load_explicit(&r->stack, memory_order_acquire);

    if (r->pc != pc || r->cfa != cfa || number == 0)
        return false;
    for (const struct lh_return *p = r->proof, *end = p + r->n; p < end; p++)
        if (words[p->at] != p->pc)
            return false;
    /* A signal handler may have put another stack here meanwhile. */
    atomic_signal_fence(memory_order_seq_cst);
    *stack = number;
    return atomic_load_explicit(&r->stack, memory_order_relaxed) == number &&
           r->cfa == cfa;
}

/*
 * The stack known for this place, if its words still prove it; else 0. *hint
 * is where it was found the last time, and receives where it was now.
 */
uint32_t lh_stack_recall(const struct lh_thread *t, const void *pc,
                         uintptr_t cfa, uint8_t *hint);

/* False when this stack has too little room left, or memory is short. */
bool lh_unwind(struct lh_thread *t, void *pc, uintptr_t cfa,
               struct lh_unwound *u);

/* Forgets what is remembered of stacks with frames in modules that are gone, of
 * any thread. */
void lh_unwind_forget_stale(struct lh_thread *t);

/* Keeps an unwound stack's words, to be recalled with its number. */
void lh_unwind_remember(struct lh_thread *t, const struct lh_unwound *u,
                        uint32_t stack);

#endif
