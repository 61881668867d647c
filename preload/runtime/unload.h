/* SPDX-License-Identifier: MIT
 *
 * unload.h - libraries that are unloaded: their locks and frames end.
 *
 * dlclose unmaps without a call that could be seen, and often does not, as
 * others have the library open, too. So it is noted that it may have happened,
 * and the requests that follow look whether what was known is still there:
 * until the thread that closes has left dlclose, which the destructors of the
 * library, that lock, have not, and for a number of requests of others.
 *
 * Threads:  all functions may run anywhere, outside the detector's lock.
 */
#ifndef LH_RUNTIME_UNLOAD_H
#define LH_RUNTIME_UNLOAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/thread.h"

/* Looks that are still to be made. */
extern _Atomic uint32_t lh_unload_looks __attribute__((visibility("hidden")));

/* By the hook of dlclose, just before it goes on into the real function. */
void lh_ends_note_unload(void);

/* Is there to be looked? */
static inline bool lh_unload_is_noted(const struct lh_thread *t)
{
    return t->unloading ||
           atomic_load_explicit(&lh_unload_looks, memory_order_relaxed);
}

/* Looks, and ends what is gone. By a request whose stack pointer was cfa,
 * inside the guard. */
void lh_unload_look(struct lh_thread *t, uintptr_t cfa);

#endif
