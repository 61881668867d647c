/* SPDX-License-Identifier: MIT
 * walk.c - one thread's call stack, by libunwind. */
#include "walk.h"

#include <string.h>

void lh_walk(struct lh_outside_thread *t, unw_addr_space_t as, void *argument,
             struct lh_pool *pool)
{
    struct lh_outside_frame frames[LH_WALK_FRAMES];
    unw_cursor_t cursor;
    size_t n = 0;
    bool is_call = false;
    if (unw_init_remote(&cursor, as, argument) != 0)
        return;
    do {
        unw_word_t pc;
        if (unw_get_reg(&cursor, UNW_REG_IP, &pc) != 0 || !pc)
            break;
        frames[n++] = (struct lh_outside_frame){ pc, is_call };
        is_call = unw_is_signal_frame(&cursor) <= 0;
    } while (n < LH_WALK_FRAMES && unw_step(&cursor) > 0);
    t->frames = lh_pool_array(pool, n, sizeof *frames);
    memcpy(t->frames, frames, n * sizeof *frames);
    t->nframes = n;
}
