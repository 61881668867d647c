/* SPDX-License-Identifier: MIT
 *
 * output.h - the file that a report goes to, or standard output.
 */
#ifndef LH_TOOLS_OUTPUT_H
#define LH_TOOLS_OUTPUT_H

#include <stdio.h>

/* name: NULL for standard output. A file that cannot be written is said, and
 * the command exits with 2; so it is below. */
FILE *lh_output_open(const char *name);
void lh_output_close(FILE *out, const char *name);

#endif
