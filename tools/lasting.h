/* SPDX-License-Identifier: MIT
 *
 * lasting.h - the locks and places of a finding under names that last: those
 * of another run, and of another build whose lines have moved.
 */
#ifndef LH_TOOLS_LASTING_H
#define LH_TOOLS_LASTING_H

#include <stdint.h>

struct lh_explain;

/* The name of the lock without its number, address, line and indices, each
 * replaced by a star: "accounts[*].lock", "mutex@*bank.c:*". */
const char *lh_lasting_lock(const struct lh_explain *e, uint64_t lock);

/* The name without its number, "mutex@bank.c:31", and without emphasis. */
const char *lh_lasting_name(const struct lh_explain *e, uint64_t lock);

/* The program's function at the top of the stack; "" if it is not known. */
const char *lh_lasting_function(const struct lh_explain *e, uint64_t stack);

/* The file name of the module there; "" if it is not known. */
const char *lh_lasting_object(const struct lh_explain *e, uint64_t stack);

#endif
