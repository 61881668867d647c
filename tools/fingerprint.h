/* SPDX-License-Identifier: MIT
 *
 * fingerprint.h - what is the same of a finding when the program was built
 * anew and its lines have moved.
 *
 * The kind, the names of the locks and the functions that request them, as far
 * as symbols tell; see lasting.h. The id of a finding (findings.h) is of one
 * build.
 */
#ifndef LH_TOOLS_FINGERPRINT_H
#define LH_TOOLS_FINGERPRINT_H

struct lh_explain;

/* 16 hexadecimal digits. */
const char *lh_fingerprint(const struct lh_explain *e);

#endif
