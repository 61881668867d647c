/* SPDX-License-Identifier: MIT
 *
 * follow.h - the record files that appear in a folder, read as they grow.
 */
#ifndef LH_TOOLS_FOLLOW_H
#define LH_TOOLS_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>

struct lh_model_process;

struct lh_follow {
    struct lh_model_process **processes; /* one a file, as they appeared */
    size_t n;
    int fd; /* readable when there may be something to read */
    struct lh_follow_state *state;
};

/* Files that are there already are left out for good. Returns 0 or an errno
 * number. */
int lh_follow_start(struct lh_follow *f, const char *dir);

/* Reads what has been written since. Does not block. */
void lh_follow_read(struct lh_follow *f);

/* Reads all that is left; a file whose process lives may be unfinished. */
void lh_follow_finish(struct lh_follow *f);

/* Whether the process that writes this file is still there. */
bool lh_follow_lives(const struct lh_model_process *p);

void lh_follow_end(struct lh_follow *f);

#endif
