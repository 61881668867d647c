/* SPDX-License-Identifier: MIT
 *
 * ord/buffer.h - the bounded buffer: two conditions over one lock.
 *
 * A ring of the caller's slots. A put waits while it is full, a get while it
 * is empty; each wakes one thread that waits for the other. It cannot be
 * closed and keeps one order, first in, first out: ord/queue.h does the rest.
 *
 *     static void *slots[2];
 *     static struct ord_buffer buffer = ORD_BUFFER_INIT(slots);
 *
 * Items are pointers, never followed; NULL is an item like another.
 *
 * Memory:   none of its own. The slots are the caller's, until destroy.
 * Threads:  any number may put and get at once; init and destroy alone.
 * Errors:   EINVAL     no slots
 *           ETIMEDOUT  the deadline passed and there was no room, or no item
 *           EBUSY      a thread waits, or items are left
 */
#ifndef ORD_BUFFER_H
#define ORD_BUFFER_H

#include <stddef.h>

#include "ord/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ord_buffer {
    struct ord_mutex lock; /* protects the rest */
    struct ord_cond not_full;
    struct ord_cond not_empty;
    void **slots;
    size_t capacity;
    size_t head; /* the slot of the oldest item */
    size_t nitems;
};
#define ORD_BUFFER_INIT(array)                                                 \
    {                                                                          \
        ORD_MUTEX_INIT, ORD_COND_INIT, ORD_COND_INIT, (array),                 \
            sizeof(array) / sizeof((array)[0]), 0, 0                           \
    }

int ord_buffer_init(struct ord_buffer *buffer, void **slots, size_t capacity);
/* EINVAL */
int ord_buffer_destroy(struct ord_buffer *buffer); /* EBUSY */

/* A deadline that has passed, as 0, makes a try of it. */
int ord_buffer_put(struct ord_buffer *buffer, void *item, ord_ns deadline);
/* ETIMEDOUT */
int ord_buffer_get(struct ord_buffer *buffer, void **item, ord_ns deadline);
/* ETIMEDOUT */

/* How many items it holds, which may have changed when the caller looks. */
size_t ord_buffer_depth(struct ord_buffer *buffer);

#ifdef __cplusplus
}
#endif

#endif
