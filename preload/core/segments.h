/* SPDX-License-Identifier: MIT
 *
 * segments.h - which parts of two threads' lives can overlap.
 *
 * A segment is a thread's run between two of its create/join events. It is
 * named by the thread's number and an index that grows at each of those
 * events: the number of the event that began it, counted over all threads. One
 * segment precedes another when a chain of program order, thread creation and
 * join leads from its end to the other's start; two that precede each other in
 * neither direction are parallel.
 *
 * Memory:   about 60 bytes a thread, from the lh_mem given; never freed singly.
 * Threads:  no locking inside; callers hold the detector's lock.
 */
#ifndef LH_CORE_SEGMENTS_H
#define LH_CORE_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mem.h"

struct lh_segments;

struct lh_segment {
    uint32_t thread; /* 1 and up; 0 is no thread */
    uint32_t index;  /* only grows within a thread */
};

enum lh_overlap {
    LH_PARALLEL,
    LH_SAME_THREAD,
    LH_FIRST_PRECEDES,  /* a must end before b starts */
    LH_SECOND_PRECEDES, /* b must end before a starts */
};

/* Returns a new object, or NULL when memory is short. */
struct lh_segments *lh_segments_new(struct lh_mem mem);
void lh_segments_free(struct lh_segments *s);

/*
 * Adds a thread made by creator (0: unknown, as for threads that libc starts;
 * nothing precedes such a thread) and moves the creator to its next segment:
 * what the creator did before precedes the new thread, what it does from now
 * on does not.
 * Returns 0 and the new number, or ENOMEM.
 */
int lh_segments_add(struct lh_segments *s, uint32_t creator, uint32_t *thread);

/*
 * Notes that joiner has joined the ended thread joined, and moves joiner to
 * its next segment, which all of joined precedes. Joining twice or joining
 * oneself changes nothing.
 */
void lh_segments_join(struct lh_segments *s, uint32_t joiner, uint32_t joined);

/*
 * What no event orders may be apart all the same: a process and its parent in
 * the records of both. Segments of which fn says so precede each other, the
 * first the second, for lh_segments_compare().
 */
typedef bool (*lh_apart_fn)(void *ctx, struct lh_segment a,
                            struct lh_segment b);
void lh_segments_keep_apart(struct lh_segments *s, lh_apart_fn fn, void *ctx);

/* The present segment of a thread. */
struct lh_segment lh_segments_now(const struct lh_segments *s, uint32_t thread);

/* Who made a thread and who joined it; 0 when unknown or not yet. */
uint32_t lh_segments_creator(const struct lh_segments *s, uint32_t thread);
uint32_t lh_segments_joiner(const struct lh_segments *s, uint32_t thread);

/*
 * How two segments lie to each other. Exact for create and join in any mix;
 * the search follows a bounded number of events (100 000), beyond which it
 * answers LH_PARALLEL. Segments that overlapped in time take no search.
 */
enum lh_overlap lh_segments_compare(struct lh_segments *s, struct lh_segment a,
                                    struct lh_segment b);

#endif
