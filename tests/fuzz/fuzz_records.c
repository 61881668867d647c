/* SPDX-License-Identifier: MIT
 * fuzz_records.c - record files, and all that a report does with them.
 *
 * An input is one file, or several: each line that begins as a record file does
 * begins another one. Its length says which of the formats are written. */
#include <getopt.h>
#include <jansson.h>
#include <string.h>

#include "diff.h"
#include "explain.h"
#include "findings.h"
#include "gather.h"
#include "genrule.h"
#include "harness.h"
#include "layout.h"
#include "pool.h"
#include "report.h"
#include "suppress.h"
#include "symbols.h"

enum {
    MOST_INPUTS = 4,
    RULE = MOST_INPUTS, /* files: a rule, then what the formats write */
    OUTPUT,
    NFORMATS = 7,
    NGROUPS = 3,
    MAX_ARGS = 48
};

static const struct {
    const char *name;
    size_t group;
    int json;
} formats[NFORMATS] = {
    { "text", 0, 0 },  { "short", 0, 0 }, { "json", 1, 1 }, { "sarif", 1, 1 },
    { "junit", 2, 0 }, { "dot", 0, 0 },   { "html", 2, 0 },
};

/* Graphviz is not to be started a thousand times a second: the HTML does its
 * own, as where there is none. */
bool lh_layout_find(struct lh_layout *l, struct lh_pool *pool)
{
    (void)l;
    (void)pool;
    return false;
}

static size_t split(const uint8_t *data, size_t n, char **inputs)
{
    static const char start[] = "\n{\"lockhound\":";
    size_t ninputs = 0;
    while (n || ninputs == 0) {
        const uint8_t *next = ninputs + 1 < MOST_INPUTS && n
                                  ? memmem(data, n, start, sizeof start - 1)
                                  : NULL;
        size_t size = next ? (size_t)(next - data) + 1 : n;
        inputs[ninputs] = fuzz_word(fuzz_file(ninputs, data, size));
        ninputs++;
        data += size;
        n -= size;
    }
    return ninputs;
}

static void add(char **argv, int *argc, const char *word)
{
    argv[(*argc)++] = fuzz_word(word);
    argv[*argc] = NULL;
}

static void expect_json(size_t file)
{
    json_error_t error;
    json_t *root =
        json_load_file(fuzz_path(file), JSON_REJECT_DUPLICATES, &error);
    fuzz_expect(root != NULL, "what claims to be JSON is JSON");
    json_decref(root);
}

/* Whether there was something to tell of. */
static int report(char **inputs, size_t ninputs, size_t group)
{
    static const char *const options[] = { "report", "--all", "--color=always",
                                           "--gen-suppressions",
                                           "--exit-code=7" };
    char *argv[MAX_ARGS];
    int argc = 0;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        add(argv, &argc, options[i]);
    for (size_t i = 0; i < NFORMATS; i++) {
        if (formats[i].group != group)
            continue;
        add(argv, &argc, "--format");
        add(argv, &argc, formats[i].name);
        add(argv, &argc, "-o");
        add(argv, &argc, fuzz_file(OUTPUT + i, "", 0));
    }
    for (size_t i = 0; i < ninputs; i++)
        add(argv, &argc, inputs[i]);
    optind = 0;
    return lh_report_main(argc, argv);
}

/* --gen-suppressions promises it. */
static void expect_rule_matches(const struct lh_explain *e)
{
    const char *text = lh_genrule_text(e);
    struct lh_suppress *rules = lh_suppress_new();
    fuzz_file(RULE, text, strlen(text));
    lh_suppress_read(rules, fuzz_path(RULE));
    fuzz_expect(lh_suppress_match(rules, e),
                "the rule of a finding matches it");
    lh_suppress_free(rules);
}

static void expect_rules_match(char **inputs, size_t ninputs)
{
    struct lh_symbols *symbols = lh_symbols_new();
    struct lh_gather read = { 0 };
    lh_gather_read(&read, inputs, ninputs, symbols);
    for (size_t i = 0; i < read.findings.n; i++) {
        const struct lh_findings_item *item = read.findings.items[i];
        struct lh_naming names = { 0 };
        struct lh_pool pool = { 0 };
        struct lh_explain e;
        lh_explain_begin(&e, &pool, symbols, &names, item->process,
                         item->finding);
        expect_rule_matches(&e);
        lh_naming_free(&names);
        lh_pool_free(&pool);
    }
    lh_gather_free(&read);
    lh_symbols_free(symbols);
}

static void compare(char **inputs)
{
    char *argv[MAX_ARGS];
    int argc = 0;
    add(argv, &argc, "diff");
    add(argv, &argc, "--all");
    add(argv, &argc, "--format=json");
    add(argv, &argc, "-o");
    add(argv, &argc, fuzz_file(OUTPUT, "", 0));
    add(argv, &argc, inputs[0]);
    add(argv, &argc, inputs[1]);
    optind = 0;
    /* 2: the files were no records. */
    if (lh_diff_main(argc, argv) != 2)
        expect_json(OUTPUT);
}

void fuzz_one(const uint8_t *data, size_t n)
{
    char *inputs[MOST_INPUTS];
    size_t ninputs = split(data, n, inputs);
    size_t group = n % NGROUPS;
    int status = report(inputs, ninputs, group);
    if (status == 2)
        return;
    for (size_t i = 0; i < NFORMATS; i++)
        if (formats[i].group == group && formats[i].json)
            expect_json(OUTPUT + i);
    if (status == 7)
        expect_rules_match(inputs, ninputs);
    if (ninputs > 1)
        compare(inputs);
}
