/* SPDX-License-Identifier: MIT
 *
 * target.h - what can be seen of a program, by its file, before it starts.
 */
#ifndef LH_TOOLS_TARGET_H
#define LH_TOOLS_TARGET_H

#include <stdbool.h>

struct lh_pool;

struct lh_target {
    const char *path; /* of the file, found like execvp(3) finds it */
    bool shared_asan; /* linked with a shared ASan runtime, which wants to be
                         the first library unless told otherwise */
};

/*
 * Looks at the file that a command names and, for a script, at its
 * interpreter. Says in one line each what cannot be seen of it. Exits with 2
 * when there is no such program or the preload would keep it from starting.
 */
void lh_target_check(struct lh_pool *pool, const char *command,
                     struct lh_target *target);

#endif
