/* SPDX-License-Identifier: MIT
 * enclosing.c - which functions an address is in. */
#include "enclosing.h"

#include <dwarf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "function.h"
#include "idmap.h"
#include "pool.h"

struct body {
    Dwarf_Addr start, end;
    size_t number; /* in the order of the unit */
    Dwarf_Die function;
};

/* The functions of a unit that have code. */
struct unit {
    struct unit *next;
    struct body *list; /* by start; disjoint, but for code that is shared */
    size_t n, capacity;
};

struct lh_enclosing {
    struct lh_pool pool;
    struct lh_idmap by_unit;
    struct unit *units;
};

struct lh_enclosing *lh_enclosing_new(void)
{
    return lh_pool_heap(sizeof(struct lh_enclosing));
}

void lh_enclosing_free(struct lh_enclosing *s)
{
    for (struct unit *u = s ? s->units : NULL; u; u = u->next)
        free(u->list);
    if (s) {
        lh_idmap_free(&s->by_unit);
        lh_pool_free(&s->pool);
    }
    free(s);
}

static void add_function(struct unit *u, Dwarf_Die *die)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t offset = 0;
    while ((offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0) {
        u->list = lh_pool_grow(u->list, u->n, &u->capacity, sizeof *u->list);
        u->list[u->n] = (struct body){ start, end, u->n, *die };
        u->n++;
    }
}

/* Also those written inside another: a lambda that is passed as a pointer. */
static void add_functions(struct unit *u, Dwarf_Die *parent)
{
    Dwarf_Die die;
    for (bool more = dwarf_child(parent, &die) == 0; more;
         more = dwarf_siblingof(&die, &die) == 0) {
        if (dwarf_tag(&die) == DW_TAG_subprogram)
            add_function(u, &die);
        if (dwarf_haschildren(&die) > 0)
            add_functions(u, &die);
    }
}

/* Of functions with the same code the first one comes last, and so is found. */
static int by_start(const void *a, const void *b)
{
    const struct body *x = a, *y = b;
    if (x->start != y->start)
        return x->start > y->start ? 1 : -1;
    return (x->number < y->number) - (x->number > y->number);
}

static struct unit *unit_of(struct lh_enclosing *s, Dwarf_Die *die)
{
    struct unit *u = lh_idmap_get(&s->by_unit, (uintptr_t)die->cu);
    if (u)
        return u;
    u = lh_pool_alloc(&s->pool, sizeof *u);
    u->next = s->units;
    s->units = u;
    lh_idmap_put(&s->by_unit, (uintptr_t)die->cu, u);
    add_functions(u, die);
    if (u->n)
        qsort(u->list, u->n, sizeof *u->list, by_start);
    return u;
}

static struct body *body_at(const struct unit *u, Dwarf_Addr address)
{
    size_t low = 0, high = u->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (u->list[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address < u->list[low - 1].end ? &u->list[low - 1] : NULL;
}

/* The child that has the address, if there is one. */
static bool go_inwards(Dwarf_Die *die, Dwarf_Addr address)
{
    Dwarf_Die child;
    for (bool more = dwarf_child(die, &child) == 0; more;
         more = dwarf_siblingof(&child, &child) == 0) {
        if (dwarf_haspc(&child, address) > 0) {
            *die = child;
            return true;
        }
    }
    return false;
}

static void turn_round(Dwarf_Die *list, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        Dwarf_Die die = list[i];
        list[i] = list[n - 1 - i];
        list[n - 1 - i] = die;
    }
}

static size_t find(struct lh_enclosing *s, Dwarf_Die *unit, Dwarf_Addr address,
                   bool blocks, Dwarf_Die *list, size_t max)
{
    struct body *body = body_at(unit_of(s, unit), address);
    size_t n = 0;
    if (!body)
        return 0;
    Dwarf_Die die = body->function;
    do {
        if (!blocks && !lh_function_is(&die))
            continue;
        if (n == max) /* the innermost ones matter */
            memmove(list, list + 1, --n * sizeof *list);
        list[n++] = die;
    } while (go_inwards(&die, address));
    turn_round(list, n);
    return n;
}

size_t lh_enclosing_functions(struct lh_enclosing *s, Dwarf_Die *unit,
                              Dwarf_Addr address, Dwarf_Die *functions,
                              size_t max)
{
    return find(s, unit, address, false, functions, max);
}

size_t lh_enclosing_scopes(struct lh_enclosing *s, Dwarf_Die *unit,
                           Dwarf_Addr address, Dwarf_Die *scopes, size_t max)
{
    return find(s, unit, address, true, scopes, max);
}
