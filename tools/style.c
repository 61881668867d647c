/* SPDX-License-Identifier: MIT
 * style.c - emphasis in text, and text in 80 columns. */
#include "style.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool lh_style_wanted(enum lh_colour asked, int fd)
{
    if (asked != LH_COLOUR_AUTO)
        return asked == LH_COLOUR_ALWAYS;
    const char *no = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    if ((no && *no) || (term && strcmp(term, "dumb") == 0))
        return false;
    return isatty(fd);
}

void lh_style_clean(char *text)
{
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            *p = '?';
}

static bool is_mark(char c)
{
    return c == *LH_STYLE_BOLD || c == *LH_STYLE_LOCK || c == *LH_STYLE_END;
}

bool lh_style_is_plain(const char *text)
{
    return !strpbrk(text, LH_STYLE_BOLD LH_STYLE_LOCK LH_STYLE_END);
}

char *lh_style_strip(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++)
        if (!is_mark(*from))
            *to++ = *from;
    *to = '\0';
    return text;
}

static size_t width_of(const char *text, size_t n)
{
    size_t columns = 0;
    for (size_t i = 0; i < n; i++)
        columns += !is_mark(text[i]) && ((unsigned char)text[i] & 0xc0) != 0x80;
    return columns;
}

size_t lh_style_width(const char *text)
{
    return width_of(text, strlen(text));
}

static void put_mark(FILE *out, bool colour, char mark)
{
    if (!colour)
        return;
    if (mark == *LH_STYLE_BOLD)
        fputs("\033[1m", out);
    else
        fputs(mark == *LH_STYLE_LOCK ? "\033[36m" : "\033[0m", out);
}

static void put_part(FILE *out, bool colour, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (is_mark(text[i]))
            put_mark(out, colour, text[i]);
        else
            fputc(text[i], out);
    }
}

void lh_style_wrap(FILE *out, bool colour, size_t first, size_t rest,
                   const char *text)
{
    size_t column = first;
    bool fresh = true;
    fprintf(out, "%*s", (int)first, "");
    while (*text) {
        size_t n = strcspn(text, " ");
        size_t width = width_of(text, n);
        if (!fresh && column + 1 + width > LH_STYLE_COLUMNS) {
            fprintf(out, "\n%*s", (int)rest, "");
            column = rest;
        } else if (!fresh) {
            fputc(' ', out);
            column++;
        }
        put_part(out, colour, text, n);
        column += width;
        fresh = false;
        text += n;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}
