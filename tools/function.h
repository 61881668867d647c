/* SPDX-License-Identifier: MIT
 *
 * function.h - what a function is called, by DWARF.
 *
 * Functions with external linkage have a mangled name; the others, lambdas
 * above all, are named by the scopes that they are declared in.
 */
#ifndef LH_TOOLS_FUNCTION_H
#define LH_TOOLS_FUNCTION_H

#include <elfutils/libdw.h>
#include <stdbool.h>

struct lh_pool;

/* Whether it is a function, inlined or not. */
bool lh_function_is(Dwarf_Die *die);

/* The declaration that says where a function, or a variable, belongs: of an
 * inlined one its origin, of a member the one in its class. */
Dwarf_Die lh_function_declaration(Dwarf_Die die);

/* "bank::Registry::each<...>", "lambda in main"; "" if it has no name. */
const char *lh_function_name(struct lh_pool *pool, Dwarf_Die *die);

#endif
