/* SPDX-License-Identifier: MIT
 * function.c - what a function is called, by DWARF. */
#include "function.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "pool.h"

enum { MAX_NESTED = 8 }; /* lambdas in lambdas */

bool lh_function_is(Dwarf_Die *die)
{
    int tag = dwarf_tag(die);
    return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

Dwarf_Die lh_function_declaration(Dwarf_Die die)
{
    static const unsigned links[] = { DW_AT_abstract_origin,
                                      DW_AT_specification };
    Dwarf_Attribute attribute;
    Dwarf_Die next;
    for (int i = 0; i < 2; i++)
        if (dwarf_attr(&die, links[i], &attribute) &&
            dwarf_formref_die(&attribute, &next))
            die = next;
    return die;
}

static const char *linkage_name(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
        dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
        return dwarf_formstring(&attribute);
    return NULL;
}

static bool is_class(Dwarf_Die *die)
{
    int tag = dwarf_tag(die);
    return tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
           tag == DW_TAG_union_type;
}

/* What a scope adds to a qualified name; "" for one that adds nothing. */
static const char *scope_name(Dwarf_Die *scope)
{
    const char *name = dwarf_diename(scope);
    /* Of an anonymous namespace the file says which it is. */
    if (dwarf_tag(scope) == DW_TAG_namespace)
        return name && !dwarf_hasattr(scope, DW_AT_export_symbols) ? name : "";
    return is_class(scope) ? name ? name : "(unnamed)" : "";
}

/* A lambda is the call operator of a class without a name, or with one that no
 * program can write. */
static bool is_lambda(Dwarf_Die *scopes, int n)
{
    const char *name = dwarf_diename(&scopes[0]);
    if (n < 2 || !name || strncmp(name, "operator()", 10) != 0 ||
        !is_class(&scopes[1]))
        return false;
    const char *class = dwarf_diename(&scopes[1]);
    return !class || strchr("<.$", class[0]) != NULL;
}

/* By the scopes around its declaration, for a function that only its own unit
 * knows and that so needs no other name. */
static const char *qualified_name(struct lh_pool *pool, Dwarf_Die *die,
                                  int depth)
{
    const char *linkage = linkage_name(die);
    if (linkage)
        return lh_demangle_brief(pool, linkage);
    const char *name = dwarf_diename(die);
    Dwarf_Die *scopes = NULL, declared = lh_function_declaration(*die);
    int n = name ? dwarf_getscopes_die(&declared, &scopes) : 0;
    bool lambda = n > 1 && is_lambda(scopes, n);
    if (!name || n <= 1 || depth == 0) {
        free(scopes);
        return name ? lh_demangle_shorten(pool, name) : "";
    }
    const char *text = lambda ? "" : name;
    for (int i = lambda ? 2 : 1; i < n; i++) {
        const char *part = scope_name(&scopes[i]);
        if (lh_function_is(&scopes[i])) {
            part = qualified_name(pool, &scopes[i], depth - 1);
            i = n;
        }
        if (*part)
            text =
                lh_pool_format(pool, "%s%s%s", part, *text ? "::" : "", text);
    }
    free(scopes);
    text = lh_demangle_shorten(pool, text);
    return lambda ? lh_demangle_lambda(pool, text) : text;
}

const char *lh_function_name(struct lh_pool *pool, Dwarf_Die *die)
{
    return qualified_name(pool, die, MAX_NESTED);
}
