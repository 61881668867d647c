/* SPDX-License-Identifier: MIT
 * diag.c - the tool's own messages. */
#include "diag.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "style.h"

static bool progress_shown;

static void clear_progress(void)
{
    if (progress_shown)
        fputs("\r\033[K", stderr);
    progress_shown = false;
}

/* Formats first, so that the line leaves in one write even while the target
 * writes to the same stderr. */
static void say(const char *format, va_list args)
{
    char *text = NULL;
    clear_progress();
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

void lh_diag_progress(const char *format, ...)
{
    if (!isatty(STDERR_FILENO))
        return;
    clear_progress();
    if (!*format)
        return;
    va_list args;
    va_start(args, format);
    fputs("lockhound: ", stderr);
    vfprintf(stderr, format, args);
    va_end(args);
    fflush(stderr);
    progress_shown = true;
}
