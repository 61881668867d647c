/* SPDX-License-Identifier: MIT
 *
 * logfile.h - the file of this process's records.
 *
 * Kept open on a high descriptor, as a program may drop the right to open it
 * later, and checked before each write to be still ours: daemons close every
 * descriptor, and a record must never land in the program's own file. When it
 * is not ours any more it is opened again by its absolute path.
 *
 * Threads:  writes may overlap: one write(2) each, in append mode.
 * Signals:  called with signals blocked.
 */
#ifndef LH_RUNTIME_LOGFILE_H
#define LH_RUNTIME_LOGFILE_H

#include <stdbool.h>
#include <stddef.h>

/* Names the file in dir for this process and opens it. Returns 0 or an errno
 * number. */
int lh_logfile_open(const char *dir, const char *program);

bool lh_logfile_is_open(void);

/* Appends whole records. What could not be written is counted. */
void lh_logfile_write(const char *text, size_t size_bytes);

/* How many times records were lost since the last call. */
unsigned lh_logfile_take_lost(void);

/* In a forked child: leaves the parent's file. */
void lh_logfile_leave(void);

/* stderr, as long as that is still the file that it was at start. */
void lh_stderr_remember(void);
void lh_stderr_write(const char *text, size_t size_bytes);

#endif
