/* SPDX-License-Identifier: MIT
 *
 * db.h - lockhound db: the records of many runs in one file.
 */
#ifndef LH_TOOLS_DB_H
#define LH_TOOLS_DB_H

/* argv[0] is "db". Returns the exit status. */
int lh_db_main(int argc, char **argv);

#endif
