/* SPDX-License-Identifier: MIT
 *
 * naming.h - what the locks of a finding are called, and where they are from.
 *
 * An annotated name goes before the symbol of a static, and that before the
 * place of birth. Locks of a finding that would share a name get their number,
 * "mutex@bank.c:31 #17".
 */
#ifndef LH_TOOLS_NAMING_H
#define LH_TOOLS_NAMING_H

#include <stdbool.h>
#include <stdint.h>

struct lh_explain;
struct lh_idmap;

/* Names a lock, once; by_text starts empty and is for the next calls. */
void lh_naming_add(struct lh_explain *e, struct lh_idmap *by_text,
                   uint64_t lock);

/* "accounts[0].lock", with emphasis. */
const char *lh_naming_lock(const struct lh_explain *e, uint64_t lock);

/* "mutex, initialized at bank.c:31 in account_new" */
const char *lh_naming_origin(const struct lh_explain *e, uint64_t lock);

/* Whether both were born at one place: elements of an array, or initialized by
 * one line. */
bool lh_naming_alike(const struct lh_explain *e, uint64_t one, uint64_t other);

#endif
