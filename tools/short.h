/* SPDX-License-Identifier: MIT
 *
 * short.h - a finding as one line for logs and editors, as compilers write it.
 */
#ifndef LH_TOOLS_SHORT_H
#define LH_TOOLS_SHORT_H

#include <stdio.h>

struct lh_content;

/* "bank.c:31: warning: LH001 ...", and a "note:" for each other side. */
void lh_short_report(FILE *out, const struct lh_content *content);

#endif
