/* SPDX-License-Identifier: MIT
 *
 * idmap.h - from a number to a pointer: an open-addressing hash table.
 *
 * The numbers come from files and may be anything. A zeroed structure is an
 * empty map.
 */
#ifndef LH_TOOLS_IDMAP_H
#define LH_TOOLS_IDMAP_H

#include <stddef.h>
#include <stdint.h>

struct lh_idmap {
    struct lh_idmap_slot *slots;
    size_t nslots; /* a power of two, or 0 */
    size_t n;
};

/* Sets the pointer of id, not NULL, replacing the one that it had. */
void lh_idmap_put(struct lh_idmap *map, uint64_t id, void *value);
/* NULL when the id is not there. */
void *lh_idmap_get(const struct lh_idmap *map, uint64_t id);
void lh_idmap_free(struct lh_idmap *map);

/* A good 64-bit mix of two words; also the chain of a running hash. */
uint64_t lh_idmap_mix(uint64_t a, uint64_t b);
/* The hash of a text. */
uint64_t lh_idmap_text(const char *text);

#endif
