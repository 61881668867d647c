/* SPDX-License-Identifier: MIT
 *
 * progress.h - how far work on many things is, once it takes long.
 */
#ifndef LH_TOOLS_PROGRESS_H
#define LH_TOOLS_PROGRESS_H

#include <stdint.h>
#include <time.h>

struct lh_progress {
    const char *what; /* "naming locks", "json"; NULL: is not shown */
    uint64_t done, total;
    time_t start_s;
};

void lh_progress_begin(struct lh_progress *p, const char *what, uint64_t total);

/* One more is done. Shown on a terminal only, and not in the first second. */
void lh_progress_step(struct lh_progress *p);

/* The monotonic clock, in seconds. */
time_t lh_progress_now_s(void);

#endif
