/* SPDX-License-Identifier: MIT
 *
 * report.h - lockhound report: the findings in records of earlier runs.
 */
#ifndef LH_TOOLS_REPORT_H
#define LH_TOOLS_REPORT_H

struct lh_options;

/* A report on the records that the options name. Returns the exit status. */
int lh_report_make(struct lh_options *options);

/* argv[0] is "report". Returns the exit status. */
int lh_report_main(int argc, char **argv);

#endif
