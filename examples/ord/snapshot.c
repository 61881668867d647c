/* SPDX-License-Identifier: MIT
 * snapshot.c - a map that is read without a lock and replaced whole.
 *
 * `present` holds the slot of the present snapshot and counts those who have
 * entered it, in one word: entering names the snapshot and holds it in a single
 * step. Who leaves subtracts from the slot's balance. When a snapshot becomes
 * old, its writer adds the count of those who entered; whoever then brings the
 * balance to 0 is the last, and frees. Before that the balance is never above
 * 0, so no one who leaves the present snapshot takes himself for the last. */
#include "ord/snapshot.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SLOT_SHIFT 56 /* 2^56 readers never enter one snapshot */
#define ENTERED_MASK (((uint64_t)1 << SLOT_SHIFT) - 1)

struct ord_snapshot {
    size_t n;
    struct ord_snapshot_entry entries[];
};

static struct ord_snapshot *allocate(size_t n)
{
    struct ord_snapshot *s = NULL;
    size_t size;

    if (!__builtin_mul_overflow(n, sizeof s->entries[0], &size) &&
        !__builtin_add_overflow(size, sizeof *s, &size))
        s = malloc(size);
    if (s)
        s->n = 0;
    return s;
}

int ord_snapshot_init(struct ord_snapshot_map *map)
{
    struct ord_snapshot *empty = allocate(0);

    if (!empty)
        return ENOMEM;
    *map = (struct ord_snapshot_map){ .slots[0].snapshot = empty };
    ord_mutex_init(&map->publishing);
    return 0;
}

/* Acquire: pairs with the release of the slot, in free_slot(). */
static struct ord_snapshot *in_slot(const struct ord_snapshot_slot *slot)
{
    return __atomic_load_n(&slot->snapshot, __ATOMIC_ACQUIRE);
}

static uint64_t present_of(const struct ord_snapshot_map *map)
{
    return __atomic_load_n(&map->present, __ATOMIC_ACQUIRE);
}

size_t ord_snapshot_nalive(const struct ord_snapshot_map *map)
{
    size_t n = 0;

    for (size_t i = 0; i < ORD_SNAPSHOT_MAX; i++)
        n += in_slot(&map->slots[i]) != NULL;
    return n;
}

/* Acquire: pairs with the exchange in replace(), so the entries are seen. */
void ord_snapshot_enter(struct ord_snapshot_map *map,
                        struct ord_snapshot_reader *reader)
{
    uint64_t present = __atomic_fetch_add(&map->present, 1, __ATOMIC_ACQUIRE);

    reader->map = map;
    reader->slot = present >> SLOT_SHIFT;
}

/* By the last who could reach it. The pointer goes before the memory; a writer
 * that finds NULL may use the slot, hence the release. */
static void free_slot(struct ord_snapshot_slot *slot)
{
    struct ord_snapshot *s = in_slot(slot);

    __atomic_store_n(&slot->snapshot, NULL, __ATOMIC_RELEASE);
    free(s);
}

/* Acquire and release: what each reader read comes before the last one frees.
 * True for the last. */
static bool add_to_balance(struct ord_snapshot_slot *slot, int64_t n)
{
    return __atomic_add_fetch(&slot->balance, n, __ATOMIC_ACQ_REL) == 0;
}

void ord_snapshot_leave(struct ord_snapshot_reader *reader)
{
    struct ord_snapshot_slot *slot = &reader->map->slots[reader->slot];

    if (add_to_balance(slot, -1))
        free_slot(slot);
}

int ord_snapshot_destroy(struct ord_snapshot_map *map)
{
    uint64_t present = present_of(map);
    struct ord_snapshot_slot *slot = &map->slots[present >> SLOT_SHIFT];
    int64_t nleft = -__atomic_load_n(&slot->balance, __ATOMIC_ACQUIRE);

    if (ord_snapshot_nalive(map) > 1 ||
        nleft != (int64_t)(present & ENTERED_MASK))
        return EBUSY;
    ord_mutex_destroy(&map->publishing);
    free_slot(slot);
    return 0;
}

/* The index of the first entry whose name is not below `name`. */
static size_t lower_bound(const struct ord_snapshot *s, const char *name)
{
    size_t low = 0, high = s->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(s->entries[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct ord_snapshot *s, size_t i, const char *name)
{
    return i < s->n && strcmp(s->entries[i].name, name) == 0;
}

static const struct ord_snapshot *
snapshot_of(const struct ord_snapshot_reader *reader)
{
    return in_slot(&reader->map->slots[reader->slot]);
}

int ord_snapshot_get(const struct ord_snapshot_reader *reader, const char *name,
                     int64_t *value)
{
    const struct ord_snapshot *s = snapshot_of(reader);
    size_t i = lower_bound(s, name);

    if (!is_at(s, i, name))
        return ENOENT;
    *value = s->entries[i].value;
    return 0;
}

size_t ord_snapshot_size(const struct ord_snapshot_reader *reader)
{
    return snapshot_of(reader)->n;
}

/* Puts an entry into a copy that has room for it. */
static void insert(struct ord_snapshot *s, const struct ord_snapshot_entry *e)
{
    size_t i = lower_bound(s, e->name);

    if (!is_at(s, i, e->name)) {
        memmove(&s->entries[i + 1], &s->entries[i],
                (s->n - i) * sizeof s->entries[0]);
        s->n++;
    }
    s->entries[i] = *e;
}

static void erase(struct ord_snapshot *s, size_t i)
{
    s->n--;
    memmove(&s->entries[i], &s->entries[i + 1],
            (s->n - i) * sizeof s->entries[0]);
}

/* What a write does to the copy: puts n entries, or removes one name. */
struct change {
    const struct ord_snapshot_entry *entries;
    size_t n;
    const char *removed; /* NULL: put */
};

static int apply(struct ord_snapshot *s, const struct change *change)
{
    if (change->removed) {
        size_t i = lower_bound(s, change->removed);
        if (!is_at(s, i, change->removed))
            return ENOENT;
        erase(s, i);
        return 0;
    }
    for (size_t i = 0; i < change->n; i++)
        insert(s, &change->entries[i]);
    return 0;
}

static int changed_copy(const struct ord_snapshot *old,
                        const struct change *change, struct ord_snapshot **out)
{
    struct ord_snapshot *s = allocate(old->n + change->n);
    int rc;

    if (!s)
        return ENOMEM;
    s->n = old->n;
    memcpy(s->entries, old->entries, old->n * sizeof s->entries[0]);
    rc = apply(s, change);
    if (rc == 0)
        *out = s;
    else
        free(s);
    return rc;
}

static struct ord_snapshot_slot *find_free_slot(struct ord_snapshot_map *map)
{
    for (size_t i = 0; i < ORD_SNAPSHOT_MAX; i++)
        if (!in_slot(&map->slots[i]))
            return &map->slots[i];
    return NULL;
}

/* Makes s the present snapshot if `base` still is. Returns 0, EAGAIN when no
 * slot is free, or ESTALE when another writer was faster. */
static int replace(struct ord_snapshot_map *map, size_t base,
                   struct ord_snapshot *s)
{
    struct ord_snapshot_slot *slot;
    uint64_t old;

    if (present_of(map) >> SLOT_SHIFT != base)
        return ESTALE;
    slot = find_free_slot(map);
    if (!slot)
        return EAGAIN;
    __atomic_store_n(&slot->balance, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->snapshot, s, __ATOMIC_RELAXED);
    /* Release for the entries, acquire for the readers' count. */
    old = __atomic_exchange_n(&map->present,
                              (uint64_t)(slot - map->slots) << SLOT_SHIFT,
                              __ATOMIC_ACQ_REL);
    /* The caller is a reader of the old one: he will be the last or not. */
    add_to_balance(&map->slots[base], (int64_t)(old & ENTERED_MASK));
    return 0;
}

/* One attempt. As a reader the writer keeps what he copies alive, and its slot
 * from being used again: same slot, same snapshot. */
static int try_write(struct ord_snapshot_map *map, const struct change *change)
{
    struct ord_snapshot_reader reader;
    struct ord_snapshot *copy = NULL;
    int rc;

    ord_snapshot_enter(map, &reader);
    rc = changed_copy(snapshot_of(&reader), change, &copy);
    if (rc == 0) {
        ord_mutex_lock(&map->publishing);
        rc = replace(map, reader.slot, copy);
        ord_mutex_unlock(&map->publishing);
        if (rc != 0)
            free(copy);
    }
    ord_snapshot_leave(&reader);
    return rc;
}

/* Each failure for ESTALE is another writer's success. */
static int write_change(struct ord_snapshot_map *map,
                        const struct change *change)
{
    int rc;

    do
        rc = try_write(map, change);
    while (rc == ESTALE);
    return rc;
}

int ord_snapshot_put_all(struct ord_snapshot_map *map,
                         const struct ord_snapshot_entry *entries, size_t n)
{
    struct change change = { .entries = entries, .n = n };

    if (n == 0)
        return EINVAL;
    for (size_t i = 0; i < n; i++)
        if (!memchr(entries[i].name, 0, sizeof entries[i].name))
            return ENAMETOOLONG;
    return write_change(map, &change);
}

int ord_snapshot_put(struct ord_snapshot_map *map, const char *name,
                     int64_t value)
{
    struct ord_snapshot_entry entry = { .value = value };

    if (strlen(name) >= sizeof entry.name)
        return ENAMETOOLONG;
    memcpy(entry.name, name, strlen(name) + 1);
    return ord_snapshot_put_all(map, &entry, 1);
}

int ord_snapshot_remove(struct ord_snapshot_map *map, const char *name)
{
    struct change change = { .removed = name };

    return write_change(map, &change);
}
