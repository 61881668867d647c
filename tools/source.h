/* SPDX-License-Identifier: MIT
 *
 * source.h - source files, where they are at hand.
 */
#ifndef LH_TOOLS_SOURCE_H
#define LH_TOOLS_SOURCE_H

#include <stdio.h>

#include "idmap.h"
#include "pool.h"

/* A file, and nothing that a read could wait for; NULL if there is none. */
FILE *lh_source_open(const char *path);

/* Files that were read; zeroed, it is empty. */
struct lh_source_files {
    struct lh_pool pool;
    struct lh_idmap by_path;
};

/* The line and all that follow. "" when it is not there, or was changed after
 * the module was built. It lives as long as the files. */
const char *lh_source_from(struct lh_source_files *files, const char *path,
                           int line, const char *module);
void lh_source_free(struct lh_source_files *files);

#endif
