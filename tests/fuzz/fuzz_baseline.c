/* SPDX-License-Identifier: MIT
 * fuzz_baseline.c - baselines, and findings that are compared with them. What
 * is read can be written and read again. */
#include <getopt.h>
#include <stdio.h>

#include "baseline.h"
#include "explain.h"
#include "findings.h"
#include "harness.h"
#include "known.h"
#include "pool.h"
#include "report.h"
#include "sample.h"

enum { INPUT, COPY, REPORT };

static void expect_same(struct lh_known *known)
{
    FILE *out = fopen(fuzz_file(COPY, "", 0), "we");
    struct lh_known *copy = lh_known_new();
    fuzz_expect(out && lh_known_write(known, out) == 0, "it can be written");
    fclose(out);
    lh_known_read(copy, fuzz_path(COPY));
    fuzz_expect(lh_known_count(known) == lh_known_count(copy),
                "what is written is read again");
    lh_known_free(copy);
}

static void compare(const struct lh_known *known)
{
    const struct lh_findings *findings = &fuzz_sample()->findings;
    for (size_t i = 0; i < findings->n; i++)
        lh_known_has(known, findings->items[i], "8d0f4c2a91b3e657:1");
}

static void report(const char *baseline)
{
    char *argv[] = { fuzz_word("report"),
                     fuzz_word("--baseline"),
                     fuzz_word(baseline),
                     fuzz_word("-o"),
                     fuzz_word(fuzz_file(REPORT, "", 0)),
                     fuzz_word(fuzz_sample_path()),
                     NULL };
    optind = 0;
    int status = lh_report_main(sizeof argv / sizeof *argv - 1, argv);
    fuzz_expect(status == 0 || status == 66 || status == 67,
                "a report with a baseline is a report");
}

void fuzz_one(const uint8_t *data, size_t n)
{
    struct lh_known *known = lh_known_new();
    lh_known_read(known, fuzz_file(INPUT, data, n));
    compare(known);
    expect_same(known);
    lh_known_free(known);
    report(fuzz_path(INPUT));
}
