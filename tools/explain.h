/* SPDX-License-Identifier: MIT
 *
 * explain.h - a finding in words: who, what and how often.
 *
 * The renderers only lay out what is said here, in naming.h and in advise.h,
 * all of which share one struct lh_explain. Strings carry the emphasis of
 * style.h around lock names, belong to the pool and hold no other control
 * character.
 */
#ifndef LH_TOOLS_EXPLAIN_H
#define LH_TOOLS_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model.h"
#include "naming.h"
#include "trace.h"

struct lh_explain {
    struct lh_pool *pool;
    struct lh_symbols *symbols;
    const struct lh_model_process *process;
    const struct lh_model_finding *finding;
    struct lh_naming *names;
    struct lh_explain_trace *traces; /* those read last; private */
};

void lh_explain_begin(struct lh_explain *e, struct lh_pool *pool,
                      struct lh_symbols *symbols, struct lh_naming *names,
                      const struct lh_model_process *process,
                      const struct lh_model_finding *finding);

/* Names the locks of a finding that is to be shown later. */
void lh_explain_name_locks(struct lh_symbols *symbols, struct lh_naming *names,
                           const struct lh_model_process *process,
                           const struct lh_model_finding *finding);

/* "LH001 potential deadlock between A and B: T2 (forward) and ..." */
const char *lh_explain_sentence(const struct lh_explain *e);

/* "the finding between A and B", without emphasis. */
const char *lh_explain_reference(const struct lh_explain *e);

/* Text from outside, safe to show. */
const char *lh_explain_clean(const struct lh_explain *e, const char *text);

/* "bank.c:31", the top of a stack; "" if nothing is known of it. */
const char *lh_explain_top(const struct lh_explain *e, uint64_t stack);

/* The locks of the ring in the order of its sides, each once; their number
 * goes to n. */
const uint64_t *lh_explain_locks(const struct lh_explain *e, size_t *n);

/* "T2 (forward)" */
const char *lh_explain_thread(const struct lh_explain *e, uint64_t thread);
/* "T2 "worker" (tid 123, started at forward)" */
const char *lh_explain_thread_long(const struct lh_explain *e, uint64_t thread);
/* The function that a thread started with, as far as known; else "". */
const char *lh_explain_thread_start(const struct lh_explain *e,
                                    uint64_t thread);

/* The stack as people read it; see lh_trace_cut(). */
struct lh_trace lh_explain_stack(const struct lh_explain *e, uint64_t stack);

/* "holds A" and "waits for B", with how. */
const char *lh_explain_holds(const struct lh_explain *e, size_t side);
const char *lh_explain_waits(const struct lh_explain *e, size_t side);
/* What goes before " at" and the stack of what it holds: "taken". */
const char *lh_explain_since(const struct lh_explain *e, size_t side);
/* Whether the side is no more than a place in line: what it holds is what it
 * waits for. */
bool lh_explain_is_queue_only(const struct lh_explain *e, size_t side);

/* Whether it is no lock but the end of a thread, which a join waits for. */
bool lh_explain_is_end(const struct lh_explain *e, uint64_t lock);

/* "1000 times by 3 threads" */
const char *lh_explain_often(const struct lh_explain *e,
                             struct lh_model_seen seen);

/* "A then B: 1000 times by 3 threads; B then A: once by 1 thread"; "" when
 * nothing is known. */
const char *lh_explain_counts(const struct lh_explain *e);

#endif
