/* SPDX-License-Identifier: MIT
 *
 * core.h - a process out of a core file (ELF by libelf, stacks by
 * libunwind-coredump).
 */
#ifndef LH_TOOLS_CORE_H
#define LH_TOOLS_CORE_H

#include "outside.h"

/*
 * Reads threads with registers and stacks, and mapped files, and makes o->read
 * work.
 *
 * exe   the executable, where it is not where the core says; or NULL
 * Exits with 2 when the file cannot be read as a core of this architecture.
 */
void lh_core_open(struct lh_outside *o, struct lh_pool *pool, const char *path,
                  const char *exe);

/* What was opened; its memory cannot be read any more. */
void lh_core_close(struct lh_outside *o);

#endif
