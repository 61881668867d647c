/* SPDX-License-Identifier: MIT
 * callsite.c - whether a call is the one that the line table says. */
#include "callsite.h"

#include <dwarf.h>
#include <string.h>

#include "phrase.h"
#include "pool.h"
#include "units.h"

enum { NREGISTERS = 6 };

/* Registers of the first arguments, in DWARF's numbers: rdi, rsi, rdx, rcx, r8,
 * r9. */
static const Dwarf_Word registers[NREGISTERS] = { 5, 4, 1, 2, 8, 9 };

static bool find_site(Dwarf_Die *scope, Dwarf_Addr back, Dwarf_Die *found)
{
    if (dwarf_child(scope, found) != 0)
        return false;
    do {
        int tag = dwarf_tag(found);
        bool gnu = tag == DW_TAG_GNU_call_site;
        Dwarf_Attribute attribute;
        Dwarf_Addr address;
        if ((gnu || tag == DW_TAG_call_site) &&
            dwarf_attr(found, gnu ? DW_AT_low_pc : DW_AT_call_return_pc,
                       &attribute) &&
            dwarf_formaddr(&attribute, &address) == 0 && address == back)
            return true;
    } while (dwarf_siblingof(found, found) == 0);
    return false;
}

/* What is called; "" if that is not said. */
static const char *called_at(Dwarf_Die *site)
{
    Dwarf_Attribute attribute;
    Dwarf_Die function;
    if ((!dwarf_attr(site, DW_AT_call_origin, &attribute) &&
         !dwarf_attr(site, DW_AT_abstract_origin, &attribute)) ||
        !dwarf_formref_die(&attribute, &function))
        return "";
    const char *name = dwarf_diename(&function);
    return name ? name : "";
}

/* Whether the compiler could tell what the argument is there: not of a call
 * that others were merged into. */
static bool has_argument(Dwarf_Die *site, int position)
{
    Dwarf_Die die;
    if (position < 0 || position >= NREGISTERS || dwarf_child(site, &die) != 0)
        return false;
    do {
        Dwarf_Attribute attribute;
        Dwarf_Op *ops;
        size_t n;
        if ((dwarf_tag(&die) == DW_TAG_call_site_parameter ||
             dwarf_tag(&die) == DW_TAG_GNU_call_site_parameter) &&
            dwarf_attr(&die, DW_AT_location, &attribute) &&
            dwarf_getlocation(&attribute, &ops, &n) == 0 && n == 1 &&
            ops[0].atom == DW_OP_reg0 + registers[position])
            return true;
    } while (dwarf_siblingof(&die, &die) == 0);
    return false;
}

/* Whether calls may be others than the source has. */
static bool is_optimized(Dwarf_Die *scopes, int nscopes)
{
    static const unsigned marks[] = { DW_AT_call_all_calls,
                                      DW_AT_call_all_source_calls,
                                      DW_AT_GNU_all_call_sites };
    const char *option =
        strstr(lh_units_text(&scopes[0], DW_AT_producer), " -O");
    for (int i = 0; i < nscopes; i++)
        for (size_t j = 0; j < sizeof marks / sizeof *marks; j++)
            if (dwarf_hasattr(&scopes[i], marks[j]))
                return true;
    return option && option[3] != '0';
}

static bool is_expected(const char *called, const struct lh_callsite *call)
{
    if (*call->callee)
        return strcmp(called, call->callee) == 0;
    return call->by_library || lh_phrase_is_lock_function(called);
}

enum lh_callsite_is lh_callsite_judge(struct lh_pool *pool, Dwarf_Die *scopes,
                                      int nscopes, Dwarf_Addr back,
                                      const struct lh_callsite *call,
                                      const char **callee)
{
    Dwarf_Die site;
    bool found = false;
    *callee = call->callee;
    for (int i = 0; i < nscopes && !found; i++)
        found = find_site(&scopes[i], back, &site);
    if (!found)
        return is_optimized(scopes, nscopes) ? LH_CALLSITE_ANOTHER
                                             : LH_CALLSITE_CERTAIN;
    const char *called = called_at(&site);
    if (*called && !is_expected(called, call))
        return LH_CALLSITE_ANOTHER;
    if (!*called && !call->by_library &&
        !lh_phrase_count(pool, call->statement, call->callee))
        return LH_CALLSITE_ANOTHER;
    if (*called)
        *callee = lh_pool_copy(pool, called);
    /* clang gives a call that it has merged no line. */
    return strncmp(lh_units_text(&site, DW_AT_producer), "GNU ", 4) != 0 ||
                   has_argument(&site, call->position)
               ? LH_CALLSITE_CERTAIN
               : LH_CALLSITE_MERGED;
}
