/* SPDX-License-Identifier: MIT
 *
 * lockcalls.h - the functions by which programs take locks.
 */
#ifndef LH_TOOLS_LOCKCALLS_H
#define LH_TOOLS_LOCKCALLS_H

#include <stddef.h>

/* Which of those this is, or -1. */
int lh_lockcalls_find(const char *name);

size_t lh_lockcalls_count(void);
const char *lh_lockcalls_name(size_t call);

/* "mutex": what the call is about, in the words of a list. Calls of one family
 * follow each other. */
const char *lh_lockcalls_family(size_t call);

#endif
