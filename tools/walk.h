/* SPDX-License-Identifier: MIT
 *
 * walk.h - one thread's call stack, by libunwind.
 */
#ifndef LH_TOOLS_WALK_H
#define LH_TOOLS_WALK_H

#include <libunwind.h>

#include "outside.h"
#include "pool.h"

enum { LH_WALK_FRAMES = 256 }; /* deeper ones are left out */

/* Fills in its frames, allocated in pool; none if libunwind cannot begin.
 * The argument is that of the address space's accessors. */
void lh_walk(struct lh_outside_thread *t, unw_addr_space_t as, void *argument,
             struct lh_pool *pool);

#endif
