/* SPDX-License-Identifier: MIT
 *
 * closure.h - the files that a program consists of when it starts.
 */
#ifndef LH_TOOLS_CLOSURE_H
#define LH_TOOLS_CLOSURE_H

#include <stddef.h>

struct lh_pool;

/*
 * The program and the libraries that it is linked with, in the order in which
 * they are searched; their number goes to n. Asks the loader, our own one,
 * which lists them and runs nothing of them.
 */
const char **lh_closure_list(struct lh_pool *pool, const char *program,
                             size_t *n);

#endif
