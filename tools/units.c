/* SPDX-License-Identifier: MIT
 * units.c - which compilation unit an address belongs to. */
#include "units.h"

#include <stdint.h>
#include <stdlib.h>

#include "pool.h"

struct range {
    Dwarf_Addr start, end;
    Dwarf_Die die;
};

struct lh_units {
    struct range *list; /* by start; those of different units are disjoint */
    size_t n, capacity;
};

static void add_unit(struct lh_units *u, Dwarf_Die *die)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t offset = 0;
    while ((offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0) {
        u->list = lh_pool_grow(u->list, u->n, &u->capacity, sizeof *u->list);
        u->list[u->n++] = (struct range){ start, end, *die };
    }
}

static int by_start(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

struct lh_units *lh_units_read(Dwarf *dwarf)
{
    struct lh_units *u = lh_pool_heap(sizeof *u);
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    uint8_t type;
    while (dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, NULL) == 0)
        add_unit(u, &die);
    if (u->n)
        qsort(u->list, u->n, sizeof *u->list, by_start);
    return u;
}

void lh_units_free(struct lh_units *u)
{
    if (u)
        free(u->list);
    free(u);
}

Dwarf_Die *lh_units_find(struct lh_units *u, Dwarf_Addr address)
{
    size_t low = 0, high = u->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (u->list[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address < u->list[low - 1].end ? &u->list[low - 1].die : NULL;
}

const char *lh_units_text(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute value;
    Dwarf_Die unit;
    const char *text = NULL;
    if (dwarf_diecu(die, &unit, NULL, NULL) &&
        dwarf_attr(&unit, attribute, &value))
        text = dwarf_formstring(&value);
    return text ? text : "";
}
