/* SPDX-License-Identifier: MIT
 *
 * segments.c - which parts of two threads' lives can overlap.
 *
 * Every creation and join is an event with a number, and a segment's index is
 * the number of the event that began it. So indices are moments: a search for
 * a chain of events from one segment to another looks only at those between,
 * and segments that overlapped in time need none.
 */
#include "segments.h"

#include <errno.h>

#include "array.h"

enum { MAX_STEPS = 100000 };

struct thread {
    uint32_t creator, joiner;  /* 0: none */
    uint32_t born, joined;     /* events; 0: not yet */
    uint32_t first_own;        /* the first event that it caused, or 0 */
    uint32_t now;              /* index of the present segment */
    uint32_t stamp;            /* the search that the rest belongs to */
    uint32_t reached, scanned; /* follows the start from this event on; which
                                  of its events were looked at */
    uint32_t wanted_before;    /* reached before this event, the goal is too */
};

struct event {
    uint32_t next_own; /* the next event caused by the same thread, or 0 */
    uint32_t subject;  /* the thread that was created or joined */
};

struct lh_segments {
    struct lh_mem mem;
    struct thread *threads; /* [0] is none */
    size_t thread_capacity;
    uint32_t nthreads;
    struct event *events; /* [0] is none; room for two a thread */
    size_t event_capacity;
    uint32_t nevents;
    uint32_t *pending; /* room for every thread once */
    size_t pending_capacity;
    uint32_t npending;
    uint32_t stamp;
    lh_apart_fn are_apart; /* or NULL */
    void *ctx;
};

struct lh_segments *lh_segments_new(struct lh_mem mem)
{
    struct lh_segments *s = mem.resize(mem.ctx, NULL, 0, sizeof *s);
    if (s)
        s->mem = mem;
    return s;
}

void lh_segments_free(struct lh_segments *s)
{
    if (!s)
        return;
    struct lh_mem mem = s->mem;
    lh_array_free(mem, s->threads, s->thread_capacity, sizeof *s->threads);
    lh_array_free(mem, s->events, s->event_capacity, sizeof *s->events);
    lh_array_free(mem, s->pending, s->pending_capacity, sizeof *s->pending);
    (void)mem.resize(mem.ctx, s, sizeof *s, 0);
}

static bool is_thread(const struct lh_segments *s, uint32_t thread)
{
    return thread != 0 && thread <= s->nthreads;
}

/* Room for one more thread, its creation, its join, and its turn in a search:
 * nothing later can fail. */
static int reserve(struct lh_segments *s)
{
    size_t n = (size_t)s->nthreads + 1;
    if (n >= UINT32_C(1) << 30)
        return ENOMEM;
    if (lh_array_reserve(s->mem, &s->threads, &s->thread_capacity,
                         sizeof *s->threads, n + 1) != 0 ||
        lh_array_reserve(s->mem, &s->events, &s->event_capacity,
                         sizeof *s->events, 2 * n + 1) != 0)
        return ENOMEM;
    return lh_array_reserve(s->mem, &s->pending, &s->pending_capacity,
                            sizeof *s->pending, n);
}

/* Appends an event caused by a thread (0: an unknown one), whose next segment
 * begins with it. */
static uint32_t add_event(struct lh_segments *s, uint32_t owner,
                          uint32_t subject)
{
    uint32_t event = ++s->nevents;
    s->events[event] = (struct event){ .subject = subject };
    if (!owner)
        return event;
    struct thread *t = &s->threads[owner];
    if (t->first_own)
        s->events[t->now].next_own = event;
    else
        t->first_own = event;
    t->now = event;
    return event;
}

int lh_segments_add(struct lh_segments *s, uint32_t creator, uint32_t *thread)
{
    if (reserve(s) != 0)
        return ENOMEM;
    if (!is_thread(s, creator))
        creator = 0;
    uint32_t new = ++s->nthreads;
    uint32_t event = add_event(s, creator, new);
    s->threads[new] = (struct thread){
        .creator = creator,
        .born = event,
        .now = event,
    };
    *thread = new;
    return 0;
}

void lh_segments_join(struct lh_segments *s, uint32_t joiner, uint32_t joined)
{
    if (!is_thread(s, joiner) || !is_thread(s, joined) || joiner == joined ||
        s->threads[joined].joined)
        return;
    s->threads[joined].joined = add_event(s, joiner, joined);
    s->threads[joined].joiner = joiner;
}

void lh_segments_keep_apart(struct lh_segments *s, lh_apart_fn fn, void *ctx)
{
    s->are_apart = fn;
    s->ctx = ctx;
}

struct lh_segment lh_segments_now(const struct lh_segments *s, uint32_t thread)
{
    struct lh_segment none = { 0, 0 };
    if (!is_thread(s, thread))
        return none;
    return (struct lh_segment){ thread, s->threads[thread].now };
}

uint32_t lh_segments_creator(const struct lh_segments *s, uint32_t thread)
{
    return is_thread(s, thread) ? s->threads[thread].creator : 0;
}

uint32_t lh_segments_joiner(const struct lh_segments *s, uint32_t thread)
{
    return is_thread(s, thread) ? s->threads[thread].joiner : 0;
}

/* The first event of a thread after the one that began a segment, or 0. */
static uint32_t next_event(const struct lh_segments *s, uint32_t thread,
                           uint32_t index)
{
    const struct thread *t = &s->threads[thread];
    return index == t->born ? t->first_own : s->events[index].next_own;
}

/* The event that ended a segment, or UINT32_MAX. */
static uint32_t end_of(const struct lh_segments *s, struct lh_segment a)
{
    uint32_t end = next_event(s, a.thread, a.index);
    uint32_t joined = s->threads[a.thread].joined;
    if (!end || (joined && joined < end))
        end = joined;
    return end ? end : UINT32_MAX;
}

/* A thread's record, made ready for the present search. */
static struct thread *fresh(struct lh_segments *s, uint32_t thread)
{
    struct thread *t = &s->threads[thread];
    if (t->stamp != s->stamp) {
        t->stamp = s->stamp;
        t->reached = t->scanned = UINT32_MAX;
        t->wanted_before = 0;
    }
    return t;
}

static void new_search(struct lh_segments *s)
{
    s->npending = 0;
    if (++s->stamp != 0)
        return;
    for (uint32_t i = 1; i <= s->nthreads; i++)
        s->threads[i].stamp = 0;
    s->stamp = 1;
}

/* Notes that a thread follows the start from an event on, and will be looked
 * at for it. */
static void reach(struct lh_segments *s, uint32_t thread, uint32_t event)
{
    struct thread *t = fresh(s, thread);
    if (event >= t->reached)
        return;
    bool is_pending = t->reached < t->scanned;
    t->reached = event;
    if (!is_pending)
        s->pending[s->npending++] = thread;
}

/* Marks the goal and, up the chain of creators, what it follows. */
static void mark_goal(struct lh_segments *s, struct lh_segment goal,
                      uint32_t start, int *steps)
{
    uint32_t before = goal.index + 1;
    for (uint32_t thread = goal.thread; thread && before > start;
         thread = s->threads[thread].creator) {
        struct thread *t = fresh(s, thread);
        t->wanted_before = before;
        before = t->born;
        if (--*steps <= 0)
            break;
    }
}

/* Goes on from one thread to its joiner and to the threads that it made. */
static void follow(struct lh_segments *s, uint32_t thread, uint32_t last,
                   int *steps)
{
    struct thread *t = &s->threads[thread];
    uint32_t from = t->reached, until = t->scanned;
    t->scanned = from;
    if (t->joined && t->joined <= last)
        reach(s, t->joiner, t->joined);
    if (until > last)
        until = last + 1;
    uint32_t event = next_event(s, thread, from);
    for (; event && event < until; event = s->events[event].next_own) {
        uint32_t subject = s->events[event].subject;
        if (s->threads[subject].born == event)
            reach(s, subject, event);
        if (--*steps <= 0)
            return;
    }
}

/* Looks for a chain of events from the end of a to the start of b. */
static bool precedes(struct lh_segments *s, struct lh_segment a,
                     struct lh_segment b)
{
    if (end_of(s, a) > b.index)
        return false;
    int steps = MAX_STEPS;
    new_search(s);
    mark_goal(s, b, a.index, &steps);
    reach(s, a.thread, a.index);
    while (s->npending > 0 && steps > 0) {
        uint32_t thread = s->pending[--s->npending];
        if (s->threads[thread].reached < s->threads[thread].wanted_before)
            return true;
        follow(s, thread, b.index, &steps);
        steps--;
    }
    return false;
}

static bool is_segment(const struct lh_segments *s, struct lh_segment a)
{
    return is_thread(s, a.thread) && a.index >= s->threads[a.thread].born &&
           a.index <= s->threads[a.thread].now;
}

enum lh_overlap lh_segments_compare(struct lh_segments *s, struct lh_segment a,
                                    struct lh_segment b)
{
    if (a.thread == b.thread)
        return LH_SAME_THREAD;
    if (!is_segment(s, a) || !is_segment(s, b))
        return LH_PARALLEL;
    if (precedes(s, a, b) || (s->are_apart && s->are_apart(s->ctx, a, b)))
        return LH_FIRST_PRECEDES;
    if (precedes(s, b, a))
        return LH_SECOND_PRECEDES;
    return LH_PARALLEL;
}
