/* SPDX-License-Identifier: MIT
 * inputs.c - the record files that a command line names. */
#include "inputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "diag.h"

static void add(struct lh_inputs *in, const char *file)
{
    in->files =
        lh_pool_grow(in->files, in->n, &in->capacity, sizeof *in->files);
    in->files[in->n++] = file;
}

static int is_record(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".jsonl") == 0;
}

static void add_folder(struct lh_inputs *in, struct lh_pool *pool,
                       const char *path)
{
    struct dirent **names;
    int n = scandir(path, &names, is_record, versionsort);
    if (n <= 0) {
        lh_diag_say("%s: %s (expected a folder with *.jsonl)", path,
                    n < 0 ? strerror(errno) : "has no record files");
        in->failed = true;
    }
    if (n < 0)
        return;
    size_t length = strlen(path);
    const char *slash = length && path[length - 1] == '/' ? "" : "/";
    for (int i = 0; i < n; i++) {
        add(in, lh_pool_format(pool, "%s%s%s", path, slash, names[i]->d_name));
        free(names[i]);
    }
    free(names);
}

struct lh_inputs lh_inputs_find(struct lh_pool *pool, char *const *paths,
                                size_t n)
{
    struct lh_inputs in = { 0 };
    struct stat st;
    for (size_t i = 0; i < n; i++) {
        if (stat(paths[i], &st) == 0 && S_ISDIR(st.st_mode))
            add_folder(&in, pool, paths[i]);
        else
            add(&in, paths[i]);
    }
    return in;
}

int lh_inputs_open(const char *file)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        lh_diag_say("%s: %s (expected a record file, a folder of them "
                    "or a store)",
                    file, strerror(errno));
    return fd;
}
