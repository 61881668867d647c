/* SPDX-License-Identifier: MIT
 *
 * ord/event.h - a flag that threads wait for.
 *
 * Setting it releases all who wait, and all who come until it is cleared. Who
 * waits at that moment is released even if it is cleared at once: a set and a
 * clear in a row are a pulse that nobody misses.
 *
 *     static struct ord_event ready = ORD_EVENT_INIT;
 *
 * What a thread did before it set the event is seen by those it releases.
 * Allocates nothing. Any thread may call anything; destroy comes last.
 * Deadlines are instants of ord_now(). Returns 0 or an errno number:
 *
 *     ETIMEDOUT  it was not set by the deadline
 *     EBUSY      a thread waits (destroy)
 */
#ifndef ORD_EVENT_H
#define ORD_EVENT_H

#include "ord/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All of it private. */
struct ord_event {
    struct ord_mutex mutex; /* over the rest */
    struct ord_cond changed;
    int is_set;
    uint64_t nsets; /* by it a waiter knows that it has missed a pulse */
};
#define ORD_EVENT_INIT                                                         \
    {                                                                          \
        ORD_MUTEX_INIT, ORD_COND_INIT, 0, 0                                    \
    }

void ord_event_init(struct ord_event *event);   /* not set */
int ord_event_destroy(struct ord_event *event); /* EBUSY */

void ord_event_set(struct ord_event *event);
void ord_event_clear(struct ord_event *event);
void ord_event_wait(struct ord_event *event);
int ord_event_timedwait(struct ord_event *event,
                        ord_ns deadline); /* ETIMEDOUT */

/* Whether it is set, at some moment of the call: not 0 is true. */
int ord_event_is_set(struct ord_event *event);

#ifdef __cplusplus
}
#endif

#endif
