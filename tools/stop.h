/* SPDX-License-Identifier: MIT
 *
 * stop.h - stops a process for as long as it takes to copy its threads'
 * registers, the tops of their stacks, the locks that they wait for, and, in a
 * watched process, what they hold.
 */
#ifndef LH_TOOLS_STOP_H
#define LH_TOOLS_STOP_H

#include "outside.h"

/*
 * Stops all threads, fills in o->threads anew, and lets them go on. A system
 * call that a stop interrupts goes on as after a debugger's, so that some
 * (epoll_wait(2), ...) return EINTR.
 *
 * Returns 0; or an errno number, and then nothing was stopped.
 */
int lh_stop(struct lh_outside *o);

#endif
