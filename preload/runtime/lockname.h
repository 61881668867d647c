/* SPDX-License-Identifier: MIT
 *
 * lockname.h - what a lock is called by its nature, whatever its symbol.
 *
 * The loader's two locks have the names that its source gives them. A stream is
 * "stdin", "stdout" or "stderr", or named by its descriptor.
 */
#ifndef LH_RUNTIME_LOCKNAME_H
#define LH_RUNTIME_LOCKNAME_H

#include <stdbool.h>

#include "runtime/locks.h"

enum { LH_LOCKNAME_BYTES = 48 };

/* Writes the name of a lock of such a kind. False, and nothing is written, if
 * it has none. Any thread; makes a system call for a stream. */
bool lh_lockname(const struct lh_lock_info *lock, char name[LH_LOCKNAME_BYTES]);

#endif
