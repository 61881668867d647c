/* SPDX-License-Identifier: MIT
 *
 * printer.h - findings as text on stderr, for a preload without the command.
 *
 * Readable by itself: modules, symbols and offsets from the ELF tables. The
 * command says more (source lines, inlined frames, advice), so it turns this
 * off with print=none.
 *
 * Threads:  called outside the detector's lock; one write(2) a finding.
 */
#ifndef LH_RUNTIME_PRINTER_H
#define LH_RUNTIME_PRINTER_H

#include "runtime/finding.h"

/* One line: "lockhound: <text>". Printed even with print=none if it is about
 * the configuration, as nobody else can tell. */
void lh_printer_note(const char *text);

/* Prints a finding, whatever the configuration says. */
void lh_printer_finding(const struct lh_finding *finding);

/* In a forked child, which has not the thread that may have been printing. */
void lh_printer_after_fork(void);

#endif
