/* SPDX-License-Identifier: MIT
 * formats.c - the formats of a report, and the files that it goes to. */
#include "formats.h"

#include <string.h>
#include <unistd.h>

#include "content.h"
#include "diag.h"
#include "dot.h"
#include "explain.h"
#include "html.h"
#include "json.h"
#include "junit.h"
#include "options.h"
#include "output.h"
#include "progress.h"
#include "sarif.h"
#include "short.h"
#include "text.h"

static const struct {
    const char *name;
    void (*write)(FILE *out, const struct lh_content *content);
} formats[] = {
    { "text", lh_text_report },   { "short", lh_short_report },
    { "json", lh_json_report },   { "sarif", lh_sarif_report },
    { "junit", lh_junit_report }, { "dot", lh_dot_report },
    { "html", lh_html_report },
};

enum { NFORMATS = sizeof formats / sizeof *formats };

bool lh_formats_is_name(const char *name)
{
    for (size_t i = 0; i < NFORMATS; i++)
        if (strcmp(formats[i].name, name) == 0)
            return true;
    return false;
}

void lh_formats_open(struct lh_options *options)
{
    for (size_t i = 0; i < options->noutputs; i++) {
        struct lh_options_output *o = &options->outputs[i];
        o->stream = lh_output_open(o->file);
    }
}

/* All of them, so that no name has to change on the way. */
static void name_locks(const struct lh_content *c)
{
    lh_progress_begin(c->progress, "naming locks", c->findings->n);
    for (size_t i = 0; i < c->findings->n; i++) {
        const struct lh_findings_item *item = c->findings->items[i];
        if (lh_findings_is_wanted(item, c->all))
            lh_explain_name_locks(c->symbols, c->names, item->process,
                                  item->finding);
        lh_progress_step(c->progress);
    }
}

/* On a terminal the report itself shows how far it is. */
static void write_one(const struct lh_options_output *o,
                      const struct lh_content *content)
{
    bool shown = isatty(fileno(o->stream));
    lh_progress_begin(content->progress, shown ? NULL : o->format,
                      content->findings->n);
    for (size_t i = 0; i < NFORMATS; i++)
        if (strcmp(formats[i].name, o->format) == 0)
            formats[i].write(o->stream, content);
    lh_diag_progress_end();
    lh_output_close(o->stream, o->file);
}

void lh_formats_write(struct lh_options *options,
                      const struct lh_content *content)
{
    struct lh_progress progress;
    struct lh_content c = *content;
    c.progress = &progress;
    name_locks(&c);
    for (size_t i = 0; i < options->noutputs; i++)
        write_one(&options->outputs[i], &c);
}
