/* SPDX-License-Identifier: MIT
 *
 * ord/snapshot.h - a map that is read without a lock and replaced whole.
 *
 * Read-copy-update: a writer copies the present snapshot, changes the copy and
 * publishes it. A reader enters whatever snapshot is present, sees it unchanged
 * for as long as it likes, and leaves; the last one to leave an old snapshot
 * frees it. Entering and leaving are one atomic addition each.
 *
 *     struct ord_snapshot_reader reader;
 *
 *     ord_snapshot_enter(&map, &reader);
 *     rc = ord_snapshot_get(&reader, "price", &price);
 *     ord_snapshot_leave(&reader);
 *
 * Memory:   a copy a write, allocated with no lock held.
 * Threads:  all functions may run at the same time, but for init and destroy.
 *           A reader record belongs to one thread at a time.
 * Errors:   EINVAL        there is nothing to write
 *           ENAMETOOLONG  a name has ORD_SNAPSHOT_NAME bytes or more
 *           ENOENT        there is no such name
 *           ENOMEM        no memory for the copy
 *           EAGAIN        readers keep ORD_SNAPSHOT_MAX snapshots alive
 *           EBUSY         readers are inside
 * Source:   the split reference count of A. Williams, "C++ Concurrency in
 *           Action" (2012), section 7.2.4, with an index for the pointer.
 */
#ifndef ORD_SNAPSHOT_H
#define ORD_SNAPSHOT_H

#include "ord/base.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ORD_SNAPSHOT_NAME 32 /* bytes, with the terminating zero */
#define ORD_SNAPSHOT_MAX 64  /* alive at once: the present one and old ones */

struct ord_snapshot_entry {
    char name[ORD_SNAPSHOT_NAME];
    int64_t value;
};

struct ord_snapshot; /* entries, sorted by name */

struct ord_snapshot_slot {
    struct ord_snapshot *snapshot; /* atomic; NULL: the slot is free */
    int64_t balance;               /* atomic; entered less left, once old */
};

struct ord_snapshot_map {
    struct ord_mutex publishing; /* writers only, for a few steps */
    uint64_t present; /* atomic; slot << 56 | how many have entered it */
    struct ord_snapshot_slot slots[ORD_SNAPSHOT_MAX];
};

struct ord_snapshot_reader {
    struct ord_snapshot_map *map;
    size_t slot;
};

int ord_snapshot_init(struct ord_snapshot_map *map);    /* ENOMEM */
int ord_snapshot_destroy(struct ord_snapshot_map *map); /* EBUSY */

void ord_snapshot_enter(struct ord_snapshot_map *map,
                        struct ord_snapshot_reader *reader);
void ord_snapshot_leave(struct ord_snapshot_reader *reader);

/* Between enter and leave, the same answers whatever is written meanwhile. */
int ord_snapshot_get(const struct ord_snapshot_reader *reader, const char *name,
                     int64_t *value); /* ENOENT */
size_t ord_snapshot_size(const struct ord_snapshot_reader *reader);

/* Writes are whole: a reader sees all n entries of put_all() or none of them.
 * Of two entries with one name the later stays. */
int ord_snapshot_put(struct ord_snapshot_map *map, const char *name,
                     int64_t value); /* ENAMETOOLONG, ENOMEM, EAGAIN */
int ord_snapshot_put_all(struct ord_snapshot_map *map,
                         const struct ord_snapshot_entry *entries,
                         size_t n); /* EINVAL, and as put */
int ord_snapshot_remove(struct ord_snapshot_map *map,
                        const char *name); /* ENOENT, ENOMEM, EAGAIN */

/* How many snapshots are not freed yet: 1 when no reader is in an old one. */
size_t ord_snapshot_nalive(const struct ord_snapshot_map *map);

#ifdef __cplusplus
}
#endif

#endif
