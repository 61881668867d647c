/* SPDX-License-Identifier: MIT
 *
 * across.h - rings whose sides are in several processes.
 *
 * Each process is judged by its own preload. What they wait for in each other,
 * through locks that they share, shows only here: the requests of all of them
 * go through the same search and the same judgement (core/order.h), with a
 * child behind what its parent did before the fork, and before what the parent
 * does once it has waited for it.
 */
#ifndef LH_TOOLS_ACROSS_H
#define LH_TOOLS_ACROSS_H

#include <stddef.h>

struct lh_findings;
struct lh_model_process;

/*
 * Adds the findings to the list. What they refer to is in a process made up for
 * it, which is the caller's to free after the list; NULL if there are none.
 * The others must live as long.
 */
struct lh_model_process *
lh_across_find(struct lh_model_process *const *processes, size_t n,
               struct lh_findings *findings);

#endif
