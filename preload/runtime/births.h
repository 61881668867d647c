/* SPDX-License-Identifier: MIT
 *
 * births.h - where locks were initialized, until somebody needs to know.
 *
 * Many locks are initialized, used and destroyed without ever being nested.
 * Their births are noted here without a lock and forgotten likewise; only when
 * the detector comes to know the lock (locks.h) does the note move there.
 *
 * Threads:  all functions may run anywhere; two that name the same lock at the
 *           same time are the program's own race.
 * Signals:  may run with signals open.
 */
#ifndef LH_RUNTIME_BIRTHS_H
#define LH_RUNTIME_BIRTHS_H

#include <stdbool.h>
#include <stdint.h>

/* Notes the kind of a lock and the stack of its init. False if there is no room
 * for it: then it is to be made known at once. */
bool lh_birth_note(uintptr_t address, uint8_t kind, uint32_t stack);

/* Forgets the note of an address and returns the stack; 0 if there is none. */
uint32_t lh_birth_take(uintptr_t address);

/* The address of a note from low on and below high, which lie in one line of
 * memory (places.h); 0 if there is none. */
uintptr_t lh_birth_within(uintptr_t low, uintptr_t high, uint8_t *kind);

#endif
