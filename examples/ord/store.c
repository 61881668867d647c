/* SPDX-License-Identifier: MIT
 * store.c - values by name, each with the version it has reached. */
#include "ord/store.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct ord_store_entry {
    char name[ORD_STORE_NAME];
    struct ord_versioned now;
    bool claimed;
    pthread_t claimant; /* if claimed */
};

int ord_store_init(struct ord_store *store, size_t capacity)
{
    struct ord_store_entry *entries;

    if (capacity == 0)
        return EINVAL;
    entries = calloc(capacity, sizeof *entries);
    if (!entries)
        return ENOMEM;
    *store = (struct ord_store){ .entries = entries, .capacity = capacity };
    ord_mutex_init(&store->lock);
    ord_cond_init(&store->unclaimed);
    return 0;
}

int ord_store_destroy(struct ord_store *store)
{
    bool busy;

    ord_mutex_lock(&store->lock);
    busy = store->nclaimed > 0 || store->unclaimed.nwaiting > 0;
    ord_mutex_unlock(&store->lock);
    if (busy)
        return EBUSY;
    ord_cond_destroy(&store->unclaimed);
    ord_mutex_destroy(&store->lock);
    free(store->entries);
    return 0;
}

/* A store has few names: a walk is short. NULL if there is no such name. */
static struct ord_store_entry *find(struct ord_store *store, const char *name)
{
    for (size_t i = 0; i < store->nentries; i++)
        if (strcmp(store->entries[i].name, name) == 0)
            return &store->entries[i];
    return NULL;
}

static int is_unclaimed(void *arg)
{
    struct ord_store_entry *entry = arg;

    return !entry->claimed;
}

/* Waits until nobody has claimed the entry, with the lock held. */
static int await_turn(struct ord_store *store, struct ord_store_entry *entry,
                      ord_ns deadline)
{
    if (entry->claimed && pthread_equal(entry->claimant, pthread_self()))
        return EDEADLK;
    return ord_cond_timedwait(&store->unclaimed, &store->lock, is_unclaimed,
                              entry, deadline);
}

static void write_next(struct ord_store_entry *entry, int64_t value)
{
    entry->now.value = value;
    entry->now.version++;
}

/* The entry of that name, made at version 0 if need be. */
static int find_or_add(struct ord_store *store, const char *name,
                       struct ord_store_entry **entry)
{
    *entry = find(store, name);
    if (*entry)
        return 0;
    if (store->nentries == store->capacity)
        return ENOSPC;
    *entry = &store->entries[store->nentries++];
    memcpy((*entry)->name, name, strlen(name) + 1);
    return 0;
}

int ord_store_put(struct ord_store *store, const char *name, int64_t value,
                  uint64_t *version)
{
    struct ord_store_entry *entry;
    int rc;

    if (strlen(name) >= ORD_STORE_NAME)
        return ENAMETOOLONG;
    ord_mutex_lock(&store->lock);
    rc = find_or_add(store, name, &entry);
    if (rc == 0)
        rc = await_turn(store, entry, ORD_NEVER);
    if (rc == 0) {
        write_next(entry, value);
        if (version)
            *version = entry->now.version;
    }
    ord_mutex_unlock(&store->lock);
    return rc;
}

int ord_store_read(struct ord_store *store, const char *name,
                   struct ord_versioned *out)
{
    struct ord_store_entry *entry;

    ord_mutex_lock(&store->lock);
    entry = find(store, name);
    if (entry)
        *out = entry->now;
    ord_mutex_unlock(&store->lock);
    return entry ? 0 : ENOENT;
}

int ord_store_compare_and_set(struct ord_store *store, const char *name,
                              uint64_t version, int64_t value)
{
    struct ord_store_entry *entry;
    int rc;

    ord_mutex_lock(&store->lock);
    entry = find(store, name);
    rc = entry ? await_turn(store, entry, ORD_NEVER) : ENOENT;
    if (rc == 0 && entry->now.version != version)
        rc = EAGAIN;
    if (rc == 0)
        write_next(entry, value);
    ord_mutex_unlock(&store->lock);
    return rc;
}

/* One attempt. */
static int attempt(struct ord_store *store, const char *name,
                   ord_store_function f, void *arg, struct ord_versioned *out)
{
    struct ord_versioned seen;
    int64_t next;
    int rc = ord_store_read(store, name, &seen);

    if (rc == 0)
        rc = f(seen.value, &next, arg);
    if (rc != 0)
        return rc;
    rc = ord_store_compare_and_set(store, name, seen.version, next);
    if (rc == 0 && out)
        *out = (struct ord_versioned){ next, seen.version + 1 };
    return rc;
}

int ord_store_update(struct ord_store *store, const char *name,
                     ord_store_function f, void *arg, unsigned max_attempts,
                     struct ord_versioned *out)
{
    int rc = EINVAL;

    for (unsigned i = 0; i < max_attempts; i++) {
        rc = attempt(store, name, f, arg, out);
        if (rc != EAGAIN)
            break;
    }
    return rc;
}

static int claim(struct ord_store *store, const char *name, ord_ns deadline,
                 struct ord_store_entry **entry, int64_t *value)
{
    int rc;

    ord_mutex_lock(&store->lock);
    *entry = find(store, name);
    rc = *entry ? await_turn(store, *entry, deadline) : ENOENT;
    if (rc == 0) {
        (*entry)->claimed = true;
        (*entry)->claimant = pthread_self();
        store->nclaimed++;
        *value = (*entry)->now.value;
    }
    ord_mutex_unlock(&store->lock);
    return rc;
}

/* Ends a claim; writes what `next` points to, unless it is NULL. */
static void release(struct ord_store *store, struct ord_store_entry *entry,
                    const int64_t *next, struct ord_versioned *out)
{
    ord_mutex_lock(&store->lock);
    if (next) {
        write_next(entry, *next);
        if (out)
            *out = entry->now;
    }
    entry->claimed = false;
    store->nclaimed--;
    /* All of them: who waits may wait for another name. */
    ord_cond_broadcast(&store->unclaimed);
    ord_mutex_unlock(&store->lock);
}

int ord_store_update_claimed(struct ord_store *store, const char *name,
                             ord_store_function f, void *arg, ord_ns deadline,
                             struct ord_versioned *out)
{
    struct ord_store_entry *entry;
    int64_t value, next;
    int rc = claim(store, name, deadline, &entry, &value);

    if (rc != 0)
        return rc;
    rc = f(value, &next, arg);
    release(store, entry, rc == 0 ? &next : NULL, out);
    return rc;
}
