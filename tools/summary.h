/* SPDX-License-Identifier: MIT
 *
 * summary.h - what was found in all, in one line and as an exit status.
 */
#ifndef LH_TOOLS_SUMMARY_H
#define LH_TOOLS_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lh_findings;
struct lh_model_process;
struct lh_pool;

enum {
    LH_SUMMARY_KINDS = 32,
    LH_SUMMARY_POSSIBLE = 66, /* exit status when something may happen */
    LH_SUMMARY_HAPPENED = 67, /* and when something did */
};

struct lh_summary_kind {
    const char *kind;
    size_t counting; /* possible or happened */
    size_t conditional;
};

struct lh_summary {
    struct lh_summary_kind
        kinds[LH_SUMMARY_KINDS]; /* more are not told apart */
    size_t nkinds;
    size_t counting, conditional;
    size_t suppressed, known; /* by rules; whatever they were */
    size_t processes;
    size_t unended;   /* their counts are what was seen of them */
    size_t unwatched; /* at all or to the end, as they say themselves */
    uint64_t locks, threads, orders;
    int status; /* 0, 66 or 67 */
};

void lh_summary_count(struct lh_summary *s, const struct lh_findings *findings,
                      struct lh_model_process *const *processes, size_t n);

/*
 * "lockhound: 1 possible deadlock (LH001), 2 conditional (--all shows them);
 *   14 nested locks, 3 threads, 9 orders, 1 process": one line, or more where
 * that is too long for 80 columns, without a newline at the end.
 *
 * all   conditional ones are shown
 * dir   folder of the records, to be named; or NULL
 */
const char *lh_summary_text(struct lh_pool *pool, const struct lh_summary *s,
                            bool all, const char *dir);

/* Says each note of the processes, that is what limits their records, once. */
void lh_summary_notes(struct lh_model_process *const *processes, size_t n);

#endif
