/* SPDX-License-Identifier: MIT
 * place.c - source files named so that the reader finds them. */
#include "place.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "idmap.h"
#include "pool.h"

const char *lh_place_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* The rest of path below folder; NULL if it is elsewhere. */
static const char *below(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    while (n > 1 && folder[n - 1] == '/')
        n--;
    if (n <= 1 || strncmp(path, folder, n) != 0 || path[n] != '/')
        return NULL;
    return path + n + 1;
}

static const char *working_folder(void)
{
    static char folder[4096];
    static bool asked;
    if (!asked && !getcwd(folder, sizeof folder))
        folder[0] = '\0';
    asked = true;
    return folder;
}

/* Takes "./" and "dir/../" out of a path, in place. */
static void normalize(char *path)
{
    char *at;
    while ((at = strstr(path, "/./")))
        memmove(at, at + 2, strlen(at + 2) + 1);
    while ((at = strstr(path, "/../")) && at > path) {
        char *folder = at;
        while (folder > path && folder[-1] != '/')
            folder--;
        if (strncmp(folder, "../", 3) == 0 || folder == at)
            return;
        memmove(folder, at + 4, strlen(at + 4) + 1);
    }
}

static const char *last_two(const char *path)
{
    const char *base = lh_place_base(path);
    if (base == path || base - 1 == path)
        return base;
    const char *folder = base - 1;
    while (folder > path && folder[-1] != '/')
        folder--;
    return folder;
}

const char *lh_place_short(struct lh_pool *pool, const char *file,
                           const char *built_in, int line)
{
    if (!*file)
        return "";
    char *path = lh_pool_copy(pool, file);
    char *folder = lh_pool_copy(pool, built_in);
    normalize(path);
    normalize(folder);
    const char *name = below(path, working_folder());
    if (!name)
        name = below(path, folder);
    if (!name && path[0] == '/')
        name = last_two(path);
    if (!name)
        name = path;
    return line > 0 ? lh_pool_format(pool, "%s:%d", name, line)
                    : lh_pool_copy(pool, name);
}

/* Asked once of each: a report has thousands of places in a file. */
static bool is_there(const char *path)
{
    static struct lh_idmap known; /* to one of these two */
    static char yes, no;
    uint64_t key = lh_idmap_text(path);
    char *answer = lh_idmap_get(&known, key);
    if (!answer) {
        answer = access(path, F_OK) == 0 ? &yes : &no;
        lh_idmap_put(&known, key, answer);
    }
    return answer == &yes;
}

const char *lh_place_path(struct lh_pool *pool, const char *file,
                          const char *built_in)
{
    char *path = file[0] == '/' || built_in[0] != '/'
                     ? lh_pool_copy(pool, file)
                     : lh_pool_format(pool, "%s/%s", built_in, file);
    normalize(path);
    const char *name = below(path, working_folder());
    if (name)
        return name;
    return is_there(path) ? path : lh_place_short(pool, file, built_in, 0);
}
