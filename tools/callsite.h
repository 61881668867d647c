/* SPDX-License-Identifier: MIT
 *
 * callsite.h - whether a call is the one that the line table says, by DWARF.
 *
 * A function that ends with a call is left before that, so that its caller
 * seems to have made it; and calls of several statements can become one, with
 * the line of any.
 */
#ifndef LH_TOOLS_CALLSITE_H
#define LH_TOOLS_CALLSITE_H

#include <elfutils/libdw.h>
#include <stdbool.h>

struct lh_pool;

/* What is called, as far as the source or the stack tells. */
struct lh_callsite {
    const char *callee;    /* "" for a lock function */
    int position;          /* of the argument that matters, from 0 */
    bool by_library;       /* a function of a library calls the lock function */
    const char *statement; /* that is said to have the call */
};

enum lh_callsite_is {
    LH_CALLSITE_ANOTHER, /* or it is not known */
    LH_CALLSITE_MERGED,  /* maybe with another one of that callee */
    LH_CALLSITE_CERTAIN,
};

/* scopes  of the place, innermost first, out to the function that no other has
 *         inlined at least
 * back    the address that the call returns to
 * callee  receives what is called; "" if that is not known */
enum lh_callsite_is lh_callsite_judge(struct lh_pool *pool, Dwarf_Die *scopes,
                                      int nscopes, Dwarf_Addr back,
                                      const struct lh_callsite *call,
                                      const char **callee);

#endif
