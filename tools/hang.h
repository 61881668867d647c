/* SPDX-License-Identifier: MIT
 *
 * hang.h - has a set of processes stood still for so long?
 *
 * They stand still while none of their threads runs, is ready to run, or has
 * used the processor since the last look.
 */
#ifndef LH_TOOLS_HANG_H
#define LH_TOOLS_HANG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lh_hang {
    unsigned seconds;  /* 0: never asked */
    uint64_t used_ns;  /* processor time of all, at the last look */
    uint64_t since_ms; /* that it has not changed; 0: before the first look */
    bool told;
    bool was_stopped; /* by who was told */
};

/* Looks; true when they have stood still for that long, once until they move
 * again. */
bool lh_hang_look(struct lh_hang *h, const uint64_t *pids, size_t n);

/* Milliseconds until the next look is due; -1: never. */
int lh_hang_pause(const struct lh_hang *h);

#endif
