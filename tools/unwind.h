/* SPDX-License-Identifier: MIT
 *
 * unwind.h - the call stacks of a living process, from the copies that
 * stop.h made of its registers and stacks (libunwind).
 */
#ifndef LH_TOOLS_UNWIND_H
#define LH_TOOLS_UNWIND_H

#include "outside.h"

/* Fills in the frames of every thread whose registers are known. */
void lh_unwind_live(struct lh_outside *o);

#endif
