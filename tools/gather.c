/* SPDX-License-Identifier: MIT
 * gather.c - the findings in record files and in folders of them. */
#include "gather.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "across.h"
#include "diag.h"
#include "inputs.h"
#include "model.h"
#include "progress.h"
#include "runs.h"
#include "store.h"

enum { READ_BYTES = 256 * 1024, PATIENCE_S = 1 };

static void show_progress(const struct lh_gather *g, const char *file,
                          uint64_t done_bytes, uint64_t size_bytes)
{
    if (lh_progress_now_s() - g->start_s > PATIENCE_S)
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

static struct lh_model_process *new_process(struct lh_gather *g,
                                            const char *name)
{
    struct lh_model_process *p = lh_model_new(name);
    p->keeps_requests = g->several;
    g->processes =
        lh_pool_grow(g->processes, g->n, &g->capacity, sizeof(*g->processes));
    g->processes[g->n++] = p;
    return p;
}

static void read_file(struct lh_gather *g, const char *path)
{
    int fd = lh_inputs_open(path);
    if (fd < 0 || read_all(g, new_process(g, path), fd) != 0)
        g->failed = true;
    if (fd >= 0)
        close(fd);
}

static void take_stored(void *gather, const struct lh_store_process *stored)
{
    struct lh_gather *g = gather;
    struct lh_model_process *p = new_process(g, stored->name);
    if (lh_model_feed(p, stored->bytes, stored->n) != 0 ||
        lh_model_finish(p, false) != 0)
        g->failed = true;
    show_progress(g, stored->path, stored->done_bytes, stored->all_bytes);
}

static void read_store(struct lh_gather *g, const char *path)
{
    struct lh_store *store = lh_store_open(path, false);
    g->several = true;
    if (lh_store_each(store, take_stored, g) == 0) {
        lh_diag_say("%s: has no runs (expected some from lockhound db add)",
                    path);
        g->failed = true;
    }
    lh_store_close(store);
}

void lh_gather_read(struct lh_gather *g, char *const *paths, size_t npaths,
                    struct lh_symbols *symbols)
{
    struct lh_inputs in = lh_inputs_find(&g->pool, paths, npaths);
    g->start_s = lh_progress_now_s();
    g->findings.symbols = symbols;
    g->several = in.n > 1;
    g->failed = in.failed;
    for (size_t i = 0; i < in.n; i++)
        (lh_store_is(in.files[i]) ? read_store : read_file)(g, in.files[i]);
    free(in.files);
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
