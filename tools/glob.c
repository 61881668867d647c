/* SPDX-License-Identifier: MIT
 * glob.c - patterns with * and ?. */
#include "glob.h"

#include <stddef.h>
#include <string.h>

/* Only the last star need ever be tried again, one character further on. */
bool lh_glob_match(const char *pattern, const char *text)
{
    const char *star = NULL, *from = text;
    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            from = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++from;
        } else {
            return false;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0';
}

bool lh_glob_match_path(const char *pattern, const char *path)
{
    bool found = lh_glob_match(pattern, path);
    while (!found && (path = strchr(path, '/')))
        found = lh_glob_match(pattern, ++path);
    return found;
}
