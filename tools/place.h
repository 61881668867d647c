/* SPDX-License-Identifier: MIT
 *
 * place.h - source files named so that the reader finds them.
 */
#ifndef LH_TOOLS_PLACE_H
#define LH_TOOLS_PLACE_H

struct lh_pool;

/*
 * "src/conn.c:31": relative to the working folder if the file lies below it,
 * else to the folder it was compiled in, else with its last folder only.
 *
 * built_in  the folder of the compilation, or ""
 * Returns "" when file is "".
 */
const char *lh_place_short(struct lh_pool *pool, const char *file,
                           const char *built_in, int line);

/* A path that opens the file from the working folder: relative to that if it
 * lies below, else absolute; where there is no such file, short. */
const char *lh_place_path(struct lh_pool *pool, const char *file,
                          const char *built_in);

/* The last part of a path. */
const char *lh_place_base(const char *path);

#endif
