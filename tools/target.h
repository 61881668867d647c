/* SPDX-License-Identifier: MIT
 *
 * target.h - what can be seen of a program, by its file, before it starts.
 */
#ifndef LH_TOOLS_TARGET_H
#define LH_TOOLS_TARGET_H

#include <stdbool.h>

struct lh_pool;

struct lh_target {
    const char *path; /* of the ELF file: for a script, its interpreter's; NULL
                         if there is none */
    bool shared_asan; /* linked with a shared ASan runtime, which wants to be
                         the first library unless told otherwise */
    const char *unseen; /* why nothing can be seen of it, or NULL */
    const char *limits; /* why not all can be seen, or NULL */
};

/*
 * Looks at the file that a command names (found like execvp(3) finds it) and,
 * for a script, at its interpreter. Exits with 2 when there is no such program
 * or the preload would keep it from starting.
 */
void lh_target_find(struct lh_pool *pool, const char *command,
                    struct lh_target *target);

/* Says in one line each what cannot be seen of it. */
void lh_target_warn(struct lh_pool *pool, const struct lh_target *target,
                    const char *preload);

#endif
