/* SPDX-License-Identifier: MIT
 * variables.c - the variables of a module with a fixed address, by DWARF. */
#include "variables.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "function.h"
#include "pool.h"
#include "types.h"
#include "units.h"

enum {
    MAX_SCOPES = 32, /* nesting of namespaces, functions and blocks */
    MAX_TYPES = 32,  /* steps from a variable's type to the part asked for */
};

struct variable {
    Dwarf_Addr address;
    Dwarf_Die die;
    Dwarf_Die function; /* that it is local to; addr is NULL in none */
};

struct lh_variables {
    struct variable *list; /* by address */
    size_t n, capacity;
};

bool lh_variables_address(Dwarf_Die *die, Dwarf_Addr *address)
{
    Dwarf_Attribute location, operand;
    Dwarf_Op *ops;
    size_t n;
    if (!dwarf_attr(die, DW_AT_location, &location) ||
        dwarf_getlocation(&location, &ops, &n) != 0 || n != 1)
        return false;
    if (ops[0].atom == DW_OP_addr) {
        *address = ops[0].number;
        return true;
    }
    return ops[0].atom == DW_OP_addrx &&
           dwarf_getlocation_attr(&location, ops, &operand) == 0 &&
           dwarf_formaddr(&operand, address) == 0;
}

static void add_variable(struct lh_variables *v, Dwarf_Die *die,
                         const Dwarf_Die *function)
{
    struct variable new = { .die = *die };
    if (function)
        new.function = *function;
    if (!lh_variables_address(die, &new.address))
        return;
    v->list = lh_pool_grow(v->list, v->n, &v->capacity, sizeof *v->list);
    v->list[v->n++] = new;
}

static void read_scope(struct lh_variables *v, Dwarf_Die *scope,
                       const Dwarf_Die *function, int depth)
{
    Dwarf_Die die;
    if (depth > MAX_SCOPES || dwarf_child(scope, &die) != 0)
        return;
    do {
        switch (dwarf_tag(&die)) {
        case DW_TAG_variable:
            add_variable(v, &die, function);
            break;
        case DW_TAG_subprogram:
            read_scope(v, &die, &die, depth + 1);
            break;
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_lexical_block:
            read_scope(v, &die, function, depth + 1);
            break;
        default:
            break;
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

static int by_address(const void *a, const void *b)
{
    const struct variable *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

struct lh_variables *lh_variables_read(Dwarf *dwarf)
{
    struct lh_variables *v = lh_pool_heap(sizeof *v);
    Dwarf_CU *unit = NULL;
    Dwarf_Die die, skeleton;
    uint8_t type;
    while (dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, &skeleton) ==
           0) {
        bool split = type == DW_UT_skeleton && dwarf_tag(&skeleton);
        read_scope(v, split ? &skeleton : &die, NULL, 0);
    }
    if (v->n)
        qsort(v->list, v->n, sizeof *v->list, by_address);
    return v;
}

void lh_variables_free(struct lh_variables *v)
{
    if (v)
        free(v->list);
    free(v);
}

/* A part of an aggregate: its name with separator, its type and its place. */
struct part {
    char *name; /* "" for a base class or an unnamed member */
    Dwarf_Die type;
    Dwarf_Word offset; /* of the address asked for, inside the part */
};

static Dwarf_Word subrange_length(Dwarf_Die *subrange)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    if (dwarf_attr_integrate(subrange, DW_AT_count, &attribute) &&
        dwarf_formudata(&attribute, &value) == 0)
        return value;
    if (dwarf_attr_integrate(subrange, DW_AT_upper_bound, &attribute) &&
        dwarf_formudata(&attribute, &value) == 0)
        return value + 1;
    return 0;
}

/* Indices of an element in an array of several dimensions, "[2][0]". */
static char *indices(struct lh_pool *pool, Dwarf_Die *array, Dwarf_Word index)
{
    Dwarf_Word lengths[8];
    size_t n = 0;
    Dwarf_Die die;
    if (dwarf_child(array, &die) == 0) {
        do {
            if (dwarf_tag(&die) == DW_TAG_subrange_type && n < 8)
                lengths[n++] = subrange_length(&die);
        } while (dwarf_siblingof(&die, &die) == 0);
    }
    char *text = lh_pool_copy(pool, "");
    for (size_t i = n; i-- > 0;) {
        Dwarf_Word here = i > 0 && lengths[i] ? index % lengths[i] : index;
        text = lh_pool_format(pool, "[%llu]%s", (unsigned long long)here, text);
        index = lengths[i] ? index / lengths[i] : 0;
    }
    return text;
}

static bool element(struct lh_pool *pool, Dwarf_Die *array, Dwarf_Word offset,
                    struct part *part)
{
    Dwarf_Word size;
    if (!lh_types_of(array, &part->type) ||
        !(size = lh_types_size(&part->type)))
        return false;
    part->name = indices(pool, array, offset / size);
    part->offset = offset % size;
    return true;
}

static bool member(struct lh_pool *pool, Dwarf_Die *aggregate,
                   Dwarf_Word offset, struct part *part)
{
    Dwarf_Die die;
    if (dwarf_child(aggregate, &die) != 0)
        return false;
    do {
        Dwarf_Attribute attribute;
        Dwarf_Word at = 0;
        int tag = dwarf_tag(&die);
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
            !lh_types_of(&die, &part->type))
            continue;
        /* Absent in a union, and in a static member, whose size fits too but
         * which is declared external. */
        if (dwarf_attr(&die, DW_AT_data_member_location, &attribute))
            dwarf_formudata(&attribute, &at);
        else if (dwarf_hasattr(&die, DW_AT_external))
            continue;
        if (offset < at || offset - at >= lh_types_size(&part->type))
            continue;
        const char *name = dwarf_diename(&die);
        bool named = tag == DW_TAG_member && name;
        part->name =
            lh_pool_format(pool, "%s%s", named ? "." : "", named ? name : "");
        part->offset = offset - at;
        return true;
    } while (dwarf_siblingof(&die, &die) == 0);
    return false;
}

/* Appends to path the members and elements that lead to offset. */
static char *descend(struct lh_pool *pool, char *path, Dwarf_Die *variable,
                     Dwarf_Word offset)
{
    struct part at = { .offset = offset };
    if (!lh_types_of(variable, &at.type))
        return path;
    for (int steps = 0; steps < MAX_TYPES && !lh_types_is_lock(&at.type);
         steps++) {
        struct part next;
        bool found = false;
        switch (dwarf_tag(&at.type)) {
        case DW_TAG_typedef:
        case DW_TAG_const_type:
        case DW_TAG_volatile_type:
        case DW_TAG_atomic_type:
            next = (struct part){ .name = lh_pool_copy(pool, ""),
                                  .offset = at.offset };
            found = lh_types_of(&at.type, &next.type);
            break;
        case DW_TAG_array_type:
            found = element(pool, &at.type, at.offset, &next);
            break;
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
        case DW_TAG_union_type:
            found = member(pool, &at.type, at.offset, &next);
            break;
        default:
            break;
        }
        if (!found)
            break;
        path = lh_pool_format(pool, "%s%s", path, next.name);
        at = next;
    }
    if (at.offset && !lh_types_is_lock(&at.type))
        path = lh_pool_format(pool, "%s+%llu", path,
                              (unsigned long long)at.offset);
    return path;
}

/* With the namespaces around its declaration, as its mangled name has them: gcc
 * gives none to a variable that only its own unit knows, clang does. */
static char *qualified_name(struct lh_pool *pool, Dwarf_Die *die)
{
    Dwarf_Die *scopes = NULL, declared = lh_function_declaration(*die);
    const char *name = dwarf_diename(die);
    char *text = lh_pool_copy(pool, name ? name : "");
    int n = *text ? dwarf_getscopes_die(&declared, &scopes) : 0;
    for (int i = 1; i < n && dwarf_tag(&scopes[i]) == DW_TAG_namespace; i++) {
        name = dwarf_diename(&scopes[i]);
        text = lh_pool_format(pool, "%s::%s",
                              name ? name : "(anonymous namespace)", text);
    }
    free(scopes);
    return text;
}

static char *full_name(struct lh_pool *pool, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *linkage = NULL;
    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
        dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
        linkage = dwarf_formstring(&attribute);
    if (linkage)
        return lh_demangle_full(pool, linkage);
    return qualified_name(pool, die);
}

/* dwarf_decl_file() aborts where a split unit has no table of files. */
static const char *file_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die unit;
    Dwarf_Word index;
    Dwarf_Files *files;
    size_t n;
    if (!dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) ||
        dwarf_formudata(&attribute, &index) != 0 || index == 0 ||
        !dwarf_cu_die(attribute.cu, &unit, NULL, NULL, NULL, NULL, NULL,
                      NULL) ||
        dwarf_getsrcfiles(&unit, &files, &n) != 0 || index >= n)
        return NULL;
    return dwarf_filesrc(files, index, NULL, NULL);
}

/* Up to elfutils 0.188 libdw takes file 0, which in DWARF 5 is the unit's own
 * source file, for none. */
static const char *declared_in(struct lh_pool *pool, Dwarf_Die *die)
{
    const char *file = file_of(die);
    const char *folder = lh_units_text(die, DW_AT_comp_dir);
    if (file)
        return lh_pool_copy(pool, file);
    file = lh_units_text(die, DW_AT_name);
    return *file == '/' || !*folder || !*file
               ? lh_pool_copy(pool, file)
               : lh_pool_format(pool, "%s/%s", folder, file);
}

static const struct variable *at_or_before(const struct lh_variables *v,
                                           Dwarf_Addr address)
{
    size_t low = 0, high = v->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (v->list[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &v->list[low - 1] : NULL;
}

int lh_variables_find(const struct lh_variables *v, struct lh_pool *pool,
                      Dwarf_Addr address, struct lh_variables_found *found)
{
    const struct variable *variable = at_or_before(v, address);
    Dwarf_Die type;
    if (!variable)
        return ENOENT;
    Dwarf_Die die = variable->die;
    Dwarf_Word offset = address - variable->address;
    if (!lh_types_of(&die, &type) || offset >= lh_types_size(&type))
        return ENOENT;
    char *name = full_name(pool, &die);
    if (!*name)
        return ENOENT;
    Dwarf_Die function = variable->function;
    int line = 0;
    bool declared = dwarf_decl_line(&die, &line) == 0;
    *found = (struct lh_variables_found){
        .path = descend(pool, name, &die, offset),
        .function = function.addr ? lh_function_name(pool, &function) : "",
        .file = declared ? declared_in(pool, &die) : "",
        .built_in = lh_pool_copy(pool, lh_units_text(&die, DW_AT_comp_dir)),
        .line = line,
    };
    return 0;
}
