/* SPDX-License-Identifier: MIT
 * diag.c - the tool's own messages. */
#include "diag.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "style.h"

enum { PROGRESS_COLUMNS = 60 };

static bool progress_shown;

void lh_diag_progress_end(void)
{
    if (!progress_shown)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    progress_shown = false;
}

/* Formats first, so that the line leaves in one write even while the target
 * writes to the same stderr. */
static void say(const char *format, va_list args)
{
    char *text = NULL;
    lh_diag_progress_end();
    if (vasprintf(&text, format, args) < 0)
        return;
    lh_style_clean(text);
    fprintf(stderr, "lockhound: %s\n", text);
    fflush(stderr);
    free(text);
}

void lh_diag_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
}

void lh_diag_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
    exit(LH_EXIT_USAGE);
}

/* Cut before the terminal would break it: only one line can be removed. */
void lh_diag_progress(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    if (!isatty(STDERR_FILENO))
        return;
    va_start(args, format);
    int n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0)
        return;
    lh_style_clean(text);
    lh_diag_progress_end();
    fprintf(stderr, "lockhound: %.*s", PROGRESS_COLUMNS, text);
    fflush(stderr);
    progress_shown = true;
    free(text);
}
