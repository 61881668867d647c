/* SPDX-License-Identifier: MIT
 *
 * heapname.h - what a lock on the heap or on a stack is a member of.
 *
 * The function that initialized it, or else asked for it when it was first
 * seen, names it in its source; the types of the variables there tell what that
 * is. Functions that are given the lock, or what it is in, lead on to their
 * callers.
 */
#ifndef LH_TOOLS_HEAPNAME_H
#define LH_TOOLS_HEAPNAME_H

#include "idmap.h"
#include "pool.h"
#include "scope.h"
#include "source.h"

struct lh_explain;
struct lh_model_lock;

struct lh_heapname {
    const char *name;    /* "session->lock"; "" if it is not known */
    const char *written; /* by the function itself: "s->lock"; or "" */
};

/* What was found so far; zeroed, it is empty. */
struct lh_heapname_memory {
    struct lh_pool pool;
    struct lh_idmap stacks, places, hints;
    struct lh_source_files sources;
    struct lh_scope_memory scopes;
};

struct lh_heapname lh_heapname_of(const struct lh_explain *e,
                                  const struct lh_model_lock *l);

/* A stack in which it is asked for, or the place where it was: for a lock whose
 * birth is not known. */
void lh_heapname_hint(const struct lh_explain *e, uint64_t lock,
                      uint64_t stack);

void lh_heapname_free(struct lh_heapname_memory *memory);

#endif
