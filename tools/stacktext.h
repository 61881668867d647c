/* SPDX-License-Identifier: MIT
 *
 * stacktext.h - a stack as text for a person, a frame a line, in 80 columns.
 */
#ifndef LH_TOOLS_STACKTEXT_H
#define LH_TOOLS_STACKTEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "trace.h"

struct lh_pool;

/* Indented by six columns. whole: long names are broken instead of cut. */
void lh_stacktext_write(FILE *out, bool whole, struct lh_pool *pool,
                        struct lh_trace t);

#endif
