/* SPDX-License-Identifier: MIT
 *
 * run.h - lockhound run: starts a program with the preload, tells each finding
 * when it is found, and ends like the program.
 */
#ifndef LH_TOOLS_RUN_H
#define LH_TOOLS_RUN_H

/* argv[0] is "run". Returns the exit status. */
int lh_run_main(int argc, char **argv);

#endif
