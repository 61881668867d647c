/* SPDX-License-Identifier: MIT
 * report.c - lockhound report. */
#include "report.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "across.h"
#include "diag.h"
#include "explain.h"
#include "findings.h"
#include "genrule.h"
#include "json.h"
#include "model.h"
#include "naming.h"
#include "options.h"
#include "pool.h"
#include "standing.h"
#include "style.h"
#include "summary.h"
#include "symbols.h"
#include "text.h"

enum { READ_BYTES = 256 * 1024, PATIENCE_S = 1 };

struct report {
    struct lh_pool pool;
    struct lh_options options;
    struct lh_model_process **processes;
    size_t n, capacity;
    struct lh_model_process *merged; /* what several made together, or NULL */
    struct lh_findings findings;
    struct lh_symbols *symbols;
    struct lh_naming names;
    struct lh_standing standing;
    time_t start_s;
    bool failed; /* some input was no record file */
};

static time_t now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

static void show_progress(const struct report *r, const char *file,
                          uint64_t done_bytes, uint64_t size_bytes)
{
    if (now_s() - r->start_s > PATIENCE_S)
        lh_diag_progress("reading %s: %llu of %llu MB", file,
                         (unsigned long long)(done_bytes >> 20),
                         (unsigned long long)(size_bytes >> 20));
}

static int read_all(struct report *r, struct lh_model_process *p, int fd)
{
    char *buffer = lh_pool_alloc(&r->pool, READ_BYTES);
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
        show_progress(r, p->file, done, size);
    }
    return error;
}

static void read_file(struct report *r, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        lh_diag_say("%s: %s (expected a record file or a folder of them)", path,
                    strerror(errno));
        r->failed = true;
        return;
    }
    struct lh_model_process *p = lh_model_new(path);
    r->processes =
        lh_pool_grow(r->processes, r->n, &r->capacity, sizeof(*r->processes));
    r->processes[r->n++] = p;
    if (read_all(r, p, fd) != 0)
        r->failed = true;
    close(fd);
}

static int is_record(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".jsonl") == 0;
}

static void read_folder(struct report *r, const char *path)
{
    struct dirent **names;
    int n = scandir(path, &names, is_record, versionsort);
    if (n <= 0) {
        lh_diag_say("%s: %s (expected a folder with *.jsonl)", path,
                    n < 0 ? strerror(errno) : "has no record files");
        r->failed = true;
    }
    if (n < 0)
        return;
    size_t length = strlen(path);
    const char *slash = length && path[length - 1] == '/' ? "" : "/";
    for (int i = 0; i < n; i++) {
        read_file(r, lh_pool_format(&r->pool, "%s%s%s", path, slash,
                                    names[i]->d_name));
        free(names[i]);
    }
    free(names);
}

static void read_input(struct report *r)
{
    struct stat st;
    r->start_s = now_s();
    for (int i = 0; i < r->options.nrest; i++) {
        const char *path = r->options.rest[i];
        if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
            read_folder(r, path);
        else
            read_file(r, path);
    }
    lh_diag_progress_end();
    for (size_t i = 0; i < r->n; i++)
        for (size_t j = 0;
             r->processes[i]->started && j < r->processes[i]->nfindings; j++)
            lh_findings_add(&r->findings, r->processes[i],
                            r->processes[i]->findings[j]);
    r->merged = lh_across_find(r->processes, r->n, &r->findings);
    lh_findings_sort(&r->findings);
}

static bool any_readable(const struct report *r)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->processes[i]->started)
            return true;
    return false;
}

/* All of them, so that no name has to change on the way. */
static void name_locks(struct report *r)
{
    for (size_t i = 0; i < r->findings.n; i++) {
        const struct lh_findings_item *item = r->findings.items[i];
        if (lh_findings_is_wanted(item, r->options.all))
            lh_explain_name_locks(r->symbols, &r->names, item->process,
                                  item->finding);
    }
}

static void write_text(struct report *r, FILE *out,
                       const struct lh_summary *summary)
{
    bool colour = lh_style_wanted(r->options.colour, fileno(out));
    const char *separator = "";
    for (size_t i = 0; i < r->findings.n; i++) {
        const struct lh_findings_item *item = r->findings.items[i];
        if (!lh_findings_is_wanted(item, r->options.all))
            continue;
        fputs(separator, out);
        lh_text_finding(out, colour, r->symbols, &r->names, item);
        if (r->options.gen_suppressions)
            lh_genrule_print(out, r->symbols, &r->names, item);
        separator = "\n";
    }
    fprintf(out, "%s%s\n", separator,
            lh_summary_text(&r->pool, summary, r->options.all, NULL));
}

static void write_report(struct report *r, const struct lh_summary *summary)
{
    const char *name = r->options.output;
    FILE *out = name ? fopen(name, "we") : stdout;
    if (!out)
        lh_diag_fail("%s: %s (expected a file to write to)", name,
                     strerror(errno));
    name_locks(r);
    if (r->options.json)
        lh_json_report(out, r->options.all, r->symbols, &r->names, &r->findings,
                       summary, r->processes, r->n);
    else
        write_text(r, out, summary);
    bool bad = ferror(out) != 0 || fflush(out) != 0;
    if (name && fclose(out) != 0)
        bad = true;
    if (bad)
        lh_diag_fail("%s: %s (the report is incomplete)",
                     name ? name : "stdout", strerror(errno));
}

int lh_report_main(int argc, char **argv)
{
    struct report r = { 0 };
    struct lh_summary summary;
    lh_options_parse(LH_OPTIONS_REPORT, argc, argv, &r.options);
    r.symbols = r.findings.symbols = lh_symbols_new();
    lh_standing_begin(&r.standing, &r.options, r.symbols);
    read_input(&r);
    lh_standing_judge_all(&r.standing, &r.findings);
    lh_summary_count(&summary, &r.findings, r.processes, r.n);
    if (any_readable(&r)) {
        write_report(&r, &summary);
        lh_summary_notes(r.processes, r.n);
    }
    lh_standing_end(&r.standing);
    int status = summary.status;
    if (status && r.options.exit_code >= 0)
        status = r.options.exit_code;
    if (r.failed)
        status = LH_EXIT_USAGE;
    lh_findings_free(&r.findings);
    lh_naming_free(&r.names);
    lh_symbols_free(r.symbols);
    for (size_t i = 0; i < r.n; i++)
        lh_model_free(r.processes[i]);
    if (r.merged)
        lh_model_free(r.merged);
    free(r.processes);
    lh_options_free(&r.options);
    lh_pool_free(&r.pool);
    return status;
}
