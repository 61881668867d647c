/* SPDX-License-Identifier: MIT
 * types.c - the types of DWARF, and which of them are locks. */
#include "types.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "pool.h"

enum {
    MAX_PEELED = 16, /* typedefs of typedefs; a cycle ends here */
    /* Of DWARF 6, which compilers write before, and libdw has no name for. */
    LANG_CXX_17 = 0x2b,
    LANG_CXX_20 = 0x2c,
};

bool lh_types_of(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    Dwarf_Die full;
    if (!dwarf_attr_integrate(die, DW_AT_type, &attribute) ||
        !dwarf_formref_die(&attribute, type))
        return false;
    /* What only declares a type that stands in a unit of its own. */
    if (dwarf_attr(type, DW_AT_signature, &attribute) &&
        dwarf_formref_die(&attribute, &full))
        *type = full;
    return true;
}

Dwarf_Word lh_types_size(Dwarf_Die *type)
{
    Dwarf_Word size;
    return dwarf_aggregate_size(type, &size) == 0 ? size : 0;
}

bool lh_types_peel(Dwarf_Die *type)
{
    Dwarf_Die inner;
    switch (dwarf_tag(type)) {
    case DW_TAG_typedef:
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
        if (!lh_types_of(type, &inner))
            return false;
        *type = inner;
        return true;
    default:
        return false;
    }
}

void lh_types_bare(Dwarf_Die *type)
{
    for (int i = 0; i < MAX_PEELED && lh_types_peel(type); i++)
        ;
}

bool lh_types_is_aggregate(Dwarf_Die *type)
{
    int tag = dwarf_tag(type);
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
           tag == DW_TAG_union_type;
}

bool lh_types_is_pointer(Dwarf_Die *type)
{
    return dwarf_tag(type) == DW_TAG_pointer_type;
}

bool lh_types_is_reference(Dwarf_Die *type)
{
    int tag = dwarf_tag(type);
    return tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

bool lh_types_in_std(Dwarf_Die *die)
{
    Dwarf_Die *scopes = NULL;
    int n = dwarf_getscopes_die(die, &scopes);
    bool found = false;
    for (int i = 1; i < n && !found; i++) {
        const char *name = dwarf_diename(&scopes[i]);
        found = dwarf_tag(&scopes[i]) == DW_TAG_namespace && name &&
                strcmp(name, "std") == 0;
    }
    free(scopes);
    return found;
}

bool lh_types_is_lock(Dwarf_Die *type)
{
    static const char *const names[] = {
        "mtx_t",           "GMutex",        "GRecMutex", "GRWLock",
        "GStaticRecMutex", "GStaticRWLock", "GOnce",     "sem_t",
    };
    const char *name = dwarf_diename(type);
    if (!name)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return strncmp(name, "pthread_", 8) == 0 ||
           strncmp(name, "__pthread_", 10) == 0 || lh_types_in_std(type);
}

static const struct lock_type {
    const char *kind, *name;
    bool is_std;
} lock_types[] = {
    { "mutex", "pthread_mutex_t", false },
    { "mutex", "mtx_t", false },
    { "mutex", "mutex", true },
    { "mutex", "recursive_mutex", true },
    { "mutex", "timed_mutex", true },
    { "mutex", "recursive_timed_mutex", true },
    { "rwlock", "pthread_rwlock_t", false },
    { "rwlock", "shared_mutex", true },
    { "rwlock", "shared_timed_mutex", true },
    { "spinlock", "pthread_spinlock_t", false },
    { "semaphore", "sem_t", false },
    { "gmutex", "GMutex", false },
    { "grecmutex", "GRecMutex", false },
    { "grecmutex", "GStaticRecMutex", false },
    { "grwlock", "GRWLock", false },
    { "grwlock", "GStaticRWLock", false },
};

enum { NLOCK_TYPES = sizeof lock_types / sizeof *lock_types };

bool lh_types_is_lock_of(Dwarf_Die type, const char *kind)
{
    for (int i = 0; i < MAX_PEELED; i++) {
        const char *name = dwarf_diename(&type);
        for (size_t j = 0; name && j < NLOCK_TYPES; j++)
            if (strcmp(lock_types[j].name, name) == 0 &&
                strcmp(lock_types[j].kind, kind) == 0 &&
                lock_types[j].is_std == lh_types_in_std(&type))
                return true;
        if (!lh_types_peel(&type))
            return false;
    }
    return false;
}

bool lh_types_has_lock(const char *kind)
{
    for (size_t i = 0; i < NLOCK_TYPES; i++)
        if (strcmp(lock_types[i].kind, kind) == 0)
            return true;
    return false;
}

bool lh_types_in_cxx(Dwarf_Die *die)
{
    Dwarf_Die unit;
    if (!dwarf_diecu(die, &unit, NULL, NULL))
        return false;
    switch (dwarf_srclang(&unit)) {
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case LANG_CXX_17:
    case LANG_CXX_20:
        return true;
    default:
        return false;
    }
}

const char *lh_types_name(struct lh_pool *pool, Dwarf_Die *type)
{
    const char *text = dwarf_diename(type);
    Dwarf_Die *scopes = NULL;
    if (!text || !lh_types_in_cxx(type))
        return text ? lh_pool_copy(pool, text) : "";
    int n = dwarf_getscopes_die(type, &scopes);
    for (int i = 1; i < n; i++) {
        const char *name = dwarf_diename(&scopes[i]);
        bool counts = dwarf_tag(&scopes[i]) == DW_TAG_namespace
                          ? !dwarf_hasattr(&scopes[i], DW_AT_export_symbols)
                          : lh_types_is_aggregate(&scopes[i]);
        if (name && counts)
            text = lh_pool_format(pool, "%s::%s", name, text);
    }
    free(scopes);
    return lh_demangle_shorten(pool, text);
}
