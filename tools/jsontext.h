/* SPDX-License-Identifier: MIT
 *
 * jsontext.h - a JSON value as text, fast: a report can have hundreds of
 * megabytes, which jansson writes in pieces of a few bytes.
 */
#ifndef LH_TOOLS_JSONTEXT_H
#define LH_TOOLS_JSONTEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Writes the value: on one line; or indented, and only what has neither arrays
 * nor objects inside on one line. Without a newline at the end. */
void lh_jsontext_write(FILE *out, json_t *value, bool indented);

#endif
