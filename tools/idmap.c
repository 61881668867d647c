/* SPDX-License-Identifier: MIT
 * idmap.c - from a number to a pointer. */
#include "idmap.h"

#include <stdlib.h>

#include "diag.h"

struct lh_idmap_slot {
    uint64_t id;
    void *value; /* NULL: free */
};

uint64_t lh_idmap_mix(uint64_t a, uint64_t b)
{
    /* a is spread over all bits before b comes in: small numbers that are
     * merely added collide in millions of pairs. */
    uint64_t h = (a + 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
    h = (h ^ (h >> 32) ^ b) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 29)) * 0x94d049bb133111ebu;
    return h ^ (h >> 32);
}

static struct lh_idmap_slot *find(const struct lh_idmap *map, uint64_t id)
{
    size_t i = lh_idmap_mix(0, id) & (map->nslots - 1);
    while (map->slots[i].value && map->slots[i].id != id)
        i = (i + 1) & (map->nslots - 1);
    return &map->slots[i];
}

static void grow(struct lh_idmap *map)
{
    struct lh_idmap old = *map;
    map->nslots = old.nslots ? old.nslots * 2 : 16;
    map->slots = calloc(map->nslots, sizeof *map->slots);
    if (!map->slots)
        lh_diag_fail("out of memory");
    for (size_t i = 0; i < old.nslots; i++)
        if (old.slots[i].value)
            *find(map, old.slots[i].id) = old.slots[i];
    free(old.slots);
}

void lh_idmap_put(struct lh_idmap *map, uint64_t id, void *value)
{
    if (map->n * 4 >= map->nslots * 3)
        grow(map);
    struct lh_idmap_slot *slot = find(map, id);
    map->n += !slot->value;
    slot->id = id;
    slot->value = value;
}

void *lh_idmap_get(const struct lh_idmap *map, uint64_t id)
{
    return map->nslots ? find(map, id)->value : NULL;
}

void lh_idmap_free(struct lh_idmap *map)
{
    free(map->slots);
    *map = (struct lh_idmap){ 0 };
}

uint64_t lh_idmap_text(const char *text)
{
    uint64_t h = 0;
    for (; *text; text++)
        h = lh_idmap_mix(h, (unsigned char)*text);
    return h;
}
