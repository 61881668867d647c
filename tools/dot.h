/* SPDX-License-Identifier: MIT
 *
 * dot.h - the order of the locks as a graph, for Graphviz.
 */
#ifndef LH_TOOLS_DOT_H
#define LH_TOOLS_DOT_H

#include <stdio.h>

struct lh_content;

void lh_dot_report(FILE *out, const struct lh_content *content);

#endif
