/* SPDX-License-Identifier: MIT
 *
 * fingerprint.h - a finding by names alone: the same in other runs and builds.
 *
 * It is made of the kind, the functions, the modules and the names of the
 * locks; without addresses, paths, lines and indices. Where symbols are not
 * known offsets take their place, and it is of one build only.
 */
#ifndef LH_TOOLS_FINGERPRINT_H
#define LH_TOOLS_FINGERPRINT_H

#include "idmap.h"

struct lh_explain;

/* Those that a report has; zeroed, it is empty. */
struct lh_fingerprint {
    struct lh_idmap counts; /* how often each was there, as a pointer */
};

/* "8d0f4c2a91b3e657:1", which no other finding of the report has: the last
 * number counts those that do not differ by names. */
const char *lh_fingerprint(struct lh_fingerprint *f,
                           const struct lh_explain *e);
void lh_fingerprint_free(struct lh_fingerprint *f);

#endif
