/* SPDX-License-Identifier: MIT
 *
 * enclosing.h - which functions an address is in: the one whose code it is, and
 * those that are inlined there; and which blocks.
 *
 * libdw's own dwarf_getscopes() walks the whole unit for each address, and does
 * not look into what has no code itself, as the class of a lambda. Here a unit
 * is walked once.
 */
#ifndef LH_TOOLS_ENCLOSING_H
#define LH_TOOLS_ENCLOSING_H

#include <elfutils/libdw.h>
#include <stddef.h>

struct lh_enclosing;

struct lh_enclosing *lh_enclosing_new(void);
void lh_enclosing_free(struct lh_enclosing *s);

/* The functions at an address of a unit, innermost first, of which up to max go
 * to the array; the last that there is has the code, and the others are inlined
 * into the next. Returns their number. The address is in the DWARF's own
 * terms. */
size_t lh_enclosing_functions(struct lh_enclosing *s, Dwarf_Die *unit,
                              Dwarf_Addr address, Dwarf_Die *functions,
                              size_t max);

/* The same with the blocks in them. */
size_t lh_enclosing_scopes(struct lh_enclosing *s, Dwarf_Die *unit,
                           Dwarf_Addr address, Dwarf_Die *scopes, size_t max);

#endif
