/* SPDX-License-Identifier: MIT
 * report.c - lockhound report. */
#include "report.h"

#include <stdio.h>

#include "diag.h"
#include "explain.h"
#include "findings.h"
#include "gather.h"
#include "genrule.h"
#include "json.h"
#include "naming.h"
#include "options.h"
#include "output.h"
#include "pool.h"
#include "standing.h"
#include "style.h"
#include "summary.h"
#include "symbols.h"
#include "text.h"

struct report {
    struct lh_pool pool;
    struct lh_options options;
    struct lh_gather read;
    struct lh_symbols *symbols;
    struct lh_naming names;
    struct lh_standing standing;
};

/* All of them, so that no name has to change on the way. */
static void name_locks(struct report *r)
{
    for (size_t i = 0; i < r->read.findings.n; i++) {
        const struct lh_findings_item *item = r->read.findings.items[i];
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
    for (size_t i = 0; i < r->read.findings.n; i++) {
        const struct lh_findings_item *item = r->read.findings.items[i];
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
    FILE *out = lh_output_open(r->options.output);
    name_locks(r);
    if (r->options.json)
        lh_json_report(out, r->options.all, r->symbols, &r->names,
                       &r->read.findings, summary, r->read.processes,
                       r->read.n);
    else
        write_text(r, out, summary);
    lh_output_close(out, r->options.output);
}

int lh_report_main(int argc, char **argv)
{
    struct report r = { 0 };
    struct lh_summary summary;
    lh_options_parse(LH_OPTIONS_REPORT, argc, argv, &r.options);
    r.symbols = lh_symbols_new();
    lh_standing_begin(&r.standing, &r.options, r.symbols);
    lh_gather_read(&r.read, r.options.rest, (size_t)r.options.nrest, r.symbols);
    lh_standing_judge_all(&r.standing, &r.read.findings);
    lh_summary_count(&summary, &r.read.findings, r.read.processes, r.read.n);
    if (lh_gather_any(&r.read)) {
        write_report(&r, &summary);
        lh_summary_notes(r.read.processes, r.read.n);
        lh_standing_say_unused(&r.standing);
    }
    lh_standing_end(&r.standing);
    int status = summary.status;
    if (status && r.options.exit_code >= 0)
        status = r.options.exit_code;
    if (r.read.failed)
        status = LH_EXIT_USAGE;
    lh_gather_free(&r.read);
    lh_naming_free(&r.names);
    lh_symbols_free(r.symbols);
    lh_options_free(&r.options);
    lh_pool_free(&r.pool);
    return status;
}
