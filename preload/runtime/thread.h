/* SPDX-License-Identifier: MIT
 *
 * thread.h - what is kept for each thread of the target, and who is who.
 *
 * TLS holds one pointer (static TLS is cut out of every thread's stack); the
 * state itself is mapped. It stays valid until the thread is gone: destructors
 * of thread-specific data still lock. A joined thread's state is used again;
 * that of a detached one when the kernel no longer knows its tid.
 *
 * Threads:  lh_self belongs to its thread; all else is called with the
 *           detector's lock held unless it says otherwise.
 */
#ifndef LH_RUNTIME_THREAD_H
#define LH_RUNTIME_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/segments.h"
#include "runtime/cache.h"

struct lh_slot;
struct lh_chunk;
struct lh_stack_cache;
struct lh_onces;
struct lh_once_call;
struct lh_finding;

struct lh_thread {
    /* The hot path's line. */
    struct lh_slot *top;   /* the next free slot; top[-1] is always readable */
    struct lh_slot *end;   /* the present chunk is full there */
    struct lh_cache cache; /* of requests made while something is held */
    int32_t tid;
    uint32_t ngone; /* slots that are LH_GONE, about */

    uint32_t number; /* in core/segments.h and in records */
    bool busy;       /* in the slow path: what locks there passes through */
    bool detached;
    bool registered; /* can be found by handle */
    /* Another thread has released a mutex of this one: which it holds, the
     * mutexes are to be asked. Set by anyone, cleared by its own; relaxed: a
     * program that does so has no order anyway. */
    _Atomic bool disowned;
    _Atomic(const void *) condition; /* that it waits on: condcheck.h */
    uint32_t cache_epoch; /* lh_order_epoch() its dependencies belong to */
    uintptr_t stack_low, stack_high; /* 0 while unknown */
    uintptr_t stack_base; /* unwind.c: frames from here on cannot return */
    /* frames.h: where locks lie on this stack, and what is known of frames */
    _Atomic uintptr_t stack_lock, outermost;
    uintptr_t creating; /* the stack pointer of the pthread_create under way */
    uintptr_t under;    /* the creator's at that time; 0: unknown */
    uint32_t creator;
    uintptr_t unloading; /* unload.h: the stack pointer of its dlclose; or 0 */
    pthread_t handle;
    char name[16]; /* by pthread_setname_np; else empty */
    void *(*start)(void *);
    void *argument;
    struct lh_chunk *chunk;       /* the first */
    const struct lh_slot *unsure; /* LH_TAKES that was not got yet: held.c */
    struct lh_stack_cache *stacks;
    struct lh_onces *onces;    /* onces.h; NULL: none known */
    struct lh_once_call *once; /* hooks/once.c: the innermost */
    struct {
        const void *lock, *pc; /* of the try that failed last: semaphore.h */
        const struct lh_slot *top; /* and what was held then */
        const void *below;
    } tried;
    struct {
        uint32_t waits;      /* bumped at the begin and end of a watched wait */
        uint32_t joins;      /* the number of the thread it waits for; or 0 */
        bool concerns;       /* joins, and that could be part of a ring */
        uint32_t njoiners;   /* that wait for its end, and could be part of
                                a ring */
        uint32_t join_stack; /* where it joins */
        uint64_t since_ms;   /* CLOCK_MONOTONIC: of the latest watched wait */
        /* Of a search for a ring: live.c. */
        uint32_t mark;
        struct lh_thread *waiter, *next;
        struct lh_slot *stands;
    } live;
    unsigned notes;              /* to be printed: bits */
    struct lh_finding *findings; /* to be written and printed */
    struct lh_thread *next;      /* of all in use, or of the free ones */
    struct lh_thread **link;     /* what points to this one in use */
};

/* Written by its own thread; NULL until its first hook. */
extern _Thread_local struct lh_thread *lh_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* A fresh state, in the list of those in use; NULL when memory is short. */
struct lh_thread *lh_thread_new(void);

/* For a thread that is gone, or never came to be. */
void lh_thread_release(struct lh_thread *t);

/* Releases the states of detached threads that are gone. */
void lh_thread_sweep(void);

struct lh_thread *lh_thread_first(void); /* then ->next */

/* Others may read the list, of this process, from now on: published.h. */
void lh_thread_publish_all(void);

/* The one with that number, if it has not been released; or NULL. New ones are
 * found first. */
struct lh_thread *lh_thread_numbered(uint32_t number);

/* The thread with that handle that has not been released; or NULL. */
struct lh_thread *lh_thread_find(pthread_t handle);

/* Makes t what lh_thread_find(handle) finds. */
void lh_thread_register(struct lh_thread *t, pthread_t handle);

/* In a forked child: drops all but the caller's. */
void lh_thread_keep_only(struct lh_thread *self);

#endif
