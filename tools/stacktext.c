/* SPDX-License-Identifier: MIT
 * stacktext.c - a stack as text for a person, a frame a line. */
#include "stacktext.h"

#include <string.h>

#include "place.h"
#include "pool.h"
#include "style.h"
#include "trace.h"

enum {
    MAX_FUNCTION = 44, /* columns in which functions are aligned */
    MAX_NAME = 56,     /* bytes of a function's name that are shown */
};

struct page {
    FILE *out;
    bool whole;
    struct lh_pool *pool;
};

static char *shown_function(struct page *p, const struct lh_trace_line *line)
{
    const char *name = lh_trace_function(p->pool, line);
    const char *inlined = line->inlined ? " (inlined)" : "";
    bool cut = strlen(name) > MAX_NAME && !p->whole;
    char *text =
        lh_pool_format(p->pool, "%.*s%s%s", cut ? MAX_NAME : (int)strlen(name),
                       name, cut ? "..." : "", inlined);
    lh_style_clean(text);
    return text;
}

static char *shown_source(struct page *p, const struct lh_trace_line *line)
{
    const char *source = "";
    if (*line->file)
        source =
            lh_place_short(p->pool, line->file, line->built_in, line->line);
    else if (*line->function && *line->module)
        source = lh_pool_format(p->pool, "in %s", lh_place_base(line->module));
    char *text = lh_pool_copy(p->pool, source);
    lh_style_clean(text);
    return text;
}

/* A name that is broken where it has spaces. */
static void long_line(struct page *p, size_t indent, const char *label,
                      const char *function, const char *source)
{
    lh_style_wrap(p->out, false, 6, indent + 4,
                  lh_pool_format(p->pool, "%s %s", label, function));
    if (*source)
        fprintf(p->out, "%*s%s\n", (int)indent + 2, "", source);
}

/* The source goes to its column, or to a line of its own. */
static void stack_line(struct page *p, size_t number, int digits, size_t column,
                       const struct lh_trace_line *line)
{
    char label[32];
    const char *function = shown_function(p, line);
    const char *source = shown_source(p, line);
    snprintf(label, sizeof label, "#%-*zu", digits, number);
    size_t indent = 6 + strlen(label) + 1;
    size_t width = lh_style_width(function);
    size_t room = LH_STYLE_COLUMNS - lh_style_width(source);
    if (indent + width > LH_STYLE_COLUMNS) {
        long_line(p, indent, label, function, source);
        return;
    }
    fprintf(p->out, "      %s %s", label, function);
    if (!*source)
        fputc('\n', p->out);
    else if (width <= column && lh_style_width(source) < LH_STYLE_COLUMNS &&
             indent + column + 2 <= room)
        fprintf(p->out, "%*s  %s\n", (int)(column - width), "", source);
    else
        fprintf(p->out, "\n%*s%s\n", (int)indent + 2, "", source);
}

void lh_stacktext_write(FILE *out, bool whole, struct lh_pool *pool,
                        struct lh_trace t)
{
    struct page page = { out, whole, pool }, *p = &page;
    size_t column = 0;
    for (size_t i = 0; i < t.n; i++) {
        size_t width = lh_style_width(shown_function(p, &t.lines[i]));
        if (width > column && width <= MAX_FUNCTION)
            column = width;
    }
    for (size_t i = 0; i < t.n; i++)
        stack_line(p, i, t.n > 10 ? 2 : 1, column, &t.lines[i]);
    if (!t.known || !t.n)
        fputs("      (unknown)\n", p->out);
    else if (t.partial)
        fputs("      (callers not recorded)\n", p->out);
    else if (t.truncated)
        fputs("      (more callers than are recorded)\n", p->out);
}
