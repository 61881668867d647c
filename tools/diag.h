/* SPDX-License-Identifier: MIT
 *
 * diag.h - the tool's own messages: one line each on stderr, each beginning
 * with "lockhound: ".
 *
 * Threads:  one only, as everywhere in tools/.
 */
#ifndef LH_TOOLS_DIAG_H
#define LH_TOOLS_DIAG_H

/* What the command exits with when it could not do what it was asked. */
enum { LH_EXIT_USAGE = 2 };

/* Says what is wrong, where, and what was expected; goes on. Control
 * characters in the text are shown as '?'. */
void lh_diag_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, then exits with LH_EXIT_USAGE. */
_Noreturn void lh_diag_fail(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* A line that replaces itself on a terminal, until it is removed. On anything
 * but a terminal nothing is written. */
void lh_diag_progress(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
void lh_diag_progress_end(void);

#endif
