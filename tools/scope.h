/* SPDX-License-Identifier: MIT
 *
 * scope.h - what a name in a function's source means there, by DWARF.
 */
#ifndef LH_TOOLS_SCOPE_H
#define LH_TOOLS_SCOPE_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "idmap.h"
#include "pool.h"

/* What units are known to have; zeroed, it is empty. A name is looked for in
 * all of a unit once. */
struct lh_scope_memory {
    struct lh_pool pool;
    struct lh_idmap variables, functions;
};

void lh_scope_free(struct lh_scope_memory *memory);

struct lh_scope_variable {
    Dwarf_Die type;
    int parameter;  /* which one it is, or as in member.h */
    bool is_member; /* of *this, which type is that of */
    bool fixed;     /* a static variable */
};

/*
 * A local variable, parameter, captured variable, member of *this, or variable
 * of the unit. False if there is none, or several that differ.
 *
 * scopes  as for lh_member_find()
 */
bool lh_scope_find(struct lh_scope_memory *memory, Dwarf_Die *scopes,
                   int nscopes, const char *name,
                   struct lh_scope_variable *found);

/* The member of an aggregate, of its unnamed members or of its base classes;
 * owner receives which of those. */
bool lh_scope_member(Dwarf_Die *aggregate, const char *name, Dwarf_Die *member,
                     Dwarf_Die *owner);

/* Whether it is given an object. */
bool lh_scope_is_method(Dwarf_Die *function);

/* Whether the unit of the function, outside of the C++ library, knows another
 * one of that name. */
bool lh_scope_has_function(struct lh_scope_memory *memory, Dwarf_Die *function,
                           const char *name);

#endif
