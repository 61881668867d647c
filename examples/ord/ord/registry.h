/* SPDX-License-Identifier: MIT
 *
 * ord/registry.h - one instance for the process, made when first asked for.
 *
 * Double-checked locking: who asks looks without a lock, and only if nothing
 * is there looks again under it. The instance is published by a store-release
 * and read by a load-acquire, so who sees the pointer sees what it points to.
 * Without that pair the pattern is broken. The first one makes the instance
 * with no lock held; those who come meanwhile wait.
 *
 *     static struct ord_registry prices = ORD_REGISTRY_INIT(open_prices, NULL);
 *
 *     rc = ord_registry_get(&prices, &instance);
 *
 * Memory:   allocates nothing. The instance is what make() made of it, and is
 *           the caller's again after take().
 * Threads:  all functions may run at the same time, but for init, destroy and
 *           take().
 * Errors:   EDEADLK    make() asks for the instance that it is making
 *           ETIMEDOUT  another thread was making it until the deadline
 *           ENOENT     there is no instance
 *           EBUSY      it is being made, or not yet taken
 */
#ifndef ORD_REGISTRY_H
#define ORD_REGISTRY_H

#include "ord/base.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes the instance: 0 and *instance, or an errno number for the caller whose
 * request this was. Another request then tries again. */
typedef int (*ord_registry_make)(void *arg, void **instance);

struct ord_registry {
    struct ord_mutex lock;
    struct ord_cond settled; /* made, or failed to be */
    ord_registry_make make;
    void *arg;
    void *instance;     /* atomic; written under the lock */
    int making;         /* under the lock, as the maker is */
    pthread_t maker;    /* if making */
    uint64_t nrequests; /* atomic */
};
#define ORD_REGISTRY_INIT(make, arg)                                           \
    {                                                                          \
        ORD_MUTEX_INIT, ORD_COND_INIT, make, arg, 0, 0, 0, 0                   \
    }

void ord_registry_init(struct ord_registry *registry, ord_registry_make make,
                       void *arg);
int ord_registry_destroy(struct ord_registry *registry); /* EBUSY */

/* Receives the instance; makes it if there is none. Counts as a request,
 * whatever comes of it. Returns 0, EDEADLK, ETIMEDOUT or make()'s error. */
int ord_registry_get(struct ord_registry *registry, void **instance);
int ord_registry_timedget(struct ord_registry *registry, void **instance,
                          ord_ns deadline);

/* Takes the instance out, for the caller to free when no other uses it. The
 * next request makes a new one. Returns 0, ENOENT, or EBUSY while one is being
 * made. */
int ord_registry_take(struct ord_registry *registry, void **instance);

/* How often an instance was asked for. */
uint64_t ord_registry_nrequests(const struct ord_registry *registry);

#ifdef __cplusplus
}
#endif

#endif
