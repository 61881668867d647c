/* SPDX-License-Identifier: MIT
 *
 * stacks.h - call stacks: taken, proved to be the same, and kept once.
 *
 * A stack is a number: the node of its innermost frame in a tree whose nodes
 * are (caller's node, PC), each kept once. Frames are resolved to modules when
 * they are first seen, as a module may be gone when they are reported.
 *
 * Taking one costs microseconds, so each thread remembers, for a (PC, stack
 * pointer), where every return address lay and what it was. Comparing those
 * words again, innermost first, proves the stack the same: while the inner
 * ones match, the next frame's place is known to be right.
 *
 * Threads:  the tree has a lock of its own, taken last (after the detector's).
 * Signals:  callers have signals blocked.
 */
#ifndef LH_RUNTIME_STACKS_H
#define LH_RUNTIME_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lh_thread;

enum { LH_MAX_FRAMES = 63 };

struct lh_frame {
    uint32_t module; /* modules.h; 0: unknown */
    uint64_t offset; /* from the module's base; the whole address if unknown */
    uintptr_t pc;
};

struct lh_trace {
    size_t nframes;
    bool partial;   /* one frame, callers unknown */
    bool truncated; /* there were more than LH_MAX_FRAMES */
    struct lh_frame frames[LH_MAX_FRAMES];
};

/* Takes the stack from the hook's caller on: pc returns into it, cfa is its
 * stack pointer. Where the stack is too small to unwind: a partial one.
 * Returns 0 only when memory is short. */
uint32_t lh_stack_take(struct lh_thread *t, void *pc, uintptr_t cfa);

/* A stack of which only the innermost frame is known. */
uint32_t lh_stack_of_pc(const void *pc);

/* The number that stands for the innermost frame alone, for any stack. */
uint32_t lh_stack_site(uint32_t stack);

/* Copies a stack out; an empty trace for number 0. */
void lh_stack_trace(uint32_t stack, struct lh_trace *trace);

/* True once for each stack: the caller writes its record. */
bool lh_stack_claim_record(uint32_t stack);

/*
 * Modules that are not loaded any more are done with, and so are the frames in
 * them: what is loaded in their place has frames of its own. False if there are
 * none.
 */
bool lh_stacks_drop_unloaded(void);

/* Where such a module was, each once; false after the last. */
bool lh_stacks_take_unloaded(uintptr_t *low, uintptr_t *high);

/* True if a frame of the stack was in a module that is gone. */
bool lh_stack_is_stale(uint32_t stack);

/* The module of an address, if it has one, is watched for its end. */
void lh_stacks_know_module(uintptr_t address);

/* In a forked child: nothing is recorded yet, and the lock is free. */
void lh_stacks_after_fork(void);

/* Before and after fork: holds the lock. */
void lh_stacks_lock(void);
void lh_stacks_unlock(void);

/* Unwinds once, so that what it allocates at first use is there. */
void lh_stacks_warm_up(void);

#endif
