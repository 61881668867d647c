/* SPDX-License-Identifier: MIT
 * closure.c - the files that a program consists of when it starts. */
#include "closure.h"

#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "elffile.h"
#include "pool.h"

extern char **environ;

/* What `ld.so --list` prints; NULL if it cannot be asked. */
static FILE *ask_loader(struct lh_pool *pool, const char *program, pid_t *pid)
{
    const char *loader = lh_elffile_read(pool, "/proc/self/exe").interpreter;
    char path[PATH_MAX];
    /* $ORIGIN is the folder of the file, not of a link to it. */
    char *argv[] = { lh_pool_copy(pool, loader), lh_pool_copy(pool, "--list"),
                     realpath(program, path), NULL };
    posix_spawn_file_actions_t actions;
    int ends[2];
    if (!*loader || !argv[2] || pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
                                     O_WRONLY, 0);
    int error = posix_spawn(pid, loader, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    FILE *list = error ? NULL : fdopen(ends[0], "r");
    if (!list)
        close(ends[0]);
    return list;
}

/* "libx.so.1 => /lib/libx.so.1 (0x7f..)" or "/lib64/ld.so (0x7f..)"; NULL for
 * what has no file. */
static char *file_of(char *line)
{
    char *end = strrchr(line, '(');
    char *arrow = strstr(line, "=> ");
    char *path = arrow ? arrow + 3 : line + strspn(line, " \t");
    if (!end || end <= path)
        return NULL;
    end[-1] = '\0';
    return strchr(path, '/') ? path : NULL; /* the vDSO has no file */
}

const char **lh_closure_list(struct lh_pool *pool, const char *program,
                             size_t *n)
{
    const char **list = NULL;
    char *line = NULL;
    size_t line_bytes = 0, capacity = 0;
    pid_t pid;
    FILE *answer = ask_loader(pool, program, &pid);
    list = lh_pool_grow(list, 0, &capacity, sizeof *list);
    list[0] = program;
    *n = 1;
    while (answer && getline(&line, &line_bytes, answer) > 0) {
        const char *file = file_of(line);
        if (!file)
            continue;
        list = lh_pool_grow(list, *n, &capacity, sizeof *list);
        list[(*n)++] = lh_pool_copy(pool, file);
    }
    free(line);
    if (answer) {
        fclose(answer);
        waitpid(pid, NULL, 0);
    }
    const char **kept = lh_pool_array(pool, *n, sizeof *kept);
    memcpy(kept, list, *n * sizeof *kept);
    free(list);
    return kept;
}
