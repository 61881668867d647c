/* SPDX-License-Identifier: MIT
 *
 * held.h - the chain of acquisitions of each thread, and the hot path.
 *
 * A slot is reserved and written before the lock is looked at (other threads
 * read it, and a signal handler that locks in between finds the chain
 * balanced), and taken away before the lock is released. Slots lie in chunks
 * that never move, so a slot's address is good until it is taken away.
 *
 * The chain key of a slot names the whole context: every (lock, generation,
 * mode, PC) from the oldest slot to this one. One probe for it in the thread's
 * table (cache.h) tells whether this very request in this very context is
 * known, whatever the depth.
 *
 * Threads:  a chain is changed by its own thread only.
 * Signals:  handlers may lock and unlock between any two instructions.
 */
#ifndef LH_RUNTIME_HELD_H
#define LH_RUNTIME_HELD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/order.h"
#include "runtime/cache.h"
#include "runtime/thread.h"

/* A slot is born as LH_WANTS (or LH_TRIES), becomes LH_HOLDS when the lock was
 * got, and is given back otherwise. LH_BASE marks the slot before a chunk's
 * first, whose key is that of the last slot of the chunk below. */
enum lh_slot_state { LH_BASE, LH_HOLDS, LH_WANTS, LH_TRIES };

/* How it asks: enum lh_wait, or this. A try never waits. */
enum { LH_WAIT_TRY = 3 };

enum lh_kind { LH_KIND_MUTEX, LH_KIND_ANNOTATED };

struct lh_how {
    uint8_t mode; /* enum lh_mode */
    uint8_t wait; /* enum lh_wait or LH_WAIT_TRY */
    uint8_t kind; /* enum lh_kind */
};

struct lh_slot {
    void *lock;
    void *pc;       /* the caller of the hook */
    uintptr_t cfa;  /* the stack pointer before that call */
    uint64_t key;   /* of the chain up to this slot */
    uint32_t stack; /* stacks.h; 0: only pc is known */
    uint32_t count; /* recursion */
    _Atomic uint8_t state;
    struct lh_how how;
};

enum { LH_CHUNK_SLOTS = 63 };

struct lh_chunk {
    struct lh_chunk *below, *above;
    struct lh_slot slots[LH_CHUNK_SLOTS + 1]; /* [0] is the base */
};

/* Where the hook was called from. Only good in the hook itself. */
#define LH_CALLER() __builtin_return_address(0)
#define LH_CFA() ((uintptr_t)__builtin_dwarf_cfa())

/* Bumped, by any thread under the detector's lock, when an address stops being
 * the lock it was: every key that mentions it dies. Relaxed: a program that
 * lets two threads use a lock while it is destroyed has no order anyway. */
enum { LH_NGENERATIONS = 1 << 14 };
extern _Atomic uint32_t lh_generation[LH_NGENERATIONS];

static inline _Atomic uint32_t *lh_generation_of(const void *lock)
{
    uintptr_t a = (uintptr_t)lock >> 3;

    return &lh_generation[(a ^ a >> 14) & (LH_NGENERATIONS - 1)];
}

/* 64 x 64 -> 128 bits, folded: not commutative in how it is used here.
 * Source: the multiply-and-fold step of W. Yi's wyhash. */
static inline uint64_t lh_fold(uint64_t a, uint64_t b)
{
    unsigned __int128 p = (unsigned __int128)a * b;

    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static inline uint64_t lh_chain_key(uint64_t below, const void *lock,
                                    struct lh_how how, const void *pc)
{
    uint64_t generation =
        atomic_load_explicit(lh_generation_of(lock), memory_order_relaxed);
    uint64_t what = ((uintptr_t)lock ^ generation << 40) *
                    UINT64_C(0x9e3779b97f4a7c15);
    uint64_t where = (uintptr_t)pc ^ (uint64_t)how.mode << 60 ^
                     (uint64_t)how.wait << 58 ^ UINT64_C(0xa0761d6478bd642f);

    return lh_fold(below + what, where) + below;
}

/* What the hot path leaves: see held.c. */
struct lh_slot *lh_held_push_slow(void *lock, struct lh_how how, void *pc,
                                  uintptr_t cfa);
void lh_held_learn(struct lh_thread *t, struct lh_slot *slot, uint64_t probe);
void lh_held_capture(struct lh_thread *t, struct lh_slot *slot);
struct lh_slot *lh_held_release_slow(struct lh_thread *t, void *lock);
void lh_held_settle_slow(struct lh_slot *slot, void *lock, bool got);

/* Looks the request up, and learns it if it is new. */
static inline void lh_held_look_up(struct lh_thread *t, struct lh_slot *slot)
{
    uint64_t probe = lh_cache_probe(slot->key, t->salt);
    struct lh_entry *known = lh_cache_find(&t->cache, probe);

    if (__builtin_expect(!known, 0)) {
        lh_held_learn(t, slot, probe);
        return;
    }
    known->times++;
    if (known->dependency & LH_ENTRY_NESTING)
        lh_held_capture(t, slot);
}

/*
 * Before a lock is asked for: reserves and publishes a slot.
 * Returns it, or NULL when this call is not to be followed.
 */
static inline struct lh_slot *lh_held_push(void *lock, struct lh_how how,
                                           void *pc, uintptr_t cfa)
{
    struct lh_thread *t = lh_self;
    struct lh_slot *slot;

    if (__builtin_expect(!t, 0))
        return lh_held_push_slow(lock, how, pc, cfa);
    slot = t->top;
    if (__builtin_expect(slot == t->end, 0) ||
        __builtin_expect(atomic_load_explicit(&slot[-1].state,
                                              memory_order_relaxed) >=
                             LH_WANTS,
                         0))
        return lh_held_push_slow(lock, how, pc, cfa);
    t->top = slot + 1;
    atomic_signal_fence(memory_order_seq_cst); /* reserved before written */
    slot->lock = lock;
    slot->pc = pc;
    slot->cfa = cfa;
    slot->stack = 0;
    slot->count = 1;
    slot->how = how;
    atomic_store_explicit(&slot->state,
                          how.wait == LH_WAIT_TRY ? LH_TRIES : LH_WANTS,
                          memory_order_relaxed);
    slot->key = lh_chain_key(slot[-1].key, lock, how, pc);
    lh_held_look_up(t, slot);
    return slot;
}

/* After the call: the lock was got, or not. NULL is allowed. */
static inline void lh_held_settle(struct lh_slot *slot, void *lock, bool got)
{
    if (__builtin_expect(!slot, 0))
        return;
    if (__builtin_expect(got && lh_self->top == slot + 1, 1))
        atomic_store_explicit(&slot->state, LH_HOLDS, memory_order_relaxed);
    else
        lh_held_settle_slow(slot, lock, got);
}

/*
 * Before a lock is released: takes its slot away (afterwards another thread
 * may already have freed the lock).
 * Returns what lh_held_restore() needs when the release fails, or NULL.
 */
static inline struct lh_slot *lh_held_release(void *lock)
{
    struct lh_thread *t = lh_self;
    struct lh_slot *slot;

    if (__builtin_expect(!t, 0))
        return NULL;
    slot = t->top - 1;
    if (__builtin_expect(slot->lock != lock || slot->count != 1, 0))
        return lh_held_release_slow(t, lock);
    t->top = slot;
    return slot;
}

/* The release has failed: the lock is held as before. */
void lh_held_restore(struct lh_slot *slot, void *lock);

/* The newest slot that holds (or, with wants, asks for) the lock; or NULL. */
struct lh_slot *lh_held_find(struct lh_thread *t, const void *lock,
                             bool wants);

/* The slots of a thread, oldest first; NULL at the end. */
struct lh_slot *lh_held_first(struct lh_thread *t);
struct lh_slot *lh_held_next(struct lh_thread *t, struct lh_slot *slot);

#endif
