/* SPDX-License-Identifier: MIT
 * report.c - lockhound report. */
#include "report.h"

#include "content.h"
#include "diag.h"
#include "findings.h"
#include "formats.h"
#include "gather.h"
#include "naming.h"
#include "options.h"
#include "standing.h"
#include "summary.h"
#include "symbols.h"

struct report {
    struct lh_options *options;
    struct lh_gather read;
    struct lh_symbols *symbols;
    struct lh_naming names;
    struct lh_standing standing;
};

static void write_report(struct report *r, const struct lh_summary *summary)
{
    struct lh_content content = {
        .all = r->options->all,
        .verbose = r->options->verbose,
        .gen_suppressions = r->options->gen_suppressions,
        .colour = r->options->colour,
        .symbols = r->symbols,
        .names = &r->names,
        .findings = &r->read.findings,
        .summary = summary,
        .processes = r->read.processes,
        .nprocesses = r->read.n,
    };
    lh_formats_open(r->options);
    lh_formats_write(r->options, &content);
}

int lh_report_make(struct lh_options *options)
{
    struct report r = { .options = options };
    struct lh_summary summary;
    r.symbols = lh_symbols_new();
    lh_standing_begin(&r.standing, options, r.symbols);
    lh_gather_read(&r.read, options->rest, (size_t)options->nrest, r.symbols);
    lh_standing_judge_all(&r.standing, &r.read.findings);
    lh_summary_count(&summary, &r.read.findings, r.read.processes, r.read.n);
    if (lh_gather_any(&r.read)) {
        write_report(&r, &summary);
        lh_summary_notes(r.read.processes, r.read.n);
        lh_standing_say_unused(&r.standing);
    }
    lh_standing_end(&r.standing);
    int status = summary.status;
    if (status && options->exit_code >= 0)
        status = options->exit_code;
    if (r.read.failed)
        status = LH_EXIT_USAGE;
    lh_gather_free(&r.read);
    lh_naming_free(&r.names);
    lh_symbols_free(r.symbols);
    return status;
}

int lh_report_main(int argc, char **argv)
{
    struct lh_options options;
    lh_options_parse(LH_OPTIONS_REPORT, argc, argv, &options);
    int status = lh_report_make(&options);
    lh_options_free(&options);
    return status;
}
