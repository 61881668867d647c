/* SPDX-License-Identifier: MIT
 * gather.c - the findings in record files and in folders of them. */
#include "gather.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "across.h"
#include "diag.h"
#include "model.h"
#include "runs.h"

enum { READ_BYTES = 256 * 1024, PATIENCE_S = 1 };

static time_t now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

static void show_progress(const struct lh_gather *g, const char *file,
                          uint64_t done_bytes, uint64_t size_bytes)
{
    if (now_s() - g->start_s > PATIENCE_S)
        lh_diag_progress("reading %s: %llu of %llu MB", file,
                         (unsigned long long)(done_bytes >> 20),
                         (unsigned long long)(size_bytes >> 20));
}

static int read_all(struct lh_gather *g, struct lh_model_process *p, int fd)
{
    char *buffer = lh_pool_alloc(&g->pool, READ_BYTES);
    struct stat st;
    uint64_t done = 0, size = fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
    int error = 0;
    while (!error) {
        ssize_t n = read(fd, buffer, READ_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            lh_diag_say("%s: %s", p->file, strerror(errno));
            return EIO;
        }
        if (n == 0)
            return lh_model_finish(p, false);
        error = lh_model_feed(p, buffer, (size_t)n);
        done += (uint64_t)n;
        show_progress(g, p->file, done, size);
    }
    return error;
}

static void read_file(struct lh_gather *g, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        lh_diag_say("%s: %s (expected a record file or a folder of them)", path,
                    strerror(errno));
        g->failed = true;
        return;
    }
    struct lh_model_process *p = lh_model_new(path);
    p->keeps_requests = g->several;
    g->processes =
        lh_pool_grow(g->processes, g->n, &g->capacity, sizeof(*g->processes));
    g->processes[g->n++] = p;
    if (read_all(g, p, fd) != 0)
        g->failed = true;
    close(fd);
}

static int is_record(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".jsonl") == 0;
}

static void read_folder(struct lh_gather *g, const char *path)
{
    struct dirent **names;
    int n = scandir(path, &names, is_record, versionsort);
    if (n <= 0) {
        lh_diag_say("%s: %s (expected a folder with *.jsonl)", path,
                    n < 0 ? strerror(errno) : "has no record files");
        g->failed = true;
    }
    if (n < 0)
        return;
    g->several |= n > 1;
    size_t length = strlen(path);
    const char *slash = length && path[length - 1] == '/' ? "" : "/";
    for (int i = 0; i < n; i++) {
        read_file(g, lh_pool_format(&g->pool, "%s%s%s", path, slash,
                                    names[i]->d_name));
        free(names[i]);
    }
    free(names);
}

void lh_gather_read(struct lh_gather *g, char *const *paths, size_t npaths,
                    struct lh_symbols *symbols)
{
    struct stat st;
    g->start_s = now_s();
    g->findings.symbols = symbols;
    g->several = npaths > 1;
    for (size_t i = 0; i < npaths; i++) {
        if (stat(paths[i], &st) == 0 && S_ISDIR(st.st_mode))
            read_folder(g, paths[i]);
        else
            read_file(g, paths[i]);
    }
    lh_diag_progress_end();
    for (size_t i = 0; i < g->n; i++)
        for (size_t j = 0;
             g->processes[i]->started && j < g->processes[i]->nfindings; j++)
            lh_findings_add(&g->findings, g->processes[i],
                            g->processes[i]->findings[j]);
    g->merged = lh_across_find(g->processes, g->n, &g->findings);
    g->of_runs = lh_runs_find(g->processes, g->n, &g->findings);
    lh_findings_sort(&g->findings);
}

bool lh_gather_any(const struct lh_gather *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->processes[i]->started)
            return true;
    return false;
}

void lh_gather_free(struct lh_gather *g)
{
    lh_findings_free(&g->findings);
    for (size_t i = 0; i < g->n; i++)
        lh_model_free(g->processes[i]);
    if (g->merged)
        lh_model_free(g->merged);
    if (g->of_runs)
        lh_model_free(g->of_runs);
    free(g->processes);
    lh_pool_free(&g->pool);
}
