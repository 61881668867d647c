/* SPDX-License-Identifier: MIT
 * cas.c - one value that is replaced only by who knows what it was. */
#include "ord/cas.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

/* The compiler's built-ins and not stdatomic.h, whose types C++ does not know:
 * the structure is one for both. */

void ord_cas_init(struct ord_cas *cas, int64_t value)
{
    __atomic_store_n(&cas->value, value, __ATOMIC_SEQ_CST);
}

int64_t ord_cas_read(const struct ord_cas *cas)
{
    return __atomic_load_n(&cas->value, __ATOMIC_SEQ_CST);
}

/* On failure *expected becomes the value that was found. */
static bool replace(struct ord_cas *cas, int64_t *expected, int64_t desired)
{
    return __atomic_compare_exchange_n(&cas->value, expected, desired, false,
                                       __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

int ord_cas_compare_and_set(struct ord_cas *cas, int64_t expected,
                            int64_t desired, int64_t *seen)
{
    bool done = replace(cas, &expected, desired);

    if (seen)
        *seen = expected;
    return done ? 0 : EAGAIN;
}

int ord_cas_update(struct ord_cas *cas, ord_cas_function f, void *arg,
                   unsigned max_attempts, int64_t *result)
{
    int64_t found = ord_cas_read(cas);

    if (max_attempts == 0)
        return EINVAL;
    for (unsigned i = 0; i < max_attempts; i++) {
        int64_t desired = f(found, arg);
        if (!replace(cas, &found, desired))
            continue;
        if (result)
            *result = desired;
        return 0;
    }
    return EAGAIN;
}
