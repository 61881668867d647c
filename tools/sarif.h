/* SPDX-License-Identifier: MIT
 *
 * sarif.h - a report as SARIF 2.1.0, for code scanning services and editors.
 */
#ifndef LH_TOOLS_SARIF_H
#define LH_TOOLS_SARIF_H

#include <stdio.h>

struct lh_content;

void lh_sarif_report(FILE *out, const struct lh_content *content);

#endif
