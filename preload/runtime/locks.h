/* SPDX-License-Identifier: MIT
 *
 * locks.h - which lock an address is now, and what is known of it.
 *
 * A lock is one instance, from its init or first sight until its end. It has a
 * serial number that is never used again; its address may be.
 *
 * Memory:   about 48 bytes a lock; the place of one that ended is used again.
 * Threads:  called with the detector's lock held.
 */
#ifndef LH_RUNTIME_LOCKS_H
#define LH_RUNTIME_LOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/order.h"

/* What lockhound.h said of a lock. */
struct lh_annotation {
    char *name; /* NULL: none */
    int32_t rank;
    bool ranked;
};

struct lh_lock_info {
    uintptr_t address;
    struct lh_annotation *annotation; /* NULL: none */
    uint32_t serial;
    uint32_t born; /* the stack of its init, or else of the first acquisition
                      that was looked at; 0: none yet */
    lh_lock node;  /* in core/order.h; 0 while it was never nested */
    uint16_t era;  /* the one that node and recorded belong to */
    uint8_t kind;  /* enum lh_kind */
    uint8_t subtype : 2;  /* of a mutex, a read-write lock: its type in glibc */
    bool initialized : 1; /* born by an init call */
    bool recorded : 1;
    bool alone : 1;   /* a class of its own */
    bool shared : 1;  /* by processes; its node has an object: shared.h */
    bool settled : 1; /* whether its node is in doubt: request.c */
};

/* False only if there is surely no lock known at the address. Any thread. */
bool lh_lock_may_be_known(uintptr_t address);

/* The lock at an address; with make, a new one if there is none. NULL if there
 * is none, or memory is short. */
struct lh_lock_info *lh_lock_find(uintptr_t address, bool make);

/* A lock from low on and below high, which lie in one line of memory (places.h)
 * or the next one's begin; or NULL. */
struct lh_lock_info *lh_lock_within(uintptr_t low, uintptr_t high);

/* Ends the lock at an address, if there is one. Returns its node, or 0. */
lh_lock lh_lock_end(uintptr_t address);

/* The lock of a node that was set by lh_lock_set_node(). */
struct lh_lock_info *lh_lock_of_node(lh_lock node);

/* Returns 0 or ENOMEM. */
int lh_lock_set_node(struct lh_lock_info *lock, lh_lock node);

/* The lock's annotation, made if need be; NULL when memory is short. */
struct lh_annotation *lh_lock_annotate(struct lh_lock_info *lock);

/* How many were ever known. */
uint32_t lh_locks_count(void);

/* In a forked child: nodes and records are those of the parent. */
void lh_locks_new_era(void);

#endif
