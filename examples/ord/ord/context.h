/* SPDX-License-Identifier: MIT
 *
 * ord/context.h - what a thread's callees may know without being told.
 *
 * A request's id, its deadline, its user: set around a call, found by what runs
 * below it on the same thread, and by no other thread. Each setting is a record
 * on the caller's stack that hides an outer one of the same key.
 *
 *     static const char request_key;
 *     struct ord_context record;
 *
 *     ord_context_push(&record, &request_key, &request);
 *     serve();                       // ord_context_get(&request_key, &p)
 *     ord_context_pop(&record);
 *
 * Memory:   never allocates. A record is in use from push to pop and must stay
 *           where it is; the value is the caller's.
 * Threads:  any; each sees its own records only, and a new thread has none.
 * Errors:   EBUSY   the record is in use already
 *           EPERM   the record is not the calling thread's innermost
 *           ENOENT  the thread has set no such key
 */
#ifndef ORD_CONTEXT_H
#define ORD_CONTEXT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ord_context {
    const void *key; /* any address that is the key's own */
    void *value;
    struct ord_context *outer;
};

int ord_context_push(struct ord_context *record, const void *key,
                     void *value);                  /* EBUSY */
int ord_context_pop(struct ord_context *record);    /* EPERM */
int ord_context_get(const void *key, void **value); /* ENOENT */

/* How many records the calling thread has pushed and not popped. */
size_t ord_context_depth(void);

#ifdef __cplusplus
}
#endif

#endif
