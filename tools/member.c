/* SPDX-License-Identifier: MIT
 * member.c - what a lock is a member of. */
#include "member.h"

#include <dwarf.h>
#include <string.h>

#include "phrase.h"
#include "pool.h"
#include "scope.h"
#include "types.h"

enum { MAX_ALIASES = 16 }; /* typedefs of typedefs; a cycle ends here */

/* The value of an expression, as far as it has been followed. */
struct value {
    Dwarf_Die type;
    const char *root; /* the variable, or the type that it points to */
    bool root_is_type, is_cxx;
    const char *rest; /* behind it: ".peers[...].lock" */
    bool arrow;       /* the next member is of what the last one points to */
    int nindices;     /* so far, of an array of several dimensions */
    int parameter;    /* that it is, or that root is what it points to */
    const char *type_name; /* of the latter */
    bool fixed;            /* it is part of a static variable */
};

/* How something relates to what is looked for. */
enum fit { NO_FIT, IS_IT, POINTS_TO_IT };

/* "Session", also by the typedef of a structure that has no name itself. */
static const char *type_name(struct lh_pool *pool, Dwarf_Die type)
{
    const char *alias = "";
    for (int i = 0; i < MAX_ALIASES; i++) {
        if (dwarf_tag(&type) == DW_TAG_typedef)
            alias = lh_types_name(pool, &type);
        if (!lh_types_peel(&type))
            break;
    }
    if (!lh_types_is_aggregate(&type))
        return "";
    const char *name = lh_types_name(pool, &type);
    return *name ? name : alias;
}

/* The first template argument of a class of the C++ library that begins with
 * one of these names. */
static bool argument_of(Dwarf_Die *type, const char *const *names,
                        Dwarf_Die *argument)
{
    const char *name = dwarf_diename(type);
    Dwarf_Die child;
    bool found = false;
    if (!name || !lh_types_is_aggregate(type) || !lh_types_in_std(type))
        return false;
    for (; *names; names++)
        found |= strncmp(name, *names, strlen(*names)) == 0;
    if (!found || dwarf_child(type, &child) != 0)
        return false;
    do {
        if (dwarf_tag(&child) == DW_TAG_template_type_parameter)
            return lh_types_of(&child, argument);
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

/* What a pointer or a reference, typedefs off, leads to. */
static bool pointee(Dwarf_Die type, Dwarf_Die *target)
{
    static const char *const smart[] = { "unique_ptr<", "shared_ptr<", NULL };
    lh_types_bare(&type);
    if (lh_types_is_pointer(&type) || lh_types_is_reference(&type))
        return lh_types_of(&type, target);
    return argument_of(&type, smart, target);
}

/* What an element of a container or of what a pointer points to is. */
static bool element(Dwarf_Die type, Dwarf_Die *target)
{
    static const char *const containers[] = { "vector<", "deque<", "array<",
                                              "unique_ptr<", NULL };
    return lh_types_is_pointer(&type) ? lh_types_of(&type, target)
                                      : argument_of(&type, containers, target);
}

/* The name begins anew at what the value points to, if that has a name. */
static void enter(struct lh_pool *pool, struct value *v, Dwarf_Die target)
{
    const char *name = type_name(pool, target);
    bool direct = !v->root_is_type && !*v->rest;
    v->type = target;
    v->fixed = false;
    if (!direct)
        v->parameter = LH_MEMBER_NO_PARAMETER;
    if (*name) {
        v->root = v->type_name = name;
        v->root_is_type = true;
        v->rest = "";
        v->is_cxx = lh_types_in_cxx(&target);
    } else {
        v->parameter = LH_MEMBER_NO_PARAMETER;
        v->arrow = true;
    }
}

static bool follow(struct lh_pool *pool, struct value *v)
{
    Dwarf_Die target;
    if (!pointee(v->type, &target))
        return false;
    enter(pool, v, target);
    return true;
}

static bool take_member(struct lh_pool *pool, struct value *v, const char *name)
{
    Dwarf_Die found, owner;
    if (lh_types_is_reference(&v->type) && !follow(pool, v))
        return false;
    lh_types_bare(&v->type);
    if (!lh_types_is_aggregate(&v->type) ||
        !lh_scope_member(&v->type, name, &found, &owner) ||
        !lh_types_of(&found, &v->type))
        return false;
    /* Of a base class it is a member of that. */
    if (v->root_is_type && !*v->rest && *lh_types_name(pool, &owner))
        v->root = lh_types_name(pool, &owner);
    v->rest =
        lh_pool_format(pool, "%s%s%s", v->rest, v->arrow ? "->" : ".", name);
    v->arrow = false;
    return true;
}

static int count_dimensions(Dwarf_Die *array)
{
    Dwarf_Die die;
    int n = 0;
    if (dwarf_child(array, &die) != 0)
        return 1;
    do {
        n += dwarf_tag(&die) == DW_TAG_subrange_type;
    } while (dwarf_siblingof(&die, &die) == 0);
    return n ? n : 1;
}

static bool take_element(struct lh_pool *pool, struct value *v)
{
    Dwarf_Die target;
    if (lh_types_is_reference(&v->type) && !follow(pool, v))
        return false;
    lh_types_bare(&v->type);
    if (dwarf_tag(&v->type) == DW_TAG_array_type) {
        v->rest = lh_pool_format(pool, "%s[...]", v->rest);
        if (++v->nindices < count_dimensions(&v->type))
            return true;
        v->nindices = 0;
        return lh_types_of(&v->type, &v->type);
    }
    if (!element(v->type, &target))
        return false;
    /* What a variable points to is better known by its type. */
    if (!*v->rest && !v->root_is_type && *type_name(pool, target)) {
        enter(pool, v, target);
        return true;
    }
    v->rest = lh_pool_format(pool, "%s[...]", v->rest);
    v->parameter = LH_MEMBER_NO_PARAMETER;
    v->type = target;
    v->fixed = false;
    return true;
}

static bool take(struct lh_pool *pool, struct value *v,
                 const struct lh_phrase_step *step)
{
    switch (step->how) {
    case '>':
        return follow(pool, v) && take_member(pool, v, step->name);
    case '.':
        return take_member(pool, v, step->name);
    case '[':
        return take_element(pool, v);
    default:
        return follow(pool, v);
    }
}

/* The function that is asked. */
struct here {
    struct lh_pool *pool;
    struct lh_scope_memory *memory;
    Dwarf_Die *scopes;
    int nscopes;
    const struct lh_member_query *query;
    bool has_call; /* the statement has the call, as far as words tell */
};

/* The variable that a path begins with, or the member of *this. */
static bool start(const struct here *h, const char *name, struct value *v)
{
    struct lh_scope_variable found;
    if (!lh_scope_find(h->memory, h->scopes, h->nscopes, name, &found))
        return false;
    *v = (struct value){ .type = found.type,
                         .root = name,
                         .rest = "",
                         .parameter = found.parameter,
                         .fixed = found.fixed };
    if (!found.is_member)
        return true;
    v->root = "this";
    enter(h->pool, v, found.type);
    return take_member(h->pool, v, name);
}

static bool is_wanted(struct lh_pool *pool, Dwarf_Die type,
                      const struct lh_member_query *query)
{
    if (!query->within)
        return lh_types_is_lock_of(type, query->kind);
    return strcmp(type_name(pool, type), query->within) == 0;
}

static enum fit fit_of(struct lh_pool *pool, struct value *v,
                       const struct lh_member_query *query)
{
    Dwarf_Die target, type = v->type;
    lh_types_bare(&type);
    if (is_wanted(pool, v->type, query))
        return v->root_is_type && !*v->rest ? POINTS_TO_IT : IS_IT;
    /* An array stands for its first element, or for one that is counted to. */
    if (dwarf_tag(&type) == DW_TAG_array_type && lh_types_of(&type, &target) &&
        is_wanted(pool, target, query)) {
        v->rest = lh_pool_format(pool, "%s[...]", v->rest);
        return IS_IT;
    }
    if (pointee(v->type, &target) && is_wanted(pool, target, query))
        return POINTS_TO_IT;
    return NO_FIT;
}

static const char *name_of(struct lh_pool *pool, const struct value *v)
{
    if (!v->root_is_type || v->rest[0] != '.')
        return lh_pool_format(pool, "%s%s", v->root, v->rest);
    return lh_pool_format(pool, "%s%s%s", v->root, v->is_cxx ? "::" : "->",
                          v->rest + 1);
}

/* What the paths of a statement have come to. */
struct outcome {
    struct lh_member member;
    bool unclear;
};

static void add_named(struct lh_pool *pool, struct outcome *o,
                      const struct value *v, const struct lh_phrase_path *path)
{
    const char *name = name_of(pool, v);
    bool again = o->member.result == LH_MEMBER_NAMED &&
                 strcmp(o->member.name, name) == 0;
    o->unclear |= v->fixed || path->hidden ||
                  (o->member.result != LH_MEMBER_UNKNOWN && !again);
    if (again && strcmp(o->member.written, path->text) != 0) {
        /* Which of the two it is does not matter to the name. */
        o->member.written = "";
        o->member.parameter = LH_MEMBER_NO_PARAMETER;
        return;
    }
    o->member.result = LH_MEMBER_NAMED;
    o->member.name = name;
    o->member.written = path->text;
    o->member.parameter =
        v->root_is_type ? v->parameter : LH_MEMBER_NO_PARAMETER;
    o->member.type = v->type_name;
    o->member.rest = v->rest;
}

static void add_pointer(struct outcome *o, const struct value *v,
                        const struct lh_phrase_path *path)
{
    bool again = o->member.result == LH_MEMBER_PASSED &&
                 o->member.parameter == v->parameter;
    o->unclear |= path->nsteps > (path->argument == LH_PHRASE_OBJECT) ||
                  v->parameter == LH_MEMBER_NO_PARAMETER || path->hidden ||
                  (o->member.result != LH_MEMBER_UNKNOWN && !again);
    o->member.result = LH_MEMBER_PASSED;
    o->member.parameter = v->parameter;
}

/* Whether the path can be what the function that is called is given. Lock
 * functions can hide in a macro, or be a guard of C++; another function that is
 * given a lock too is neither. */
static bool is_passed(const struct here *h, const struct lh_phrase_path *path)
{
    struct lh_scope_variable guard;
    if (h->has_call && *h->query->callee)
        return strcmp(path->call, h->query->callee) == 0 &&
               path->argument == h->query->argument && path->whole;
    if (!*path->call || path->argument == LH_PHRASE_OBJECT ||
        lh_phrase_is_lock_function(path->call))
        return true;
    return !h->has_call &&
           (lh_scope_find(h->memory, h->scopes, h->nscopes, path->call,
                          &guard) ||
            !lh_scope_has_function(h->memory, &h->scopes[h->nscopes - 1],
                                   path->call));
}

static void judge(const struct here *h, const struct lh_phrase_path *path,
                  struct outcome *o)
{
    struct value v;
    if (!start(h, path->variable, &v))
        return;
    for (size_t i = 0; i < path->nsteps; i++)
        if (!take(h->pool, &v, &path->steps[i]))
            return;
    enum fit fit = fit_of(h->pool, &v, h->query);
    if (fit == NO_FIT || !is_passed(h, path))
        return;
    if (fit == IS_IT)
        add_named(h->pool, o, &v, path);
    else
        add_pointer(o, &v, path);
}

struct lh_member lh_member_find(struct lh_pool *pool, Dwarf_Die *scopes,
                                int nscopes, struct lh_scope_memory *memory,
                                const struct lh_member_query *query)
{
    Dwarf_Die *function = &scopes[nscopes - 1];
    struct outcome o = { .member = { .function = "", .type = "", .rest = "" } };
    size_t n;
    const struct lh_phrase_path *paths =
        lh_phrase_read(pool, query->statement, &n);
    struct here h = {
        pool,   memory,
        scopes, nscopes,
        query,  lh_phrase_count(pool, query->statement, query->callee) > 0
    };
    if (query->within && !h.has_call)
        return o.member;
    for (size_t i = 0; i < n && !o.unclear; i++)
        judge(&h, &paths[i], &o);
    if (o.unclear)
        o.member.result = LH_MEMBER_UNKNOWN;
    const char *name = dwarf_diename(function);
    o.member.function = name ? lh_pool_copy(pool, name) : "";
    o.member.position = o.member.parameter == LH_PHRASE_OBJECT
                            ? 0
                            : o.member.parameter + lh_scope_is_method(function);
    return o.member;
}
