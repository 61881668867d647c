/* SPDX-License-Identifier: MIT
 * registry.c - one instance for the process, made when first asked for. */
#include "ord/registry.h"

#include <errno.h>
#include <stddef.h>

void ord_registry_init(struct ord_registry *registry, ord_registry_make make,
                       void *arg)
{
    *registry = (struct ord_registry){ .make = make, .arg = arg };
    ord_mutex_init(&registry->lock);
    ord_cond_init(&registry->settled);
}

/* Pairs with publish(). */
static void *look(const struct ord_registry *registry)
{
    return __atomic_load_n(&registry->instance, __ATOMIC_ACQUIRE);
}

/* With the lock held; pairs with look(). */
static void publish(struct ord_registry *registry, void *instance)
{
    __atomic_store_n(&registry->instance, instance, __ATOMIC_RELEASE);
}

int ord_registry_destroy(struct ord_registry *registry)
{
    int busy;

    ord_mutex_lock(&registry->lock);
    busy = registry->making || registry->settled.nwaiting || look(registry);
    ord_mutex_unlock(&registry->lock);
    if (busy)
        return EBUSY;
    ord_cond_destroy(&registry->settled);
    return ord_mutex_destroy(&registry->lock);
}

static int is_settled(void *arg)
{
    const struct ord_registry *registry = arg;

    return !registry->making;
}

/* Under the lock, the second look: 0 with an instance, or with NULL and the
 * duty to make it. */
static int look_or_begin(struct ord_registry *registry, ord_ns deadline,
                         void **found)
{
    int rc;

    if (registry->making && pthread_equal(registry->maker, pthread_self()))
        return EDEADLK;
    rc = ord_cond_timedwait(&registry->settled, &registry->lock, is_settled,
                            registry, deadline);
    if (rc != 0)
        return rc;
    *found = look(registry);
    if (!*found) {
        registry->making = 1;
        registry->maker = pthread_self();
    }
    return 0;
}

static int make(struct ord_registry *registry, void **made)
{
    int rc = registry->make(registry->arg, made);

    ord_mutex_lock(&registry->lock);
    if (rc == 0)
        publish(registry, *made);
    registry->making = 0;
    ord_cond_broadcast(&registry->settled);
    ord_mutex_unlock(&registry->lock);
    return rc;
}

static int get_slowly(struct ord_registry *registry, void **instance,
                      ord_ns deadline)
{
    void *found = NULL;
    int rc;

    ord_mutex_lock(&registry->lock);
    rc = look_or_begin(registry, deadline, &found);
    ord_mutex_unlock(&registry->lock);
    if (rc == 0 && !found)
        rc = make(registry, &found);
    if (rc == 0)
        *instance = found;
    return rc;
}

int ord_registry_timedget(struct ord_registry *registry, void **instance,
                          ord_ns deadline)
{
    void *found = look(registry);

    /* Relaxed: a count, which orders nothing. */
    __atomic_fetch_add(&registry->nrequests, 1, __ATOMIC_RELAXED);
    if (!found)
        return get_slowly(registry, instance, deadline);
    *instance = found;
    return 0;
}

int ord_registry_get(struct ord_registry *registry, void **instance)
{
    return ord_registry_timedget(registry, instance, ORD_NEVER);
}

int ord_registry_take(struct ord_registry *registry, void **instance)
{
    void *found;
    int rc;

    ord_mutex_lock(&registry->lock);
    found = look(registry);
    rc = registry->making ? EBUSY : found ? 0 : ENOENT;
    if (rc == 0) {
        publish(registry, NULL);
        *instance = found;
    }
    ord_mutex_unlock(&registry->lock);
    return rc;
}

uint64_t ord_registry_nrequests(const struct ord_registry *registry)
{
    return __atomic_load_n(&registry->nrequests, __ATOMIC_RELAXED);
}
