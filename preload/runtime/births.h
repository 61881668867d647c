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

/* Notes the stack of a lock's init. False if there is no room for it: then it
 * is to be made known at once. */
bool lh_birth_note(uintptr_t address, uint32_t stack);

/* Forgets the note of an address and returns the stack; 0 if there is none. */
uint32_t lh_birth_take(uintptr_t address);

#endif
