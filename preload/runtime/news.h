/* SPDX-License-Identifier: MIT
 *
 * news.h - what the detector has to tell: findings, notes, records.
 *
 * Gathered in the thread that caused it under the detector's lock, written and
 * printed after that was given back.
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

/* A finding about one lock, made by misuse.c, with the numbers of its threads;
 * it is taken over. */
void lh_news_misuse(struct lh_thread *t, struct lh_finding *finding);

/* Keeps what is known of a thread, for reports made after its end; of one that
 * only a forked child's parent has. */
void lh_news_know(const struct lh_finding_thread *thread);
void lh_news_remember(const struct lh_thread *t);

/* A thread is made: where processes share locks, that is recorded in its place
 * among what its creator does. */
void lh_news_created(struct lh_thread *creator, const struct lh_thread *t);

/* A thread has got a name or a joiner: records it again if it was recorded. */
void lh_news_thread_changed(struct lh_fmt *out, uint32_t number);

/* Records a dependency and what it refers to. */
void lh_news_dependency(struct lh_thread *t, uint32_t serial,
                        const struct lh_request *request);

/* The counts and the end record. */
void lh_news_write_counts(struct lh_fmt *out);

void lh_news_after_fork(void);

/* ---- inside the guard, without the lock ---- */

/* Writes and prints what a thread has gathered. */
void lh_news_flush(struct lh_thread *t);

#endif
