/* SPDX-License-Identifier: MIT
 *
 * naming.h - what the locks of a finding are called, and where they are from.
 *
 * An annotated name goes before the symbol of a static, that before what a
 * lock is a member of, and that before the place of birth. Locks that would
 * share a name get their number, "mutex@bank.c:31 #17". A lock keeps the name
 * that it was first shown with: names are of a whole report.
 */
#ifndef LH_TOOLS_NAMING_H
#define LH_TOOLS_NAMING_H

#include <stdbool.h>
#include <stdint.h>

#include "heapname.h"
#include "idmap.h"
#include "pool.h"

struct lh_explain;

/* The names of the locks of a report; zeroed, it is empty. */
struct lh_naming {
    struct lh_pool pool;
    struct lh_idmap by_lock, by_text;
    struct lh_heapname_memory heap;
};

void lh_naming_free(struct lh_naming *names);

/* Names a lock, once. Until it is asked for, a name may still get a number
 * because of another lock's. */
void lh_naming_add(const struct lh_explain *e, uint64_t lock);

/* "accounts[0].lock", with emphasis. */
const char *lh_naming_lock(const struct lh_explain *e, uint64_t lock);

/* "mutex@bank.c:31", of a lock that is called what it is a member of; else "".
 * This is its name where the source is not at hand. */
const char *lh_naming_born(const struct lh_explain *e, uint64_t lock);

/* "mutex, initialized at bank.c:31 in account_new as a->lock" */
const char *lh_naming_origin(const struct lh_explain *e, uint64_t lock);

/* Whether both were born at one place: elements of an array, or initialized by
 * one line. */
bool lh_naming_alike(const struct lh_explain *e, uint64_t one, uint64_t other);

/* Whether both are the same member of static variables: "savings.lock" and
 * "checking.lock". */
bool lh_naming_same_member(const struct lh_explain *e, uint64_t one,
                           uint64_t other);

#endif
