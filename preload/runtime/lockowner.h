/* SPDX-License-Identifier: MIT
 *
 * lockowner.h - what a lock itself says about who holds it.
 *
 * The words are those of glibc's locks. They may be anything when the memory
 * has been written over: what they say is believed only where the chain of the
 * thread that they name says the same. No answer is "nobody".
 *
 * Threads:  all functions may run anywhere; the locks may change meanwhile.
 */
#ifndef LH_RUNTIME_LOCKOWNER_H
#define LH_RUNTIME_LOCKOWNER_H

#include <stdbool.h>
#include <stdint.h>

/* The thread that a lock names as its only holder; 0: none, or not told. Locks
 * that processes share do not tell: they may live on elsewhere. */
int32_t lh_lockowner_of(uintptr_t lock, unsigned kind);

/* True if the lock's words agree that the thread holds it in that mode. */
bool lh_lockowner_agrees(uintptr_t lock, unsigned kind, unsigned mode,
                         int32_t tid);

#endif
