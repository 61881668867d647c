/* SPDX-License-Identifier: MIT
 * xml.c - any text inside XML. */
#include "xml.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "style.h"

/* The code point at text and its length; 0 where it is no UTF-8. */
static size_t decode(const unsigned char *text, uint32_t *point)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t n = text[0] < 0x80             ? 1
               : (text[0] & 0xe0) == 0xc0 ? 2
               : (text[0] & 0xf0) == 0xe0 ? 3
               : (text[0] & 0xf8) == 0xf0 ? 4
                                          : 0;
    *point = n == 1 ? text[0] : n ? text[0] & (0x7fU >> n) : 0;
    for (size_t i = 1; i < n; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        *point = *point << 6 | (text[i] & 0x3f);
    }
    return n && *point >= least[n] ? n : 0;
}

static bool is_allowed(uint32_t point)
{
    if (point < 0x20)
        return point == '\t' || point == '\n';
    return point != 0x7f && (point < 0xd800 || point > 0xdfff) &&
           point != 0xfffe && point != 0xffff && point <= 0x10ffff;
}

static bool is_mark(uint32_t point)
{
    return point == (unsigned char)*LH_STYLE_BOLD ||
           point == (unsigned char)*LH_STYLE_LOCK ||
           point == (unsigned char)*LH_STYLE_END;
}

static const char *entity(uint32_t point)
{
    return point == '&'    ? "&amp;"
           : point == '<'  ? "&lt;"
           : point == '>'  ? "&gt;"
           : point == '"'  ? "&quot;"
           : point == '\'' ? "&apos;"
                           : NULL;
}

/* Bytes at text that stand for themselves. */
static size_t plain(const char *text)
{
    size_t n = 0;
    while ((text[n] >= ' ' && text[n] < 0x7f && !entity((unsigned)text[n])) ||
           text[n] == '\n')
        n++;
    return n;
}

void lh_xml_put(FILE *out, const char *text)
{
    static const char replacement[] = "\xef\xbf\xbd";
    uint32_t point;
    for (size_t n; *text; text += n ? n : 1) {
        n = plain(text);
        if (n) {
            fwrite(text, 1, n, out);
            continue;
        }
        n = decode((const unsigned char *)text, &point);
        if (n && is_mark(point))
            continue;
        if (!n || (n > 1 && !is_allowed(point)))
            fputs(replacement, out);
        else if (!is_allowed(point))
            fputc('?', out);
        else if (entity(point))
            fputs(entity(point), out);
        else
            fwrite(text, 1, n, out);
    }
}
