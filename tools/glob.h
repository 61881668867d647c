/* SPDX-License-Identifier: MIT
 *
 * glob.h - patterns in which only * and ? are special, so that names such as
 * "accounts[3].lock" stand for themselves.
 */
#ifndef LH_TOOLS_GLOB_H
#define LH_TOOLS_GLOB_H

#include <stdbool.h>

/* Whether the pattern is the whole text. */
bool lh_glob_match(const char *pattern, const char *text);

/* Whether it is the path, or what follows one of its slashes. */
bool lh_glob_match_path(const char *pattern, const char *path);

#endif
