/* SPDX-License-Identifier: MIT
 *
 * variables.h - the variables of a module with a fixed address, by DWARF.
 *
 * Memory:   names come from the pool given; DIEs stay valid as long as the
 *           module is open.
 */
#ifndef LH_TOOLS_VARIABLES_H
#define LH_TOOLS_VARIABLES_H

#include <elfutils/libdw.h>
#include <stdbool.h>

struct lh_pool;
struct lh_variables;

struct lh_variables_found {
    const char *path;     /* "conn[1].meta" */
    const char *function; /* that it is local to, or "" */
    const char *file, *built_in;
    int line;
};

/* Reads all of them, which takes a while for a large program. */
struct lh_variables *lh_variables_read(Dwarf *dwarf);
void lh_variables_free(struct lh_variables *v);

/* Where a variable lies, if that is always the same place. */
bool lh_variables_address(Dwarf_Die *die, Dwarf_Addr *address);

/* Which one lies at address, in the DWARF's own addresses, and which part of
 * it. Returns 0 or ENOENT. */
int lh_variables_find(const struct lh_variables *v, struct lh_pool *pool,
                      Dwarf_Addr address, struct lh_variables_found *found);

#endif
