/* SPDX-License-Identifier: MIT
 *
 * xml.h - any text inside XML.
 */
#ifndef LH_TOOLS_XML_H
#define LH_TOOLS_XML_H

#include <stdio.h>

/* Writes text as character data or as the value of a quoted attribute. What
 * XML cannot have is replaced: control characters by '?', bytes that are no
 * UTF-8 by U+FFFD. Emphasis (style.h) is left out. */
void lh_xml_put(FILE *out, const char *text);

#endif
