/* SPDX-License-Identifier: MIT
 * apart.c - a function in a process of its own. */
#include "apart.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pool.h"

enum { MAX_SECONDS = 60 };

/* It leaves no core file: what it dies of is no fault of the program that is
 * looked at. */
static _Noreturn void be_child(lh_apart_fn *fn, void *ctx, int end)
{
    struct rlimit time = { MAX_SECONDS, MAX_SECONDS }, none = { 0, 0 };
    FILE *out = fdopen(end, "w");
    setrlimit(RLIMIT_CPU, &time);
    setrlimit(RLIMIT_CORE, &none);
    if (!out)
        _exit(1);
    fn(ctx, out);
    _exit(fclose(out) == 0 ? 0 : 1);
}

static const char *read_all(struct lh_pool *pool, int end, size_t *n)
{
    char *bytes = NULL;
    size_t capacity = 0;
    ssize_t more;
    *n = 0;
    do {
        bytes = lh_pool_grow(bytes, *n, &capacity, 1);
        more = read(end, bytes + *n, capacity - *n);
        *n += more > 0 ? (size_t)more : 0;
    } while (more > 0 || (more < 0 && errno == EINTR));
    char *kept = lh_pool_alloc(pool, *n);
    memcpy(kept, bytes, *n);
    free(bytes);
    return kept;
}

bool lh_apart(struct lh_pool *pool, lh_apart_fn *fn, void *ctx,
              const char **bytes, size_t *n)
{
    int ends[2], status = 0;
    *bytes = "";
    *n = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        be_child(fn, ctx, ends[1]);
    }
    close(ends[1]);
    if (pid > 0)
        *bytes = read_all(pool, ends[0], n);
    close(ends[0]);
    while (pid > 0 && waitpid(pid, &status, 0) != pid)
        if (errno != EINTR)
            return false;
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
