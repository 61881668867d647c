/* SPDX-License-Identifier: MIT
 *
 * lineage.h - which of several processes forked which.
 *
 * Numbers of processes come again in other runs, and in other containers: of
 * those that fit, the parent is the one that began last before the child, and
 * then the one with its records beside it.
 */
#ifndef LH_TOOLS_LINEAGE_H
#define LH_TOOLS_LINEAGE_H

#include <stddef.h>
#include <stdint.h>

struct lh_model_process;
struct lh_pool;

/* The index of the parent of each; its own where there is none. In the pool. */
size_t *lh_lineage_parents(struct lh_pool *pool,
                           struct lh_model_process *const *processes, size_t n);

/* Equal for processes of several runs that were forked alike: each one the
 * n-th child, and so were their parents. In the pool. */
uint64_t *lh_lineage_roles(struct lh_pool *pool,
                           struct lh_model_process *const *processes,
                           const size_t *parents, size_t n);

/* Where the parents of a process begin. */
size_t lh_lineage_root(const size_t *parents, size_t n, size_t process);

#endif
