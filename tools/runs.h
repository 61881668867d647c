/* SPDX-License-Identifier: MIT
 *
 * runs.h - rings that no process has alone: an order seen in one run, the
 * contrary one in another.
 *
 * Locks of one class are one lock here, in all processes of one program; the
 * requests of all go through one search (crossing.h). Two processes were never
 * parallel, so what could be in one is judged by what each thread was there:
 * main threads are one thread, and what a process of one thread does is before
 * all that others do. A process and those that it forked have a part each, in
 * every run again (lineage.h): a ring of such parts is none. A ring
 * through a class of several locks is conditional, as the runs may have taken
 * different ones. A ring of a side of a process that has found it in itself is
 * left to it: it knew more about its threads. So those that have found nothing
 * are asked first. Locks that processes share are across.h's.
 */
#ifndef LH_TOOLS_RUNS_H
#define LH_TOOLS_RUNS_H

#include <stddef.h>

struct lh_findings;
struct lh_model_process;

/* Adds the findings to the list, like lh_across_find(). The processes must have
 * kept their requests. */
struct lh_model_process *lh_runs_find(struct lh_model_process *const *processes,
                                      size_t n, struct lh_findings *findings);

#endif
