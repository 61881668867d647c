/* SPDX-License-Identifier: MIT
 *
 * suppress.h - rules for findings that are not to be told.
 *
 * One rule a line, "KIND: CONDITION...", all of whose conditions must hold;
 * lockhound-suppressions(5) describes it.
 */
#ifndef LH_TOOLS_SUPPRESS_H
#define LH_TOOLS_SUPPRESS_H

#include <stdbool.h>

struct lh_explain;
struct lh_suppress;

struct lh_suppress *lh_suppress_new(void);
void lh_suppress_free(struct lh_suppress *s);

/* Adds the rules of a file. A file that is none, or a line that is no rule, is
 * said, and the command exits with 2. */
void lh_suppress_read(struct lh_suppress *s, const char *file);

/* Whether a rule is about this finding; remembers which. */
bool lh_suppress_match(struct lh_suppress *s, const struct lh_explain *e);

/* Says which rules have matched nothing. */
void lh_suppress_say_unused(const struct lh_suppress *s);

#endif
