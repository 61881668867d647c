/* SPDX-License-Identifier: MIT
 *
 * types.h - the types of DWARF, and which of them are locks.
 */
#ifndef LH_TOOLS_TYPES_H
#define LH_TOOLS_TYPES_H

#include <elfutils/libdw.h>
#include <stdbool.h>

struct lh_pool;

/* The type of a variable, member, pointer, typedef and the like. */
bool lh_types_of(Dwarf_Die *die, Dwarf_Die *type);

/* In bytes; 0 if it is not known. */
Dwarf_Word lh_types_size(Dwarf_Die *type);

/* Takes one typedef or qualifier off; false if there is none. */
bool lh_types_peel(Dwarf_Die *type);

/* Takes all of them off. */
void lh_types_bare(Dwarf_Die *type);

/* A structure, a class or a union. */
bool lh_types_is_aggregate(Dwarf_Die *type);

bool lh_types_is_pointer(Dwarf_Die *type);
/* A C++ reference of either kind. */
bool lh_types_is_reference(Dwarf_Die *type);

/* Whether it was written inside namespace std. */
bool lh_types_in_std(Dwarf_Die *die);

/* A type whose inside is not the user's business: a lock as such. */
bool lh_types_is_lock(Dwarf_Die *type);

/* Whether it is, typedefs off, a type of the locks that the records call
 * kind. */
bool lh_types_is_lock_of(Dwarf_Die type, const char *kind);

/* Whether locks of that kind have a type of their own. */
bool lh_types_has_lock(const char *kind);

/* Whether it was written in C++. */
bool lh_types_in_cxx(Dwarf_Die *die);

/* "net::Session", of an aggregate; "" for one without a name. */
const char *lh_types_name(struct lh_pool *pool, Dwarf_Die *type);

#endif
