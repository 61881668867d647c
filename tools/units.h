/* SPDX-License-Identifier: MIT
 *
 * units.h - which compilation unit an address belongs to, by the units' own
 * ranges: clang writes no .debug_aranges, on which libdw relies.
 */
#ifndef LH_TOOLS_UNITS_H
#define LH_TOOLS_UNITS_H

#include <elfutils/libdw.h>

struct lh_units;

struct lh_units *lh_units_read(Dwarf *dwarf);
void lh_units_free(struct lh_units *u);

/* The unit's DIE, or NULL. The address is in the DWARF's own terms; the DIE
 * stays valid as long as u. */
Dwarf_Die *lh_units_find(struct lh_units *u, Dwarf_Addr address);

/* A text that the unit of a DIE has, as DW_AT_producer; "" if it has none. */
const char *lh_units_text(Dwarf_Die *die, unsigned attribute);

#endif
