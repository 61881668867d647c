/* SPDX-License-Identifier: MIT
 *
 * shared.h - which locks are shared by processes, and which one it is.
 *
 * A process-shared lock says so in its own words. What it is in all processes
 * is the place in the file, or the shared anonymous memory, that it lies in.
 *
 * Memory:   24 bytes for each node up to the highest that is shared.
 * Threads:  with the detector's lock held, but for lh_shared_notice().
 */
#ifndef LH_RUNTIME_SHARED_H
#define LH_RUNTIME_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#include "core/order.h"

struct lh_object {
    uint64_t device, inode, offset;
};

/*
 * Looks whether a lock (a readable one) that is about to have this node is
 * shared, and remembers it or that it is not. Reads /proc/self/maps if it is.
 */
bool lh_shared_set(lh_lock node, const void *lock, unsigned kind);

/* For a node for which that returned true. */
struct lh_object lh_shared_get(lh_lock node);

/* A lock was initialized: notices one that is shared. */
void lh_shared_notice(const void *lock, unsigned kind);

/* Whether this process, or one that it was forked from, has seen any: only then
 * is it of interest how processes are made. Any thread. */
bool lh_shared_any(void);

#endif
