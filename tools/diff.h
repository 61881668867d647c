/* SPDX-License-Identifier: MIT
 *
 * diff.h - lockhound diff: which findings are new, gone or still there.
 */
#ifndef LH_TOOLS_DIFF_H
#define LH_TOOLS_DIFF_H

/* argv[0] is "diff". Returns the exit status. */
int lh_diff_main(int argc, char **argv);

#endif
