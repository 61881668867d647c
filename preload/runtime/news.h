/* SPDX-License-Identifier: MIT
 *
 * news.h - what the detector has to tell: findings, notes, records.
 *
 * Gathered under the detector's lock, written and printed after that was given
 * back. Records are written in the order in which they were gathered, whoever
 * writes them, so that what is in the file refers only to what is there: the
 * process may end while one of its threads has yet to write.
 */
#ifndef LH_RUNTIME_NEWS_H
#define LH_RUNTIME_NEWS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/order.h"
#include "runtime/finding.h"
#include "runtime/fmt.h"
#include "runtime/thread.h"

/* ---- with the detector's lock held ---- */

bool lh_news_wants_records(void);

/* Opens the file if records are wanted; a forked child has none of its own
 * until it has something to say. */
void lh_news_open_log(void);

/* What limits the answer and was not said yet. */
void lh_news_add_notes(struct lh_thread *t);

/* For lh_order_new(); the ring goes to lh_state.judged. */
void lh_news_on_ring(void *ctx, const struct lh_ring *ring);

/* What is waited for in a ring of waits: a lock, or the end of a thread. */
struct lh_lock_info lh_news_awaited(void *lock, unsigned kind,
                                    const struct lh_thread *holder);

/* A ring of waits, made by live.c; it is taken over. */
void lh_news_deadlock(struct lh_thread *t, struct lh_finding *finding);

/* A finding about one lock, made by misuse.c, with the numbers of its threads;
 * it is taken over. */
void lh_news_misuse(struct lh_thread *t, struct lh_finding *finding);

/* The number of the thread that has, or had, that tid; 0 if none is known. */
uint32_t lh_news_number_of_tid(int32_t tid);

/* Keeps what is known of a thread, for reports made after its end; of one that
 * only a forked child's parent has. */
void lh_news_know(const struct lh_finding_thread *thread);
void lh_news_remember(const struct lh_thread *t);

/* A thread is made: where processes share locks, that is recorded in its place
 * among what its creator does. */
void lh_news_created(const struct lh_thread *t);

/* A thread has got a name or a joiner: records it again if it was recorded. */
void lh_news_thread_changed(uint32_t number);

/* Records a dependency and what it refers to. */
void lh_news_dependency(uint32_t serial, const struct lh_request *request);

/* What other threads have found and not yet written, the counts, the end. */
void lh_news_write_counts(void);

void lh_news_after_fork(void);

/* ---- inside the guard, without the lock ---- */

/* Writes all records that there are, and prints what this thread has found. */
void lh_news_flush(struct lh_thread *t);

#endif
