/* SPDX-License-Identifier: MIT
 *
 * elfsym.h - the symbol at an address, from the file's own tables.
 *
 * For reports of the bare preload: dladdr would take the loader's lock and
 * sees exported names only. Reads the file anew for each answer, as reports
 * are few. The tools use libdw instead.
 *
 * Signals:  called with signals blocked; uses about 300 bytes of stack.
 */
#ifndef LH_RUNTIME_ELFSYM_H
#define LH_RUNTIME_ELFSYM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Finds the function or object that holds an address, given as an offset from
 * the load base. name receives at most size_bytes, cut if it is longer; offset
 * receives the distance from the symbol's start.
 * Returns false, and changes nothing, when no symbol covers it.
 */
bool lh_elfsym_find(const char *path, uint64_t address, char *name,
                    size_t size_bytes, uint64_t *offset);

#endif
