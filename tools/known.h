/* SPDX-License-Identifier: MIT
 *
 * known.h - the findings of a baseline: which they are, and their file.
 *
 * A finding is in it when one with its id (of this build) or its fingerprint
 * (of any, see fingerprint.h) is; but one that counts is not known by one that
 * was conditional.
 */
#ifndef LH_TOOLS_KNOWN_H
#define LH_TOOLS_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct lh_explain;
struct lh_findings_item;
struct lh_known;

struct lh_known *lh_known_new(void);
void lh_known_free(struct lh_known *k);

void lh_known_add(struct lh_known *k, const struct lh_explain *e,
                  const struct lh_findings_item *item, const char *fingerprint);
bool lh_known_has(const struct lh_known *k, const struct lh_findings_item *item,
                  const char *fingerprint);
size_t lh_known_count(const struct lh_known *k);

/* Adds what is in a file; one that is no baseline is said, and the command
 * exits with 2. */
void lh_known_read(struct lh_known *k, const char *file);

/* In an order that does not depend on that of the runs. Returns 0 or an errno
 * number. */
int lh_known_write(struct lh_known *k, FILE *out);

#endif
