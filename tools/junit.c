/* SPDX-License-Identifier: MIT
 * junit.c - a report as JUnit XML. */
#include "junit.h"

#include <stdlib.h>
#include <string.h>

#include "content.h"
#include "diag.h"
#include "explain.h"
#include "fingerprint.h"
#include "kinds.h"
#include "model.h"
#include "place.h"
#include "pool.h"
#include "progress.h"
#include "summary.h"
#include "text.h"
#include "xml.h"

struct page {
    FILE *out;
    const struct lh_content *content;
    struct lh_fingerprint fingerprints;
};

struct counts {
    size_t tests, failures, skipped;
};

/* An attribute, with a space before it. */
static void attribute(FILE *out, const char *name, const char *value)
{
    fprintf(out, " %s=\"", name);
    lh_xml_put(out, value);
    fputc('"', out);
}

/* Others are shown, but fail nothing. */
static bool fails(const struct lh_findings_item *item)
{
    return lh_findings_is_wanted(item, false);
}

static void counts_attributes(FILE *out, const struct counts *n)
{
    fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\"",
            n->tests, n->failures, n->skipped);
}

/* How many findings are of a kind; of none that is known: lh_kinds_n. */
static size_t count_kind(const struct lh_content *c, size_t kind)
{
    size_t n = 0;
    for (size_t i = 0; i < c->findings->n; i++)
        n += lh_findings_is_wanted(c->findings->items[i], c->all) &&
             lh_kinds_find(c->findings->items[i]->finding->kind) == kind;
    return n;
}

static struct counts count(const struct lh_content *c)
{
    struct counts n = { 0 };
    for (size_t kind = 0; kind < lh_kinds_n; kind++)
        n.tests += count_kind(c, kind) == 0;
    for (size_t i = 0; i < c->findings->n; i++) {
        const struct lh_findings_item *item = c->findings->items[i];
        bool has = lh_findings_is_wanted(item, c->all);
        n.tests += has;
        n.skipped += has && !fails(item);
        n.failures += has && fails(item);
    }
    return n;
}

static void passed(FILE *out, const struct lh_kinds_row *kind)
{
    fprintf(out, "    <testcase classname=\"lockhound.%s\"", kind->id);
    attribute(out, "name", kind->name);
    fputs(" time=\"0\"/>\n", out);
}

/* The text report of the finding. */
static void body(struct page *p, const struct lh_findings_item *item)
{
    char *text = NULL;
    size_t n = 0;
    FILE *memory = open_memstream(&text, &n);
    if (!memory)
        lh_diag_fail("out of memory");
    lh_text_finding(memory, false, false, p->content->symbols,
                    p->content->names, item);
    if (fclose(memory) != 0)
        lh_diag_fail("out of memory");
    lh_xml_put(p->out, text);
    free(text);
}

static void finding(struct page *p, const struct lh_findings_item *item)
{
    static const char *const grades[] = { "conditional", "possible",
                                          "happened" };
    const struct lh_content *c = p->content;
    const char *element = fails(item) ? "failure" : "skipped";
    lh_progress_step(c->progress);
    struct lh_pool pool = { 0 };
    struct lh_explain e;
    lh_explain_begin(&e, &pool, c->symbols, c->names, item->process,
                     item->finding);
    const char *kind = lh_explain_clean(&e, item->finding->kind);
    const char *about = lh_explain_reference(&e) + strlen("the finding ");
    fputs("    <testcase", p->out);
    attribute(p->out, "classname", lh_pool_format(&pool, "lockhound.%s", kind));
    attribute(p->out, "name",
              lh_pool_format(&pool, "%s %s (%s)", kind, about,
                             lh_fingerprint(&p->fingerprints, &e)));
    fprintf(p->out, " time=\"0\">\n      <%s", element);
    if (fails(item))
        attribute(p->out, "type", grades[item->finding->grade]);
    attribute(p->out, "message", lh_explain_sentence(&e));
    fputc('>', p->out);
    body(p, item);
    fprintf(p->out, "</%s>\n    </testcase>\n", element);
    lh_pool_free(&pool);
}

/* The findings of a kind, or that there are none. */
static void kind_cases(struct page *p, size_t kind)
{
    const struct lh_content *c = p->content;
    if (kind < lh_kinds_n && count_kind(c, kind) == 0)
        passed(p->out, &lh_kinds[kind]);
    for (size_t i = 0; i < c->findings->n; i++)
        if (lh_findings_is_wanted(c->findings->items[i], c->all) &&
            lh_kinds_find(c->findings->items[i]->finding->kind) == kind)
            finding(p, c->findings->items[i]);
}

/* The program that was run; of several the first. */
static const char *suite_name(const struct lh_content *c, struct lh_pool *pool)
{
    const char *name = NULL;
    for (size_t i = 0; i < c->nprocesses; i++) {
        const struct lh_model_process *p = c->processes[i];
        if (!p->started)
            continue;
        if (name && strcmp(name, lh_place_base(p->exe)) != 0)
            return lh_pool_format(pool, "%s and others", name);
        name = lh_place_base(p->exe);
    }
    return name ? name : "lockhound";
}

void lh_junit_report(FILE *out, const struct lh_content *content)
{
    struct page p = { .out = out, .content = content };
    struct counts n = count(content);
    struct lh_pool pool = { 0 };
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          "<testsuites name=\"lockhound\"",
          out);
    counts_attributes(out, &n);
    fputs(" time=\"0\">\n  <testsuite", out);
    attribute(out, "name", suite_name(content, &pool));
    counts_attributes(out, &n);
    fputs(" time=\"0\">\n", out);
    for (size_t kind = 0; kind <= lh_kinds_n; kind++)
        kind_cases(&p, kind);
    fputs("    <system-out>", out);
    lh_xml_put(out,
               lh_summary_text(&pool, content->summary, content->all, NULL));
    fputs("</system-out>\n  </testsuite>\n</testsuites>\n", out);
    lh_fingerprint_free(&p.fingerprints);
    lh_pool_free(&pool);
}
