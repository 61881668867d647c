/* SPDX-License-Identifier: MIT
 * fingerprint.c - a finding by names alone. */
#include "fingerprint.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "lockwords.h"
#include "place.h"
#include "pool.h"
#include "symbols.h"

#define FORMAT(...) lh_pool_format(e->pool, __VA_ARGS__)

static const char *in_module(const struct lh_explain *e, const char *path,
                             const char *name, uint64_t offset)
{
    path = lh_place_base(path);
    return *name ? FORMAT("%s!%s", path, name)
                 : FORMAT("%s+%llx", path, (unsigned long long)offset);
}

/* The innermost function that is of the program. */
static const char *place(const struct lh_explain *e, uint64_t stack)
{
    struct lh_trace t = lh_explain_stack(e, stack);
    return t.n ? in_module(e, t.lines[0].module, t.lines[0].function,
                           t.lines[0].offset)
               : "";
}

static const char *static_place(const struct lh_explain *e,
                                struct lh_model_frame where)
{
    const struct lh_model_module *m = lh_model_module(e->process, where.module);
    struct lh_symbols_data data = { "", "", "", "", 0 };
    if (m)
        data = lh_symbols_data(lh_symbols_open(e->symbols, m), where.offset);
    return FORMAT("%s/%s",
                  in_module(e, m ? m->path : "", data.name, where.offset),
                  data.function);
}

/* An element of an array is as good as another. */
static const char *without_indices(const struct lh_explain *e, const char *name)
{
    char *copy = lh_pool_copy(e->pool, name), *to = copy;
    for (; *name; name++) {
        *to++ = *name;
        if (*name == '[')
            name += strcspn(name + 1, "]");
    }
    *to = '\0';
    return copy;
}

static const char *lock(const struct lh_explain *e, uint64_t id)
{
    const struct lh_model_lock *l = lh_model_lock(e->process, id);
    if (!l)
        return "";
    const char *name = *l->name ? l->name : lh_lockwords_of(l->kind).name;
    if (!*name && l->is_static)
        name = static_place(e, l->where);
    else if (!*name)
        name = place(e, l->init ? l->init : l->first);
    return FORMAT("%s %s", l->kind, without_indices(e, name));
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static uint64_t mix_text(uint64_t h, const char *text)
{
    for (; *text; text++)
        h = lh_idmap_mix(h, (unsigned char)*text);
    return lh_idmap_mix(h, 0);
}

/* A ring may begin anywhere. */
static uint64_t hash(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    const char **sides = lh_pool_array(e->pool, f->nsides, sizeof *sides);
    for (size_t i = 0; i < f->nsides; i++) {
        const struct lh_model_side *s = &f->sides[i];
        sides[i] = FORMAT("%s\n%s\n%s\n%s", lock(e, s->holds),
                          place(e, s->holds_stack), lock(e, s->wants),
                          place(e, s->wants_stack));
    }
    if (f->nsides)
        qsort(sides, f->nsides, sizeof *sides, compare);
    uint64_t h = mix_text(0, f->kind);
    for (size_t i = 0; i < f->nsides; i++)
        h = mix_text(h, sides[i]);
    if (f->nsides)
        return h;
    h = mix_text(mix_text(h, lock(e, f->lock)), lock(e, f->other));
    return mix_text(mix_text(h, f->detail), place(e, f->stack));
}

const char *lh_fingerprint(struct lh_fingerprint *f, const struct lh_explain *e)
{
    uint64_t h = hash(e);
    uintptr_t n = (uintptr_t)lh_idmap_get(&f->counts, h) + 1;
    lh_idmap_put(&f->counts, h, (void *)n);
    return FORMAT("%016llx:%llu", (unsigned long long)h, (unsigned long long)n);
}

void lh_fingerprint_free(struct lh_fingerprint *f)
{
    lh_idmap_free(&f->counts);
}
