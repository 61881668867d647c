/* SPDX-License-Identifier: MIT
 *
 * unseen.h - memory whose locks may end without an event.
 *
 * Memory that the program has mapped itself, and not by the allocator that our
 * hook of free belongs to, is carved by somebody whose giving back is not seen:
 * an allocator of the program's own, a pool, a coroutine's stack. Where the
 * executable brings a free of its own, or a sanitizer does, all of the heap is
 * such memory.
 *
 * Threads:  all functions may run anywhere; what two threads do to one map at
 *           the same time is the program's own race.
 * Signals:  may run with signals open. No system call is made.
 */
#ifndef LH_RUNTIME_UNSEEN_H
#define LH_RUNTIME_UNSEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whose free it is that our hook is in front of. */
enum lh_allocator {
    LH_ALLOCATOR_NONE,  /* not known yet, or it cannot be asked for a block's
                           size, or not all of the program calls our hook */
    LH_ALLOCATOR_LIBC,  /* the word before a block has its size */
    LH_ALLOCATOR_OTHER, /* malloc_usable_size() tells */
};
extern enum lh_allocator lh_unseen_allocator
    __attribute__((visibility("hidden")));

/* By the constructor, when the real functions are known. */
void lh_unseen_begin(void);

/* The program, at caller, has mapped memory; unmapped it, or mapped it anew. */
void lh_unseen_add(uintptr_t low, uintptr_t high, const void *caller);
void lh_unseen_remove(uintptr_t low, uintptr_t high);

/* True if a lock that lies there, in no module and on no stack, may end without
 * an event. */
bool lh_unseen_holds(uintptr_t address);

#endif
