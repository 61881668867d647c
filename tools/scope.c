/* SPDX-License-Identifier: MIT
 * scope.c - what a name in a function's source means there, by DWARF. */
#include "scope.h"

#include <dwarf.h>
#include <string.h>

#include "member.h"
#include "phrase.h"
#include "types.h"
#include "variables.h"

enum { MAX_NESTED = 16 };

static bool is_called(Dwarf_Die *die, const char *name)
{
    const char *own = dwarf_diename(die);
    return own && strcmp(own, name) == 0;
}

static bool is_variable(Dwarf_Die *die)
{
    int tag = dwarf_tag(die);
    return tag == DW_TAG_variable || tag == DW_TAG_formal_parameter;
}

/* As it was written, of what is inlined or a copy. */
static bool origin_of(Dwarf_Die *die, Dwarf_Die *origin)
{
    Dwarf_Attribute attribute;
    return dwarf_attr(die, DW_AT_abstract_origin, &attribute) &&
           dwarf_formref_die(&attribute, origin);
}

static bool find_child(Dwarf_Die *scope, const char *name, Dwarf_Die *found)
{
    if (dwarf_child(scope, found) != 0)
        return false;
    do {
        if (is_variable(found) && is_called(found, name))
            return true;
    } while (dwarf_siblingof(found, found) == 0);
    return false;
}

static bool same_die(Dwarf_Die *a, Dwarf_Die *b)
{
    return a->addr == b->addr;
}

/* Sets found, or finds that what was found before has another type. */
static void agree(Dwarf_Die *die, Dwarf_Die *found, int *n)
{
    Dwarf_Die before, type;
    if (*n < 0 || !lh_types_of(die, &type))
        return;
    bool differs =
        *n > 0 && (!lh_types_of(found, &before) || !same_die(&before, &type));
    *found = *die;
    *n = differs ? -1 : *n + 1;
}

/* In the blocks of a function, or the namespaces of a unit. */
static void find_below(Dwarf_Die *scope, const char *name, int depth,
                       Dwarf_Die *found, int *n)
{
    Dwarf_Die die;
    if (depth == MAX_NESTED || dwarf_child(scope, &die) != 0)
        return;
    do {
        int tag = dwarf_tag(&die);
        if (is_variable(&die) && is_called(&die, name))
            agree(&die, found, n);
        else if (tag == DW_TAG_lexical_block || tag == DW_TAG_namespace)
            find_below(&die, name, depth + 1, found, n);
    } while (dwarf_siblingof(&die, &die) == 0);
}

/* The blocks around the place; then any other block, since an optimizer takes
 * blocks away. */
static bool find_local(Dwarf_Die *scopes, int nscopes, const char *name,
                       Dwarf_Die *found)
{
    Dwarf_Die origin;
    int n = 0;
    for (int i = 0; i < nscopes; i++)
        if (find_child(&scopes[i], name, found) ||
            (origin_of(&scopes[i], &origin) &&
             find_child(&origin, name, found)))
            return true;
    find_below(&scopes[nscopes - 1], name, 0, found, &n);
    if (origin_of(&scopes[nscopes - 1], &origin))
        find_below(&origin, name, 0, found, &n);
    return n > 0;
}

static bool unit_of(Dwarf_Die *function, Dwarf_Die *unit)
{
    Dwarf_Die origin = *function;
    origin_of(function, &origin);
    return dwarf_diecu(&origin, unit, NULL, NULL) != NULL;
}

static uint64_t key_of(Dwarf_Die *unit, const char *name)
{
    return lh_idmap_mix((uintptr_t)unit->addr, lh_idmap_text(name));
}

struct global {
    Dwarf_Die die;
    int n; /* -1: several that differ */
};

static bool find_global(struct lh_scope_memory *memory, Dwarf_Die *function,
                        const char *name, Dwarf_Die *found)
{
    Dwarf_Die unit;
    if (!unit_of(function, &unit))
        return false;
    uint64_t key = key_of(&unit, name);
    struct global *g = lh_idmap_get(&memory->variables, key);
    if (!g) {
        g = lh_pool_alloc(&memory->pool, sizeof *g);
        find_below(&unit, name, 0, &g->die, &g->n);
        lh_idmap_put(&memory->variables, key, g);
    }
    *found = g->die;
    return g->n > 0;
}

static bool has_function(Dwarf_Die *scope, const char *name, int depth)
{
    Dwarf_Die die;
    if (depth == MAX_NESTED || dwarf_child(scope, &die) != 0)
        return false;
    do {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_subprogram && is_called(&die, name))
            return true;
        bool inside = lh_types_is_aggregate(&die) ||
                      (tag == DW_TAG_namespace && !is_called(&die, "std"));
        if (inside && has_function(&die, name, depth + 1))
            return true;
    } while (dwarf_siblingof(&die, &die) == 0);
    return false;
}

bool lh_scope_has_function(struct lh_scope_memory *memory, Dwarf_Die *function,
                           const char *name)
{
    Dwarf_Die unit;
    if (!unit_of(function, &unit))
        return false;
    uint64_t key = key_of(&unit, name);
    bool *has = lh_idmap_get(&memory->functions, key);
    if (!has) {
        has = lh_pool_alloc(&memory->pool, sizeof *has);
        *has = has_function(&unit, name, 0);
        lh_idmap_put(&memory->functions, key, has);
    }
    return *has;
}

void lh_scope_free(struct lh_scope_memory *memory)
{
    lh_idmap_free(&memory->variables);
    lh_idmap_free(&memory->functions);
    lh_pool_free(&memory->pool);
}

static int parameter_of(Dwarf_Die *function, const char *name)
{
    Dwarf_Die die, origin = *function;
    int n = 0;
    if (strcmp(name, "this") == 0)
        return LH_PHRASE_OBJECT;
    origin_of(function, &origin);
    if (dwarf_child(&origin, &die) != 0)
        return LH_MEMBER_NO_PARAMETER;
    do {
        if (dwarf_tag(&die) != DW_TAG_formal_parameter ||
            dwarf_hasattr_integrate(&die, DW_AT_artificial))
            continue;
        if (is_called(&die, name))
            return n;
        n++;
    } while (dwarf_siblingof(&die, &die) == 0);
    return LH_MEMBER_NO_PARAMETER;
}

static bool is_fixed(Dwarf_Die *variable)
{
    Dwarf_Addr address;
    return lh_variables_address(variable, &address) ||
           dwarf_hasattr_integrate(variable, DW_AT_declaration);
}

static bool find_member(Dwarf_Die *aggregate, const char *name, int depth,
                        Dwarf_Die *member, Dwarf_Die *owner);

/* In its base classes, or in its members without a name. */
static bool find_inside(Dwarf_Die *aggregate, bool bases, const char *name,
                        int depth, Dwarf_Die *member, Dwarf_Die *owner)
{
    Dwarf_Die die, type;
    if (dwarf_child(aggregate, &die) != 0)
        return false;
    do {
        int tag = dwarf_tag(&die);
        if ((bases ? tag != DW_TAG_inheritance
                   : tag != DW_TAG_member || dwarf_diename(&die)) ||
            !lh_types_of(&die, &type))
            continue;
        lh_types_bare(&type);
        if (!find_member(&type, name, depth + 1, member, owner))
            continue;
        if (!bases)
            *owner = *aggregate;
        return true;
    } while (dwarf_siblingof(&die, &die) == 0);
    return false;
}

static bool find_member(Dwarf_Die *aggregate, const char *name, int depth,
                        Dwarf_Die *member, Dwarf_Die *owner)
{
    if (depth == MAX_NESTED || dwarf_child(aggregate, member) != 0)
        return false;
    do {
        if (dwarf_tag(member) != DW_TAG_member || !is_called(member, name))
            continue;
        *owner = *aggregate;
        /* A static one is declared external. */
        return !dwarf_hasattr(member, DW_AT_external);
    } while (dwarf_siblingof(member, member) == 0);
    return find_inside(aggregate, false, name, depth, member, owner) ||
           find_inside(aggregate, true, name, depth, member, owner);
}

bool lh_scope_member(Dwarf_Die *aggregate, const char *name, Dwarf_Die *member,
                     Dwarf_Die *owner)
{
    return find_member(aggregate, name, 0, member, owner);
}

static bool find_object(Dwarf_Die *function, Dwarf_Die *self)
{
    Dwarf_Die origin;
    return find_child(function, "this", self) ||
           find_child(function, "__closure", self) ||
           (origin_of(function, &origin) &&
            (find_child(&origin, "this", self) ||
             find_child(&origin, "__closure", self)));
}

bool lh_scope_is_method(Dwarf_Die *function)
{
    Dwarf_Die self;
    return find_object(function, &self);
}

/* The class of *this, or the closure of a lambda. */
static bool class_of(Dwarf_Die *function, Dwarf_Die *class, bool *is_closure)
{
    Dwarf_Die self;
    if (!find_object(function, &self) || !lh_types_of(&self, class))
        return false;
    lh_types_bare(class);
    if (!lh_types_is_pointer(class) || !lh_types_of(class, class))
        return false;
    lh_types_bare(class);
    const char *name = dwarf_diename(class);
    *is_closure = !name || strchr("<.$", *name) != NULL;
    return true;
}

/* What a lambda has captured: "__name" by g++, "name" by clang++. Captured by
 * reference it is the variable itself. */
static bool find_captured(Dwarf_Die *closure, const char *name, Dwarf_Die *type)
{
    Dwarf_Die die;
    if (dwarf_child(closure, &die) != 0)
        return false;
    do {
        const char *own = dwarf_diename(&die);
        if (!own || dwarf_tag(&die) != DW_TAG_member)
            continue;
        if (strcmp(own, name) != 0 &&
            (strncmp(own, "__", 2) != 0 || strcmp(own + 2, name) != 0))
            continue;
        return lh_types_of(&die, type) &&
               (!lh_types_is_reference(type) || lh_types_of(type, type));
    } while (dwarf_siblingof(&die, &die) == 0);
    return false;
}

/* A member of the class, or in a lambda of that of the function around. */
static bool find_implicit(Dwarf_Die *class, bool is_closure, const char *name,
                          Dwarf_Die *this_type)
{
    Dwarf_Die member, owner;
    if (!is_closure) {
        *this_type = *class;
        return lh_scope_member(class, name, &member, &owner);
    }
    Dwarf_Die target;
    if (!find_captured(class, "this", this_type))
        return false;
    target = *this_type;
    lh_types_bare(&target);
    if (lh_types_is_pointer(&target) && !lh_types_of(&target, &target))
        return false;
    lh_types_bare(&target);
    *this_type = target;
    return lh_scope_member(&target, name, &member, &owner);
}

bool lh_scope_find(struct lh_scope_memory *memory, Dwarf_Die *scopes,
                   int nscopes, const char *name,
                   struct lh_scope_variable *found)
{
    Dwarf_Die *function = &scopes[nscopes - 1], class, variable;
    bool is_closure = false,
         has_class = class_of(function, &class, &is_closure);
    *found = (struct lh_scope_variable){ .parameter = LH_MEMBER_NO_PARAMETER };
    if (has_class && is_closure && find_captured(&class, name, &found->type))
        return true;
    if (find_local(scopes, nscopes, name, &variable)) {
        if (dwarf_tag(&variable) == DW_TAG_formal_parameter && !is_closure)
            found->parameter = parameter_of(function, name);
        found->fixed = is_fixed(&variable);
        return lh_types_of(&variable, &found->type);
    }
    if (has_class && find_implicit(&class, is_closure, name, &found->type)) {
        found->is_member = true;
        if (!is_closure)
            found->parameter = LH_PHRASE_OBJECT;
        return true;
    }
    if (!find_global(memory, function, name, &variable))
        return false;
    found->fixed = is_fixed(&variable);
    return lh_types_of(&variable, &found->type);
}
