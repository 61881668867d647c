/* SPDX-License-Identifier: MIT
 *
 * baseline.h - lockhound baseline: writes down which findings are known.
 */
#ifndef LH_TOOLS_BASELINE_H
#define LH_TOOLS_BASELINE_H

/* argv[0] is "baseline". Returns the exit status. */
int lh_baseline_main(int argc, char **argv);

#endif
