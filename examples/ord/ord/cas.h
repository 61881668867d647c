/* SPDX-License-Identifier: MIT
 *
 * ord/cas.h - one value that is replaced only by who knows what it was.
 *
 * Nobody waits and nobody holds anything: a loser is told what the value has
 * become and decides again. Every operation is sequentially consistent, so
 * what a thread wrote before it set the value is seen by who reads the value.
 *
 * Memory:   stands alone, never allocates; needs no destroy.
 * Threads:  all functions but the initializers may run at the same time.
 * Errors:   EINVAL     no attempt is allowed
 *           EAGAIN     the value was another one, and is unchanged
 */
#ifndef ORD_CAS_H
#define ORD_CAS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Atomic: only the functions below may touch it. */
struct ord_cas {
    int64_t value;
};
#define ORD_CAS_INIT(value)                                                    \
    {                                                                          \
        value                                                                  \
    }

void ord_cas_init(struct ord_cas *cas, int64_t value);
int64_t ord_cas_read(const struct ord_cas *cas);

/*
 * Sets the value to `desired` if it is `expected`.
 *
 * seen  receives the value that was found, also on failure. May be NULL.
 * Returns 0 or EAGAIN. It does not fail without a cause.
 */
int ord_cas_compare_and_set(struct ord_cas *cas, int64_t expected,
                            int64_t desired, int64_t *seen);

/* The value that shall follow `value`. Called once an attempt, hence maybe
 * more than once for one update. */
typedef int64_t (*ord_cas_function)(int64_t value, void *arg);

/*
 * Replaces the value by f(value), in at most max_attempts attempts.
 *
 * result  receives the new value. May be NULL.
 * Returns 0, EINVAL if max_attempts is 0, or EAGAIN when each attempt found
 * that another thread had been faster.
 */
int ord_cas_update(struct ord_cas *cas, ord_cas_function f, void *arg,
                   unsigned max_attempts, int64_t *result);

#ifdef __cplusplus
}
#endif

#endif
