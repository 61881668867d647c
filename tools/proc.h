/* SPDX-License-Identifier: MIT
 *
 * proc.h - a living process by /proc alone: nothing is stopped.
 */
#ifndef LH_TOOLS_PROC_H
#define LH_TOOLS_PROC_H

#include "outside.h"

/*
 * Reads threads, what each is blocked in, and mapped files, and makes o->read
 * work.
 * Returns 0, ESRCH without such a process, ECHILD when it has ended or is the
 * kernel's, ENOEXEC when it is of another architecture, or EPERM or EACCES.
 */
int lh_proc_open(struct lh_outside *o, struct lh_pool *pool, uint64_t pid);

/* What the threads are blocked in, once more; new threads are added and those
 * that are gone leave. */
void lh_proc_look(struct lh_outside *o);

/* The state of a thread, as in /proc: R, S, D, ...; 0: it is gone. */
char lh_proc_state(const struct lh_outside *o, uint64_t tid);

/* How often a thread has given up the processor, so that two looks can tell
 * whether it has run in between; 0 if it is gone. */
uint64_t lh_proc_switches(const struct lh_outside *o, uint64_t tid);

#endif
