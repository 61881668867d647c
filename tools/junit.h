/* SPDX-License-Identifier: MIT
 *
 * junit.h - a report as JUnit XML, for CI servers.
 *
 * The kinds of findings are the tests: one that was not found has passed, and
 * each finding is a test of its own that has failed, or was skipped where it is
 * conditional.
 */
#ifndef LH_TOOLS_JUNIT_H
#define LH_TOOLS_JUNIT_H

#include <stdio.h>

struct lh_content;

void lh_junit_report(FILE *out, const struct lh_content *content);

#endif
