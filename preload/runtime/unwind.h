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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lh_thread;

struct lh_unwound {
    size_t n;
    bool truncated;
    bool provable;         /* every word lies where `at` says */
    const uintptr_t *pcs;  /* the hook's caller first; in the thread's memory */
    const uint32_t *at;    /* where each lay, in words above cfa - 8 */
    void *pc;
    uintptr_t cfa;
};

/* False when this stack has too little room left, or memory is short. */
bool lh_unwind(struct lh_thread *t, void *pc, uintptr_t cfa,
               struct lh_unwound *u);

/* Keeps an unwound stack's words, to be recalled with its number. */
void lh_unwind_remember(struct lh_thread *t, const struct lh_unwound *u,
                        uint32_t stack);

#endif
