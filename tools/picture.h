/* SPDX-License-Identifier: MIT
 *
 * picture.h - a process seen from outside as records, so that what names and
 * explains recorded locks and stacks does so here, too.
 */
#ifndef LH_TOOLS_PICTURE_H
#define LH_TOOLS_PICTURE_H

#include "idmap.h"
#include "model.h"
#include "outside.h"
#include "waits.h"

/* Ids in the model: threads and their stacks are 1 and up in the order of
 * o->threads; those of locks are in lock_ids and holds. */
struct lh_picture {
    struct lh_model_process *model;
    uint64_t *lock_ids; /* by thread: of what it waits for, or 0 */
    struct lh_picture_hold {
        uint64_t lock, stack; /* where it was taken */
    } * *holds; /* by thread: like its holds in struct lh_outside_thread */
    uint64_t nlocks, nstacks;
    struct lh_idmap by_address;
};

/* Modules, threads and stacks. Freed with the pool, but for the model. */
void lh_picture_begin(struct lh_picture *p, const struct lh_outside *o);

/* The locks that are waited for, and those that are held. */
void lh_picture_locks(struct lh_picture *p, const struct lh_outside *o,
                      const struct lh_wait *waits);

void lh_picture_end(struct lh_picture *p);

#endif
