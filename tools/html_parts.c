/* SPDX-License-Identifier: MIT
 * html_parts.c - what the parts of an HTML report share: text, stacks and lines
 * of source. */
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "html.h"
#include "place.h"
#include "pool.h"
#include "source.h"
#include "trace.h"
#include "xml.h"

enum {
    AROUND = 3,       /* lines of source before and after */
    MAX_LINE = 160,   /* bytes of it that are shown */
    MAX_FRAMES = 100, /* of a stack */
};

/* One element at a time: what comes from outside cannot nest them. */
void lh_html_text(FILE *out, struct lh_pool *pool, const char *text)
{
    static const char marks[] = LH_STYLE_BOLD LH_STYLE_LOCK LH_STYLE_END;
    const char *end = "";
    while (*text) {
        size_t n = strcspn(text, marks);
        lh_xml_put(out, lh_pool_format(pool, "%.*s", (int)n, text));
        text += n;
        if (!*text)
            break;
        fputs(end, out);
        bool lock = *text == *LH_STYLE_LOCK, bold = *text == *LH_STYLE_BOLD;
        fputs(lock ? "<code>" : bold ? "<b>" : "", out);
        end = lock ? "</code>" : bold ? "</b>" : "";
        text++;
    }
    fputs(end, out);
}

void lh_html_put(FILE *out, const char *before, struct lh_pool *pool,
                 const char *text, const char *after)
{
    fputs(before, out);
    lh_html_text(out, pool, text);
    fputs(after, out);
}

void lh_html_begin(struct lh_explain *e, const struct lh_html *h,
                   struct lh_pool *pool, const struct lh_model_process *p)
{
    static const struct lh_model_finding none;
    lh_explain_begin(e, pool, h->content->symbols, h->content->names, p, &none);
}

static void frame(FILE *out, const struct lh_explain *e,
                  const struct lh_trace_line *line)
{
    fputs("<li><code>", out);
    lh_xml_put(out, lh_trace_function(e->pool, line));
    fputs(line->inlined ? "</code> (inlined) <span>" : "</code> <span>", out);
    if (*line->file)
        lh_xml_put(out, lh_place_short(e->pool, line->file, line->built_in,
                                       line->line));
    else if (*line->function && *line->module)
        lh_xml_put(
            out, lh_pool_format(e->pool, "in %s", lh_place_base(line->module)));
    fputs("</span></li>\n", out);
}

void lh_html_stack(FILE *out, const struct lh_explain *e, uint64_t stack)
{
    struct lh_trace t = lh_explain_stack(e, stack);
    const char *rest = t.n > MAX_FRAMES ? "more callers"
                       : t.partial      ? "callers not recorded"
                       : t.truncated    ? "more callers than are recorded"
                                        : NULL;
    if (!t.known || !t.n) {
        fputs("<p class=\"unknown\">(stack unknown)</p>\n", out);
        return;
    }
    lh_html_put(out, "<details class=\"stack\"><summary>", e->pool,
                lh_explain_top(e, stack), "</summary>\n<ol start=\"0\">\n");
    for (size_t i = 0; i < t.n && i < MAX_FRAMES; i++)
        frame(out, e, &t.lines[i]);
    fputs("</ol>\n", out);
    if (rest)
        fprintf(out, "<p>(%s)</p>\n", rest);
    fputs("</details>\n", out);
}

static void source_line(FILE *out, struct lh_pool *pool, const char *text,
                        int number, bool here)
{
    size_t n = strcspn(text, "\r\n");
    bool cut = n > MAX_LINE;
    fprintf(out, "<span%s><i>%4d</i> ", here ? " class=\"here\"" : "", number);
    lh_xml_put(out, lh_pool_format(pool, "%.*s%s", (int)(cut ? MAX_LINE : n),
                                   text, cut ? "..." : ""));
    fputs("\n</span>", out);
}

static void source_lines(FILE *out, struct lh_pool *pool, FILE *file, int line)
{
    char *text = NULL;
    size_t capacity = 0;
    bool any = false;
    for (int i = 1; i <= line + AROUND; i++) {
        if (getline(&text, &capacity, file) < 0)
            break;
        if (i < line - AROUND)
            continue;
        if (!any)
            fputs("<pre class=\"source\" tabindex=\"0\">", out);
        any = true;
        source_line(out, pool, text, i, i == line);
    }
    fputs(any ? "</pre>\n" : "", out);
    free(text);
}

void lh_html_source(FILE *out, const struct lh_explain *e, uint64_t stack)
{
    struct lh_trace t = lh_explain_stack(e, stack);
    if (!t.n || !*t.lines[0].file || t.lines[0].line <= 0)
        return;
    FILE *file = lh_source_open(
        lh_place_path(e->pool, t.lines[0].file, t.lines[0].built_in));
    if (!file)
        return;
    source_lines(out, e->pool, file, t.lines[0].line);
    fclose(file);
}
