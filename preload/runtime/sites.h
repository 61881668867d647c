/* SPDX-License-Identifier: MIT
 *
 * sites.h - places that take locks, and how much of their stacks is wanted.
 *
 * A site is the address that a hook returns to. It starts cold: its first
 * acquisitions are taken with their whole stacks, so that code that runs once
 * is exact. One that was seen holding while another lock was asked for is
 * nesting and keeps being exact. All others are leaves and cost nothing.
 *
 * Threads:  looking up and counting take no lock; adding takes one of its own.
 * Signals:  adding wants signals blocked (guard.h); the rest does not.
 */
#ifndef LH_RUNTIME_SITES_H
#define LH_RUNTIME_SITES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { LH_COLD_TIMES = 16 };

struct lh_site {
    _Atomic uintptr_t pc;   /* set before the site is published */
    _Atomic uint32_t times; /* up to LH_COLD_TIMES; relaxed */
    _Atomic bool nesting;   /* false -> true; relaxed */
    _Atomic bool waits;     /* where its try fails: semaphore.h; like nesting */
};

/* The site of pc, or NULL if it was not added yet. */
struct lh_site *lh_site_find(const void *pc);

/* The site of pc, added if need be; NULL when memory is short. */
struct lh_site *lh_site_add(const void *pc);

/* Counts an acquisition; true while the site is cold. */
bool lh_site_is_cold(struct lh_site *site);

void lh_sites_lock(void);
void lh_sites_unlock(void);
void lh_sites_after_fork(void);

#endif
