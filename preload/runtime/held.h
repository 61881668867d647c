/* SPDX-License-Identifier: MIT
 *
 * held.h - the chain of acquisitions of each thread, and the hot path.
 *
 * A slot is reserved and written before the lock is looked at (other threads
 * read it, and a signal handler that locks in between finds the chain
 * balanced), and taken away before the lock is released. Slots lie in chunks
 * that never move, so a slot's address is good until it is taken away.
 *
 * The chain key of a slot names the whole context: the thread's segment and
 * every (lock, generation, mode, PC) from the oldest slot to this one. One
 * probe for it in the thread's table (cache.h) tells whether this very request
 * in this very context is known, whatever the depth. A slot remembers where it
 * was found: a loop that takes the same locks compares a line and is done.
 *
 * Threads:  a chain is changed by its own thread only.
 * Signals:  handlers may lock and unlock between any two instructions.
 */
#ifndef LH_RUNTIME_HELD_H
#define LH_RUNTIME_HELD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/lockkind.h"
#include "core/order.h"
#include "runtime/cache.h"
#include "runtime/thread.h"

/*
 * A slot is born as LH_WANTS (or LH_TRIES), becomes LH_HOLDS when the lock was
 * got, and is given back otherwise. LH_TAKES is for a mutex that looked free:
 * its hook does not come back to say that it was got, so whether it is held
 * yet is for the mutex's own owner word to tell. LH_GONE is left of a slot
 * whose lock was released before a newer one: it hands the key below on, and
 * goes when it comes to be the newest. LH_INSIDE is a call that takes a lock of
 * the loader's and gives it back itself, and that may not come back to the hook
 * (hooks/loader.c): the lock's owner word tells whether it is held, and the
 * next event that finds it free drops the slot. LH_BASE marks the slot before a
 * chunk's first, whose key is that of the last slot of the chunk below.
 */
enum lh_slot_state {
    LH_BASE,
    LH_GONE,
    LH_HOLDS,
    LH_TAKES,
    LH_INSIDE, /* from here on the hot path leaves the newest slot to held.c */
    LH_WANTS,
    LH_TRIES
};

/* How it waits: enum lh_wait, or this. A try never waits. */
enum { LH_WAIT_TRY = 7 };

/* Added to LH_HOW: a pthread_once_t or a once_flag, which is held only while
 * the frames of its routine live and its own word says so. */
enum { LH_HOW_RUNS = 1 << 9 };

/* How a lock is asked for: one word, so that it is compared at once. */
#define LH_HOW_WAIT_SHIFT 1
#define LH_HOW_WAIT_MASK 7
#define LH_HOW_KIND_SHIFT 4
#define LH_HOW_KIND_MASK 15
#define LH_HOW(mode, wait, kind)                                               \
    ((uint16_t)((mode) | (wait) << LH_HOW_WAIT_SHIFT |                         \
                (kind) << LH_HOW_KIND_SHIFT))

/* Added to it: the lock's readers wait behind writers that wait (core/order.h).
 * It goes with the lock, whose generation is in the key. */
enum { LH_HOW_QUEUES = 1 << 8 };
_Static_assert(LH_NKINDS <= 16, "a kind fits below LH_HOW_QUEUES");

static inline unsigned lh_mode_of(uint16_t how)
{
    return how & 1; /* enum lh_mode */
}

static inline unsigned lh_wait_of(uint16_t how)
{
    return how >> LH_HOW_WAIT_SHIFT &
           LH_HOW_WAIT_MASK; /* enum lh_wait or LH_WAIT_TRY */
}

static inline unsigned lh_kind_of(uint16_t how)
{
    return how >> LH_HOW_KIND_SHIFT & LH_HOW_KIND_MASK; /* enum lh_kind */
}

/* A writer that waits holds others back, even if it holds nothing. */
static inline bool lh_holds_back(uint16_t how)
{
    return (how & LH_HOW_QUEUES) && lh_mode_of(how) == LH_EXCLUSIVE &&
           lh_wait_of(how) != LH_WAIT_TRY;
}

/* A cache line. What is above `key` names the request: it stays when the slot
 * is taken away, to be recognized by the next one in the same place. */
struct lh_slot {
    void *lock;
    void *pc;            /* the caller of the hook */
    uint64_t below;      /* the key of the slot below */
    uint32_t generation; /* of the lock's address */
    uint16_t how;
    _Atomic uint8_t state;
    uint8_t proof;          /* where its stack was remembered: a hint */
    uint64_t key;           /* of the chain up to this slot */
    struct lh_entry *known; /* where it was found in the cache; may be stale */
    uintptr_t cfa;          /* the stack pointer before the call */
    uint32_t stack;         /* stacks.h; 0: only pc is known */
    uint32_t count; /* recursion, and LH_DISOWNED; 1 in a slot that is free */
};

/* In a slot's count: another thread has released the mutex. Set by that one, so
 * that the hot path does not take the slot for one that it can just give back;
 * whether it is so, the mutex's words tell. */
#define LH_DISOWNED 0x80000000u

/* How many times the slot's lock was taken. */
static inline uint32_t lh_held_depth(const struct lh_slot *slot)
{
    return __atomic_load_n(&slot->count, __ATOMIC_RELAXED) & ~LH_DISOWNED;
}

enum { LH_CHUNK_SLOTS = 62 };

struct lh_chunk {
    struct lh_chunk *below, *above;
    char pad[48];
    struct lh_slot slots[LH_CHUNK_SLOTS + 1]; /* [0] is the base */
    /* What a slot has found when it needs no entry in the cache: held.c. The
     * first one stays empty: it lies where the place behind the last slot is,
     * which thus names no lock and never looks repeated. */
    struct lh_entry own[LH_CHUNK_SLOTS + 1];
};
_Static_assert(offsetof(struct lh_chunk, own) ==
                   offsetof(struct lh_chunk, slots) +
                       (LH_CHUNK_SLOTS + 1) * sizeof(struct lh_slot),
               "the place behind the last slot can be read");

/* Where the hook was called from. Only good in the hook itself. */
#define LH_CALLER() __builtin_return_address(0)
#define LH_CFA() ((uintptr_t)__builtin_dwarf_cfa())

/* Bumped, by any thread under the detector's lock, when an address stops being
 * the lock it was: every key that mentions it dies. Relaxed: a program that
 * lets two threads use a lock while it is destroyed has no order anyway. */
enum { LH_NGENERATIONS = 1 << 14 };
extern _Atomic uint32_t lh_generation[LH_NGENERATIONS]
    __attribute__((visibility("hidden")));

static inline _Atomic uint32_t *lh_generation_of(const void *lock)
{
    uintptr_t a = (uintptr_t)lock >> 3;

    return &lh_generation[(a ^ a >> 14) & (LH_NGENERATIONS - 1)];
}

static inline uint32_t lh_generation_now(const void *lock)
{
    return atomic_load_explicit(lh_generation_of(lock), memory_order_relaxed);
}

/* 64 x 64 -> 128 bits, folded: not commutative in how it is used here.
 * Source: the multiply-and-fold step of W. Yi's wyhash. */
static inline uint64_t lh_fold(uint64_t a, uint64_t b)
{
    unsigned __int128 p = (unsigned __int128)a * b;

    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/* Odd, as the cache wants its probes. */
static inline uint64_t lh_chain_key(uint64_t below, const void *lock,
                                    uint32_t generation, uint16_t how,
                                    const void *pc)
{
    uint64_t what = ((uintptr_t)lock ^ (uint64_t)generation << 40) *
                    UINT64_C(0x9e3779b97f4a7c15);
    uint64_t where =
        (uintptr_t)pc ^ (uint64_t)how << 56 ^ UINT64_C(0xa0761d6478bd642f);

    return (lh_fold(below + what, where) + below) | 1;
}

/* What the hot path leaves: see held.c. */
void lh_held_capture(struct lh_thread *t, struct lh_slot *slot);
struct lh_slot *lh_held_release_slow(void *lock);
void lh_held_pop_gone(struct lh_thread *t);
void lh_held_settle_slow(struct lh_slot *slot, void *lock,
                         enum lh_slot_state state);

/* True if the slot's words, left from its last use, name this very request,
 * and the cache still has it. */
static inline bool lh_held_is_repeated(const struct lh_slot *slot,
                                       const void *lock, uint16_t how,
                                       const void *pc, uint32_t generation)
{
    return slot->lock == lock && slot->pc == pc &&
           slot->below == slot[-1].key && slot->generation == generation &&
           slot->how == how && slot->known->probe == slot->key;
}

/*
 * Before a lock is asked for: reserves and publishes a slot, and learns the
 * request if it is new.
 * Returns it, or NULL when this call is not to be followed.
 */
struct lh_slot *lh_held_push(void *lock, uint16_t how, void *pc, uintptr_t cfa);

/*
 * Asks for a plain mutex that looks free, and gets it: by a try first, and
 * looks into the cache afterwards, as to wait for one while the other comes
 * costs nothing. Should the mutex have been taken in between, the request is
 * learned before it waits, like any other.
 */
int lh_held_lock_free(pthread_mutex_t *mutex, uint16_t how, void *pc,
                      uintptr_t cfa);

/* Counts a hit, where it is one of a dependency; true if the slot's stack is
 * wanted. */
static inline bool lh_held_count(struct lh_entry *known)
{
    uint32_t dependency = known->dependency;

    if (__builtin_expect(dependency == 0, 1))
        return false;
    known->times++;
    return dependency & LH_ENTRY_NESTING;
}

/*
 * Publishes a repeated request for a plain mutex that looks free, and has done
 * with it: LH_TAKES. NULL, and nothing has happened, if it is another case.
 * *nests says that the stack is still to be captured.
 */
static inline struct lh_slot *lh_held_take(pthread_mutex_t *mutex, uint16_t how,
                                           void *pc, uintptr_t cfa, bool *nests)
{
    struct lh_thread *t = lh_self;
    uint32_t generation = lh_generation_now(mutex);
    struct lh_slot *slot;
    uint64_t key;

    if (__builtin_expect(!t, 0))
        return NULL;
    slot = t->top;
    key = slot->key;
    if (__builtin_expect(
            mutex->__data.__lock != 0 ||
                atomic_load_explicit(&slot[-1].state, memory_order_relaxed) >=
                    LH_INSIDE ||
                !lh_held_is_repeated(slot, mutex, how, pc, generation),
            0))
        return NULL;
    t->top = slot + 1;
    atomic_signal_fence(memory_order_seq_cst); /* reserved before written */
    /* Unless a handler that locks has used the slot just before. */
    if (__builtin_expect(slot->key != key, 0)) {
        t->top = slot;
        return NULL;
    }
    slot->cfa = cfa;
    slot->stack = 0;
    atomic_store_explicit(&slot->state, LH_TAKES, memory_order_relaxed);
    *nests = lh_held_count(slot->known);
    return slot;
}

/*
 * As lh_held_push(), for the usual case: the request is what its slot was last
 * used for. NULL, and nothing has happened, if it is another one. Written
 * before it is reserved, and looked at again: held.c, reserve().
 */
static inline __attribute__((always_inline)) struct lh_slot *
lh_held_repeat(void *lock, uint16_t how, void *pc, uintptr_t cfa, bool *nests)
{
    struct lh_thread *t = lh_self;
    uint32_t generation = lh_generation_now(lock);
    struct lh_slot *slot;
    uint64_t key;

    if (__builtin_expect(!t, 0))
        return NULL;
    slot = t->top;
    key = slot->key;
    if (__builtin_expect(
            atomic_load_explicit(&slot[-1].state, memory_order_relaxed) >=
                    LH_INSIDE ||
                !lh_held_is_repeated(slot, lock, how, pc, generation),
            0))
        return NULL;
    slot->cfa = cfa;
    slot->stack = 0;
    atomic_store_explicit(&slot->state, LH_WANTS, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    t->top = slot + 1;
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(slot->key != key || slot->cfa != cfa, 0)) {
        t->top = slot;
        return NULL;
    }
    *nests = lh_held_count(slot->known);
    return slot;
}

/* The same with the stack captured; true if done. */
static inline __attribute__((always_inline)) bool
lh_held_ask(void *lock, uint16_t how, void *pc, uintptr_t cfa)
{
    bool nests = false;
    struct lh_slot *slot = lh_held_repeat(lock, how, pc, cfa, &nests);

    if (slot && nests)
        lh_held_capture(lh_self, slot);
    return slot;
}

/*
 * After the call that lh_held_repeat() was for: got if rc is 0. Returns rc. The
 * hook ends in a jump to this, and keeps no more than the lock over the call.
 */
int lh_held_settle_repeated(void *lock, int rc);

/*
 * After the call: the lock was got (LH_HOLDS, or LH_TAKES for a mutex that may
 * be taken by lh_held_take() from the same place: a handler that interrupts
 * that must not see an old LH_HOLDS), or not (LH_GONE). NULL is allowed.
 */
static inline void lh_held_settle(struct lh_slot *slot, void *lock,
                                  enum lh_slot_state state)
{
    if (__builtin_expect(!slot, 0))
        return;
    if (__builtin_expect(state != LH_GONE && lh_self->top == slot + 1, 1))
        atomic_store_explicit(&slot->state, (uint8_t)state,
                              memory_order_relaxed);
    else
        lh_held_settle_slow(slot, lock, state);
}

/*
 * Before a lock is released: takes its slot away (afterwards another thread
 * may already have freed the lock).
 * Returns what lh_held_restore() needs when the release fails, or NULL: it is
 * not known to be held.
 */
static inline struct lh_slot *lh_held_release(void *lock)
{
    struct lh_thread *t = lh_self;
    struct lh_slot *slot;

    if (__builtin_expect(!t, 0))
        return lh_held_release_slow(lock);
    slot = t->top - 1;
    if (__builtin_expect(slot->lock != lock || slot->count != 1, 0))
        return lh_held_release_slow(lock);
    t->top = slot;
    if (__builtin_expect(atomic_load_explicit(&slot[-1].state,
                                              memory_order_relaxed) == LH_GONE,
                         0))
        lh_held_pop_gone(t);
    return slot;
}

/* The same for the usual case: what was taken last, and once. False, and
 * nothing has happened, if it is another one. */
static inline bool lh_held_give(const void *lock)
{
    struct lh_thread *t = lh_self;
    struct lh_slot *slot;

    if (__builtin_expect(!t, 0))
        return false;
    slot = t->top - 1;
    if (__builtin_expect(
            slot->lock != lock || slot->count != 1 ||
                atomic_load_explicit(&slot[-1].state, memory_order_relaxed) ==
                    LH_GONE,
            0))
        return false;
    t->top = slot;
    return true;
}

/*
 * A GRecMutex and a GRWLock are made of a pthread lock. What is asked for from
 * the library that holds this function, while the request for one of GLib's
 * locks is the newest, is a part of that and not followed.
 */
void lh_held_set_maker(const void *function);

/* The release has failed: the lock is held as before. */
void lh_held_restore(struct lh_slot *slot, void *lock);

/* The chain's root key has changed: computes the others afresh. By the thread
 * itself, with signals blocked. */
void lh_held_renew_keys(struct lh_thread *t);

/* The lock is made anew or destroyed: whatever it was, it is not held now. */
void lh_held_forget(struct lh_thread *t, const void *lock);

/* The thread leaves all its frames: what it was asking for (pthread_exit in a
 * handler that interrupted a lock call), it asks for no more. */
void lh_held_abandon(void);

/*
 * Drops the newest slots of onces whose routine was left by an exception, by
 * pthread_exit or a longjmp: nobody says so. For who asks for a once at cfa.
 */
void lh_held_drop_left(struct lh_thread *t, uintptr_t cfa);

/* The slot of a once whose routine the thread is running at cfa; or NULL. */
struct lh_slot *lh_held_running(struct lh_thread *t, const void *once,
                                uintptr_t cfa);

/* Before the thread gets another tid: what it holds is no longer for the owner
 * words to tell. A once whose routine it runs is not held in a forked child:
 * glibc runs it again for the next one who asks. */
void lh_held_settle_all(struct lh_thread *t);

/* A slot of the thread's own whose lock lies from low on and below high; NULL
 * if there is none. */
struct lh_slot *lh_held_within(struct lh_thread *t, uintptr_t low,
                               uintptr_t high);

/* The newest slot that holds (or, with wants, asks for) the lock; or NULL. */
struct lh_slot *lh_held_find(struct lh_thread *t, const void *lock, bool wants);

/* Is what the slot asked for held? */
bool lh_held_is_held(const struct lh_thread *t, const struct lh_slot *slot);

/* The slots of a thread, oldest first; NULL at the end. */
struct lh_slot *lh_held_first(struct lh_thread *t);
struct lh_slot *lh_held_next(struct lh_thread *t, struct lh_slot *slot);

#endif
