/* SPDX-License-Identifier: MIT
 *
 * order.h - what was requested while what was held, and the rings therein.
 *
 * The memory of the detector: locks, dependencies (one blocking request made
 * while holding something), their witnesses, and the search for rings of
 * dependencies that can deadlock, each with a grade and reasons.
 *
 * Memory:   from the lh_mem given; about 110 bytes for a dependency on one held
 *           lock together with its edge.
 * Threads:  no locking inside; callers hold the detector's lock.
 * Stack:    under 1 KiB, no recursion: the stack is the target's.
 * Source:   K. Havelund, "Using runtime analysis to guide model checking of
 *           Java programs" (SPIN 2000) for the conditions (distinct threads, no
 *           gate); R. Agarwal, S. Bensalem, et al. for the segments.
 */
#ifndef LH_CORE_ORDER_H
#define LH_CORE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mem.h"
#include "segments.h"

struct lh_order;

/* A lock's number here; 0 is none. Used again some time after its end. */
typedef uint32_t lh_lock;

enum lh_mode {
    LH_EXCLUSIVE,
    LH_SHARED,
    /* Only of a side's lock: not held yet, but the side waits to write it, and
     * readers that come later wait for their turn. */
    LH_QUEUED,
};
enum lh_wait {
    LH_WAIT_BLOCK,     /* waits as long as it takes */
    LH_WAIT_TIMED,     /* gives up by itself */
    LH_WAIT_CONDITION, /* the re-acquisition at the end of a condition wait */
    LH_WAIT_TRIED,     /* only tried, where the program waits when that fails */
};

/* A request that cannot be one side of a possible ring. */
static inline bool lh_wait_is_limited(unsigned wait)
{
    return wait == LH_WAIT_TIMED || wait == LH_WAIT_TRIED;
}

struct lh_held {
    lh_lock lock;
    uint32_t stack; /* where it was taken: the caller's number */
    uint8_t mode;   /* enum lh_mode */
};

struct lh_request {
    lh_lock lock;
    uint32_t stack;
    uint8_t mode;               /* enum lh_mode */
    uint8_t wait;               /* enum lh_wait */
    bool queues;                /* who comes to read this lock waits for those
                                   who wait to write it */
    struct lh_segment segment;  /* who asks, and when */
    const struct lh_held *held; /* oldest first; every lock once */
    size_t nheld;               /* at least 1, but for a writer that queues */
    uint32_t gone;              /* 0; the store's own: deps.h */
};

/* The store itself knows of nothing that has happened. */
enum lh_grade { LH_CONDITIONAL, LH_POSSIBLE, LH_HAPPENED };

enum lh_reason_kind {
    LH_REASON_GATE,        /* sides a and b both hold .lock (0: it has ended) */
    LH_REASON_ONE_THREAD,  /* only .thread was seen in all of them */
    LH_REASON_FEW_THREADS, /* fewer distinct threads (.count) than sides */
    LH_REASON_ORDERED,     /* side a always ends before side b starts */
    LH_REASON_TIMED,       /* side a waits for a limited time only */
    LH_REASON_TRIED,       /* side a was not seen to wait, only to try */
    LH_REASON_UNSEEN_END,  /* .lock, which side a wants, may be two locks */
};

struct lh_reason {
    enum lh_reason_kind kind;
    lh_lock lock;
    uint32_t thread;
    uint32_t count;
    size_t a, b;               /* indices of sides */
    uint32_t stack_a, stack_b; /* where a and b took the gate */
};

/* One dependency of a ring, as seen by the witness chosen for it. */
struct lh_side {
    uint32_t dependency; /* its serial */
    uint32_t slot;       /* as in struct lh_learned */
    lh_lock wants;       /* held by the next side (the last's by the first) */
    lh_lock holds;       /* wanted by the side before */
    uint8_t wants_mode, holds_mode, wait;
    uint32_t wants_stack, holds_stack;
    struct lh_segment segment;
};

struct lh_ring {
    uint32_t id; /* 1 and up, the same for rings that are merged */
    bool is_new; /* first of its id; otherwise a grade that went up */
    enum lh_grade grade;
    size_t nsides;
    const struct lh_side *sides;
    size_t nreasons; /* 0 for LH_POSSIBLE */
    const struct lh_reason *reasons;
};

/* Called during lh_order_request() for each ring that is new or has gone up a
 * grade. What ring points to is valid during the call only. */
typedef void (*lh_ring_fn)(void *ctx, const struct lh_ring *ring);

/* The caller's number for the innermost frame of a stack. */
typedef uint32_t (*lh_site_fn)(void *ctx, uint32_t stack);

/* segments is borrowed and must outlive the object; ctx is given to the two
 * functions. Returns NULL when memory is short. */
struct lh_order *lh_order_new(struct lh_mem mem, struct lh_segments *segments,
                              lh_ring_fn on_ring, lh_site_fn site_of,
                              void *ctx);
void lh_order_free(struct lh_order *o);

/*
 * Adds a lock. class_key names the place where it was born and is equal for
 * locks of one class: rings are merged by classes and sites.
 * Returns 0 and the number, or ENOMEM.
 */
int lh_order_add_lock(struct lh_order *o, uint64_t class_key, lh_lock *lock);

/*
 * Orders of a lock may be learned before it is sure that it is a lock at all
 * (a semaphore that starts at one). No ring goes through it while it is
 * withheld; to admit it judges those that it was kept out of, and may call
 * on_ring.
 */
void lh_order_withhold_lock(struct lh_order *o, lh_lock lock);
void lh_order_admit_lock(struct lh_order *o, lh_lock lock);

/* Calls fn for each dependency that wants or holds a lock, as it was made
 * first. What request points to is valid during the call only. */
typedef void (*lh_request_fn)(void *ctx, uint32_t serial,
                              const struct lh_request *request);
void lh_order_each_of(struct lh_order *o, lh_lock lock, lh_request_fn fn,
                      void *ctx);

/* Says that a lock has ended: no ring can go through it any more. Its number
 * is given out again only after a sweep. */
void lh_order_end_lock(struct lh_order *o, lh_lock lock);

/*
 * Says whether the end of a lock can not be seen: what is taken for one lock
 * may then be two that had the same address one after the other. Rings through
 * it that are judged from now on are conditional.
 */
void lh_order_doubt_lock(struct lh_order *o, lh_lock lock, bool is_doubtful);

/* True when at least half of the locks (and more than a few) have ended: it
 * pays to call lh_order_sweep(), which forgets them and their dependencies.
 * That changes lh_order_epoch(); counts that are not in yet are to be added
 * before. */
bool lh_order_wants_sweep(const struct lh_order *o);
void lh_order_sweep(struct lh_order *o);

struct lh_learned {
    uint32_t slot;    /* handle of the dependency for lh_order_count(), valid
                         until lh_order_epoch() changes */
    uint32_t serial;  /* its number in records: 1 and up, never reused */
    bool is_new;      /* the dependency was not known */
    bool new_witness; /* this thread had not been seen with it */
};

/*
 * A lock whose readers wait behind writers that wait is two: itself and its
 * queue. Who asks to write it has the queue meanwhile, exclusively; who asks to
 * read it asks for the queue as well, shared, even if it reads the lock already
 * (which then is what the writer waits for). Callers never see the queue: a
 * side has LH_QUEUED and the lock.
 *
 * Takes in a request, counts it once, and judges the rings through it when it,
 * or its witness or the witness's segment, is new. Held locks that have ended
 * or are listed twice are left out; when none is left, or the lock itself has
 * ended or is among them, there is nothing to learn: slot and serial are 0.
 * Returns 0, or ENOMEM when it could not be remembered.
 */
int lh_order_request(struct lh_order *o, const struct lh_request *request,
                     struct lh_learned *learned);

/*
 * Where a giant component forms, the search for rings through some requests is
 * put off (graph.h). Settles what was put off so far, and may call on_ring. To
 * be called at the end; while requests come in it happens by itself.
 */
void lh_order_settle(struct lh_order *o);

/* Changes when numbers of dependencies may have been given out anew. */
uint32_t lh_order_epoch(const struct lh_order *o);

/* Adds n to the number of times a dependency was seen. */
void lh_order_count(struct lh_order *o, uint32_t slot, uint64_t n);

struct lh_seen {
    uint64_t times;
    uint32_t nthreads; /* distinct ones; LH_MAX_WITNESSES means that or more */
};
enum { LH_MAX_WITNESSES = 8 };

/* How often the dependency with this serial was seen; zeros if it is gone. */
struct lh_seen lh_order_seen(const struct lh_order *o, uint32_t serial);

struct lh_order_totals {
    uint64_t dependencies;          /* ever learned */
    uint64_t edges;                 /* ever learned */
    uint32_t possible, conditional; /* findings by their present grade */
    bool bounded; /* a search was cut short before it had found any possible
                     ring: rings may be missing */
};
void lh_order_totals(const struct lh_order *o, struct lh_order_totals *t);

/* How many rings were merged into finding id so far. */
uint64_t lh_order_merged(const struct lh_order *o, uint32_t id);

#endif
