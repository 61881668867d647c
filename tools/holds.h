/* SPDX-License-Identifier: MIT
 *
 * holds.h - what the threads of a watched process hold, as the preload in it
 * knows: core/published.h.
 */
#ifndef LH_TOOLS_HOLDS_H
#define LH_TOOLS_HOLDS_H

#include "outside.h"

/* Fills in what each thread holds, if the preload is there and lets us read
 * it; else nothing changes. */
void lh_holds_read(struct lh_outside *o);

#endif
