/* SPDX-License-Identifier: MIT
 * check.c - lockhound run --check. */
#include "check.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diag.h"
#include "pool.h"
#include "style.h"
#include "survey.h"
#include "target.h"

enum { MAX_COLUMN = 28 };

static void paragraph(struct lh_pool *pool, size_t first, size_t rest,
                      const char *text)
{
    char *shown = lh_pool_copy(pool, text);
    lh_style_clean(shown);
    lh_style_wrap(stdout, false, first, rest, shown);
}

static size_t column_of(const struct lh_survey *s)
{
    size_t column = 0;
    for (size_t i = 0; i < s->nfiles; i++) {
        size_t width = strlen(s->files[i].name);
        if ((s->files[i].seen || s->files[i].unseen) && width > column)
            column = width < MAX_COLUMN ? width : MAX_COLUMN;
    }
    return column;
}

/* What is said of a file, in a column beside its name. */
static void print_file(struct lh_pool *pool, const struct lh_survey_file *f,
                       size_t column)
{
    const char *seen = lh_survey_families(pool, f->seen);
    const char *unseen = lh_survey_families(pool, f->unseen);
    char *name = lh_pool_copy(pool, f->name), *text = NULL;
    size_t n = 0, indent = 2 + column + 2;
    const char *separator = *seen && *unseen ? "; " : "";
    const char *said = lh_pool_format(pool, "%s%s%s%s", seen, separator,
                                      *unseen ? "not seen: " : "", unseen);
    FILE *out = open_memstream(&text, &n);
    if (out) {
        lh_style_wrap(out, false, indent, indent, said);
        fclose(out);
    } else {
        lh_diag_fail("out of memory");
    }
    lh_style_clean(name);
    if (strlen(name) > column)
        printf("  %s\n", name);
    else
        memcpy(text + 2, name, strlen(name));
    fputs(text, stdout);
    free(text);
}

static void print_files(struct lh_pool *pool, const struct lh_survey *s)
{
    size_t silent = 0, column = column_of(s);
    for (size_t i = 0; i < s->nfiles; i++) {
        const struct lh_survey_file *f = &s->files[i];
        if (f->seen || f->unseen)
            print_file(pool, f, column);
        else
            silent++;
    }
    if (silent == s->nfiles)
        puts("  none");
    else if (silent)
        printf("  (and %zu file%s without lock calls)\n", silent,
               silent == 1 ? "" : "s");
}

void lh_check_print(struct lh_pool *pool, const char *command,
                    const char *preload)
{
    struct lh_target target;
    lh_target_find(pool, command, &target);
    if (!target.path)
        lh_diag_fail("%s: is no ELF program (expected one, or a script of one)",
                     command);
    if (target.unseen)
        lh_diag_fail("%s: %s", target.path, target.unseen);
    struct lh_survey s = lh_survey_take(pool, target.path, preload);
    paragraph(pool, 0, 2,
              lh_pool_format(pool,
                             "%s: the lock calls that are seen, file by "
                             "file:",
                             target.path));
    print_files(pool, &s);
    puts("Not seen:");
    for (size_t i = 0; i < s.nremarks; i++)
        paragraph(pool, 2, 4, s.remarks[i].text);
    if (target.limits)
        paragraph(pool, 2, 4, target.limits);
    paragraph(pool, 0, 0,
              "Libraries that it loads later, by dlopen, and programs that it "
              "starts are not listed; they are watched alike.");
    if (fflush(stdout) != 0)
        lh_diag_fail("stdout: cannot be written");
}
