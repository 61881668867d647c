/* SPDX-License-Identifier: MIT
 * baseline.c - lockhound baseline. */
#include "baseline.h"

#include <stdio.h>

#include "diag.h"
#include "gather.h"
#include "known.h"
#include "options.h"
#include "output.h"
#include "standing.h"
#include "symbols.h"

static void write_file(struct lh_known *known, const char *name)
{
    FILE *out = lh_output_open(name);
    lh_known_write(known, out);
    lh_output_close(out, name);
    lh_diag_say("%s: %zu finding%s", name ? name : "stdout",
                lh_known_count(known), lh_known_count(known) == 1 ? "" : "s");
}

int lh_baseline_main(int argc, char **argv)
{
    struct lh_options options;
    struct lh_standing standing;
    struct lh_gather read = { 0 };
    lh_options_parse(LH_OPTIONS_BASELINE, argc, argv, &options);
    struct lh_symbols *symbols = lh_symbols_new();
    struct lh_known *known = lh_known_new();
    lh_standing_begin(&standing, &options, symbols);
    lh_gather_read(&read, options.rest, (size_t)options.nrest, symbols);
    /* What could not be read would be taken for new ever after. */
    if (!read.failed) {
        lh_standing_judge_all(&standing, &read.findings);
        lh_standing_collect(&standing, &read.findings, known);
        write_file(known, options.output);
        lh_standing_say_unused(&standing);
    }
    lh_standing_end(&standing);
    lh_known_free(known);
    lh_gather_free(&read);
    lh_symbols_free(symbols);
    lh_options_free(&options);
    return read.failed ? LH_EXIT_USAGE : 0;
}
