/* SPDX-License-Identifier: MIT
 *
 * table.h - a hash table over numbered entries that its owner stores.
 *
 * It grows by one chain at a time, so that no single insertion pays for all
 * the others, and it costs four bytes an entry beside the link in the entry.
 *
 * Source:   W. Litwin, "Linear hashing: a new tool for file and table
 *           addressing", VLDB 1980.
 */
#ifndef LH_CORE_TABLE_H
#define LH_CORE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "mem.h"

/* What the table asks of its owner about an entry (a number other than 0). */
struct lh_table_owner {
    uint32_t (*hash)(const void *owner, uint32_t entry);
    uint32_t *(*next)(void *owner, uint32_t entry); /* the link in the entry */
};

struct lh_table {
    struct lh_mem mem;
    const struct lh_table_owner *calls;
    void *owner;
    uint32_t *heads;
    size_t capacity;
    uint32_t nchains;
    uint32_t level; /* power of two: level <= nchains < 2 * level */
    uint32_t nentries;
};

/* Returns 0 or ENOMEM. */
int lh_table_init(struct lh_table *t, struct lh_mem mem,
                  const struct lh_table_owner *calls, void *owner);
void lh_table_free(struct lh_table *t);

/* Makes the next insertion certain to succeed. Returns 0 or ENOMEM. */
int lh_table_reserve(struct lh_table *t);

/* Inserts; lh_table_reserve() must have succeeded since the last one. */
void lh_table_insert(struct lh_table *t, uint32_t entry, uint32_t hash);

/* The first entry whose hash may be this; the others follow by its link. */
uint32_t lh_table_first(const struct lh_table *t, uint32_t hash);

/* Forgets all entries and keeps the memory. As many as there were can be
 * inserted again without a reservation. */
void lh_table_clear(struct lh_table *t);

#endif
