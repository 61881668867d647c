/* SPDX-License-Identifier: MIT
 * progress.c - how far work on many things is, once it takes long. */
#include "progress.h"

#include "diag.h"

enum { PATIENCE_S = 1, STEPS = 100 };

time_t lh_progress_now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

void lh_progress_begin(struct lh_progress *p, const char *what, uint64_t total)
{
    *p = (struct lh_progress){ what, 0, total, lh_progress_now_s() };
}

void lh_progress_step(struct lh_progress *p)
{
    uint64_t stride = p->total / STEPS + 1;
    if (++p->done % stride || !p->what ||
        lh_progress_now_s() - p->start_s <= PATIENCE_S)
        return;
    lh_diag_progress("%s: %llu of %llu findings", p->what,
                     (unsigned long long)p->done, (unsigned long long)p->total);
}
