/* SPDX-License-Identifier: MIT
 * diff.c - lockhound diff. */
#include "diff.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "diag.h"
#include "explain.h"
#include "findings.h"
#include "gather.h"
#include "json.h"
#include "known.h"
#include "naming.h"
#include "options.h"
#include "output.h"
#include "pool.h"
#include "standing.h"
#include "style.h"
#include "summary.h"
#include "symbols.h"
#include "text.h"

/* Findings of one side of the comparison that have one standing. */
struct part {
    const char *key, *title;
    const struct lh_findings *findings;
    enum lh_findings_standing standing;
    bool whole; /* each is told as in a report */
};

enum { NPARTS = 3 };

struct diff {
    struct lh_pool pool;
    struct lh_options options;
    struct lh_symbols *symbols;
    struct lh_naming names;
    struct lh_standing standing;
    struct lh_gather old, new;
    struct part parts[NPARTS];
    struct lh_summary summary; /* of what is new */
};

static bool is_of(const struct diff *d, const struct part *part,
                  const struct lh_findings_item *item)
{
    return item->standing == part->standing &&
           (d->options.all || item->finding->grade != LH_MODEL_CONDITIONAL);
}

static size_t count(const struct diff *d, const struct part *part)
{
    size_t n = 0;
    for (size_t i = 0; i < part->findings->n; i++)
        n += is_of(d, part, part->findings->items[i]);
    return n;
}

/* Each is known where the other side has it. */
static void compare(struct diff *d)
{
    struct lh_known *old = lh_known_new(), *new = lh_known_new();
    lh_standing_judge_all(&d->standing, &d->old.findings);
    lh_standing_judge_all(&d->standing, &d->new.findings);
    lh_standing_collect(&d->standing, &d->old.findings, old);
    lh_standing_collect(&d->standing, &d->new.findings, new);
    lh_standing_compare(&d->standing, &d->old.findings, new);
    lh_standing_compare(&d->standing, &d->new.findings, old);
    lh_known_free(old);
    lh_known_free(new);
    lh_summary_count(&d->summary, &d->new.findings, d->new.processes, d->new.n);
    const struct lh_findings *before = &d->old.findings;
    const struct lh_findings *now = &d->new.findings;
    d->parts[0] = (struct part){ "new", "new", now, LH_FINDINGS_COUNTS, true };
    d->parts[1] =
        (struct part){ "gone", "gone", before, LH_FINDINGS_COUNTS, false };
    d->parts[2] =
        (struct part){ "still", "still there", now, LH_FINDINGS_KNOWN, false };
}

/* All of them, so that no name has to change on the way. */
static void name_locks(struct diff *d)
{
    for (size_t i = 0; i < NPARTS; i++) {
        const struct part *part = &d->parts[i];
        for (size_t j = 0; j < part->findings->n; j++)
            if (is_of(d, part, part->findings->items[j]))
                lh_explain_name_locks(d->symbols, &d->names,
                                      part->findings->items[j]->process,
                                      part->findings->items[j]->finding);
    }
}

static void write_sentence(struct diff *d, FILE *out, bool colour,
                           const struct lh_findings_item *item)
{
    struct lh_explain e;
    lh_explain_begin(&e, &d->pool, d->symbols, &d->names, item->process,
                     item->finding);
    lh_style_wrap(out, colour, 2, 4, lh_explain_sentence(&e));
}

static void write_part(struct diff *d, FILE *out, bool colour,
                       const struct part *part)
{
    if (!count(d, part))
        return;
    fprintf(out, "%s:\n", part->title);
    for (size_t i = 0; i < part->findings->n; i++) {
        const struct lh_findings_item *item = part->findings->items[i];
        if (!is_of(d, part, item))
            continue;
        if (!part->whole) {
            write_sentence(d, out, colour, item);
            continue;
        }
        fputc('\n', out);
        lh_text_finding(out, colour, false, d->symbols, &d->names, item);
    }
    fputc('\n', out);
}

/* Those of the new records that are left out, for want of --all. */
static size_t count_conditional(const struct diff *d)
{
    size_t n = 0;
    for (size_t i = 0; i < d->new.findings.n && !d->options.all; i++) {
        const struct lh_findings_item *item = d->new.findings.items[i];
        n += item->finding->grade == LH_MODEL_CONDITIONAL &&
             item->standing != LH_FINDINGS_SUPPRESSED;
    }
    return n;
}

static void write_text(struct diff *d, FILE *out)
{
    bool colour = lh_style_wanted(d->options.colour, fileno(out));
    for (size_t i = 0; i < NPARTS; i++)
        write_part(d, out, colour, &d->parts[i]);
    fprintf(out, "lockhound: %zu new, %zu gone, %zu still there",
            count(d, &d->parts[0]), count(d, &d->parts[1]),
            count(d, &d->parts[2]));
    size_t conditional = count_conditional(d);
    if (conditional)
        fprintf(out, ", %zu conditional (--all shows %s)", conditional,
                conditional == 1 ? "it" : "them");
    if (d->summary.suppressed)
        fprintf(out, ", %zu suppressed", d->summary.suppressed);
    fputc('\n', out);
}

static void write_json(struct diff *d, FILE *out)
{
    json_t *root = json_object(), *summary = json_object();
    json_object_set_new(root, "lockhound", json_integer(LH_JSON_VERSION));
    for (size_t i = 0; i < NPARTS; i++) {
        const struct part *part = &d->parts[i];
        json_t *list = json_array();
        for (size_t j = 0; j < part->findings->n; j++)
            if (is_of(d, part, part->findings->items[j]))
                json_array_append_new(
                    list, lh_json_finding(d->symbols, &d->names,
                                          part->findings->items[j]));
        json_object_set_new(root, part->key, list);
        json_object_set_new(summary, part->key,
                            json_integer((json_int_t)json_array_size(list)));
    }
    json_object_set_new(summary, "conditional",
                        json_integer((json_int_t)count_conditional(d)));
    json_object_set_new(summary, "suppressed",
                        json_integer((json_int_t)d->summary.suppressed));
    json_object_set_new(root, "summary", summary);
    /* What goes wrong with the file is said when it is closed. */
    json_dumpf(root, out, JSON_INDENT(2));
    fputc('\n', out);
    json_decref(root);
}

/* An offset is another in each build, and all that is known without a file. */
static void say_unrecognized(const struct diff *d)
{
    if (count(d, &d->parts[0]) && count(d, &d->parts[1]) &&
        lh_symbols_miss_a_file(d->symbols))
        lh_diag_say("diff: what is new may be what is gone: without its file a "
                    "finding is recognized in the same build only");
}

static int write_diff(struct diff *d)
{
    FILE *out = lh_output_open(d->options.output);
    compare(d);
    name_locks(d);
    if (d->options.json)
        write_json(d, out);
    else
        write_text(d, out);
    lh_output_close(out, d->options.output);
    lh_standing_say_unused(&d->standing);
    say_unrecognized(d);
    int status = d->summary.status;
    return status && d->options.exit_code >= 0 ? d->options.exit_code : status;
}

int lh_diff_main(int argc, char **argv)
{
    struct diff d = { 0 };
    lh_options_parse(LH_OPTIONS_DIFF, argc, argv, &d.options);
    if (d.options.nrest != 2)
        lh_diag_fail("diff: %d file%s (expected two, OLD and NEW)",
                     d.options.nrest, d.options.nrest == 1 ? "" : "s");
    d.symbols = lh_symbols_new();
    lh_standing_begin(&d.standing, &d.options, d.symbols);
    lh_gather_read(&d.old, d.options.rest, 1, d.symbols);
    lh_gather_read(&d.new, d.options.rest + 1, 1, d.symbols);
    /* What was not read is neither gone nor new. */
    bool failed = d.old.failed || d.new.failed;
    int status = failed ? LH_EXIT_USAGE : write_diff(&d);
    lh_standing_end(&d.standing);
    lh_gather_free(&d.old);
    lh_gather_free(&d.new);
    lh_naming_free(&d.names);
    lh_symbols_free(d.symbols);
    lh_options_free(&d.options);
    lh_pool_free(&d.pool);
    return status;
}
