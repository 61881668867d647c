/* SPDX-License-Identifier: MIT
 *
 * style.h - emphasis in text, and text in 80 columns.
 *
 * Emphasis travels inside strings as one control character, which becomes an
 * escape sequence on the way out, or nothing. What comes from outside passes
 * lh_style_clean() first and so can neither forge one nor reach the terminal
 * with an escape sequence of its own.
 */
#ifndef LH_TOOLS_STYLE_H
#define LH_TOOLS_STYLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define LH_STYLE_BOLD "\001"
#define LH_STYLE_LOCK "\002"
#define LH_STYLE_END "\003"

enum lh_colour { LH_COLOUR_AUTO, LH_COLOUR_ALWAYS, LH_COLOUR_NEVER };

enum { LH_STYLE_COLUMNS = 80 };

/* Whether to colour what goes to fd: as asked, else on a terminal only and
 * not when NO_COLOR is set. */
bool lh_style_wanted(enum lh_colour asked, int fd);

/* Replaces control characters by '?', in place. */
void lh_style_clean(char *text);

/* Whether text is without emphasis. */
bool lh_style_is_plain(const char *text);

/* Removes the emphasis, in place; returns text. */
char *lh_style_strip(char *text);

/* Columns that the text takes: code points without the emphasis. */
size_t lh_style_width(const char *text);

/* Writes text as a paragraph broken at spaces: its first line indented by
 * `first` columns, the others by `rest`. Emphasis ends within a word or spans
 * lines alike. */
void lh_style_wrap(FILE *out, bool colour, size_t first, size_t rest,
                   const char *text);

#endif
