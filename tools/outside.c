/* SPDX-License-Identifier: MIT
 * outside.c - a process as seen from outside. */
#include "outside.h"

#include <string.h>

/* No sum of what a damaged file or process says: it may wrap around. */
bool lh_outside_covers(uint64_t start, uint64_t bytes, uint64_t address,
                       uint64_t n)
{
    return address >= start && n <= bytes && address - start <= bytes - n;
}

static bool from_copy(const struct lh_outside_copy *c, uint64_t address,
                      void *buffer, size_t n)
{
    if (!c->n || !lh_outside_covers(c->address, c->n, address, n))
        return false;
    memcpy(buffer, c->bytes + (address - c->address), n);
    return true;
}

bool lh_outside_read(const struct lh_outside *o, uint64_t address, void *buffer,
                     size_t n)
{
    for (size_t i = 0; i < o->nthreads; i++)
        if (from_copy(&o->threads[i].lock, address, buffer, n) ||
            from_copy(&o->threads[i].stack, address, buffer, n))
            return true;
    return o->read(o, address, buffer, n);
}

bool lh_outside_u32(const struct lh_outside *o, uint64_t address,
                    uint32_t *value)
{
    return lh_outside_read(o, address, value, sizeof *value);
}

bool lh_outside_u64(const struct lh_outside *o, uint64_t address,
                    uint64_t *value)
{
    return lh_outside_read(o, address, value, sizeof *value);
}

const struct lh_outside_thread *lh_outside_thread_of(const struct lh_outside *o,
                                                     uint64_t tid)
{
    for (size_t i = 0; i < o->nthreads; i++)
        if (o->threads[i].tid == tid)
            return &o->threads[i];
    return NULL;
}

/* The segments of a file lie one after the other, the one with its first byte
 * at the lowest address. What follows the last of them without a file is its
 * uninitialized data. */
const struct lh_outside_range *lh_outside_range_at(const struct lh_outside *o,
                                                   uint64_t address,
                                                   uint64_t *base)
{
    const struct lh_outside_range *found = NULL;

    for (size_t i = 0; i < o->nranges && o->ranges[i].start <= address; i++)
        found = &o->ranges[i];
    if (!found || address >= found->end || !*found->path)
        return NULL;
    const struct lh_outside_range *first = found;
    while (first > o->ranges && (first[-1].path == found->path ||
                                 strcmp(first[-1].path, found->path) == 0))
        first--;
    *base = first->start - first->offset;
    return found;
}
