/* SPDX-License-Identifier: MIT
 * naming.c - what the locks of a finding are called. */
#include "naming.h"

#include <string.h>

#include "explain.h"
#include "heapname.h"
#include "idmap.h"
#include "lockwords.h"
#include "model.h"
#include "place.h"
#include "pool.h"
#include "style.h"
#include "symbols.h"
#include "trace.h"

#define FORMAT(...) lh_pool_format(e->pool, __VA_ARGS__)

static const struct lh_symbols_data *static_data(const struct lh_explain *e,
                                                 const struct lh_model_lock *l)
{
    const struct lh_model_module *m =
        lh_model_module(e->process, l->where.module);
    struct lh_symbols_data *data = lh_pool_alloc(e->pool, sizeof *data);
    *data = (struct lh_symbols_data){ "", "", "", "", 0 };
    if (m)
        *data =
            lh_symbols_data(lh_symbols_open(e->symbols, m), l->where.offset);
    return data;
}

static const char *module_name(const struct lh_explain *e, uint64_t id)
{
    const struct lh_model_module *m = lh_model_module(e->process, id);
    return m ? lh_explain_clean(e, lh_place_base(m->path))
             : "an unknown module";
}

/* "stdout", for the C library's own name of it or of a part of it; or NULL. */
static const char *stream_name(const char *symbol)
{
    static const char *const names[] = { "stdin", "stdout", "stderr" };
    static const char prefix[] = "_IO_2_1_";
    if (strncmp(symbol, prefix, sizeof prefix - 1) != 0)
        return NULL;
    symbol += sizeof prefix - 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(symbol, names[i], strlen(names[i])) == 0 &&
            symbol[strlen(names[i])] == '_')
            return names[i];
    return NULL;
}

/* What the symbol stands for: a stream, the variable that a guard is of. */
static const char *people_name(const char *symbol)
{
    static const char guard[] = "guard variable for ";
    const char *stream = stream_name(symbol);
    if (stream)
        return stream;
    return strncmp(symbol, guard, sizeof guard - 1) == 0
               ? symbol + sizeof guard - 1
               : symbol;
}

static const char *static_name(const struct lh_explain *e,
                               const struct lh_model_lock *l)
{
    const struct lh_symbols_data *data = static_data(e, l);
    if (*data->name)
        return lh_explain_clean(e, people_name(data->name));
    return FORMAT("%s+0x%llx", module_name(e, l->where.module),
                  (unsigned long long)l->where.offset);
}

static const char *label(const struct lh_explain *e,
                         const struct lh_model_lock *l)
{
    return lh_explain_clean(e, lh_lockwords_of(l->kind).label);
}

/* "mutex@bank.c:31" */
static const char *born_name(const struct lh_explain *e,
                             const struct lh_model_lock *l)
{
    const char *birth = lh_explain_top(e, l->init ? l->init : l->first);
    if (*birth)
        return FORMAT("%s@%s", label(e, l), birth);
    return FORMAT("%s at 0x%llx", label(e, l), (unsigned long long)l->address);
}

/* A name that others may have too. */
static const char *plain_name(const struct lh_explain *e, uint64_t id)
{
    const struct lh_model_lock *l = lh_model_lock(e->process, id);
    if (!l)
        return "unknown lock";
    if (*l->name)
        return lh_explain_clean(e, l->name);
    if (*lh_lockwords_of(l->kind).name)
        return lh_lockwords_of(l->kind).name;
    if (l->is_static)
        return static_name(e, l);
    const char *member = lh_explain_clean(e, lh_heapname_of(e, l).name);
    if (*member && (l->init || l->first))
        return member;
    return *member
               ? FORMAT("%s at 0x%llx", member, (unsigned long long)l->address)
               : born_name(e, l);
}

struct named {
    uint64_t lock;
    char *plain, *name;
    bool shown; /* so the name stays */
};

static uint64_t lock_key(const struct lh_explain *e, uint64_t lock)
{
    return lh_idmap_mix((uintptr_t)e->process, lock);
}

static uint64_t text_key(const struct lh_explain *e, const char *text)
{
    uint64_t key = (uintptr_t)e->process;
    for (; *text; text++)
        key = lh_idmap_mix(key, (unsigned char)*text);
    return key;
}

static void add_number(struct lh_naming *names, struct named *n)
{
    n->name = lh_pool_format(&names->pool, "%s #%llu", n->plain,
                             (unsigned long long)n->lock);
}

/* Numbers this lock and, if its name was not shown yet, the first that has the
 * same. */
void lh_naming_add(const struct lh_explain *e, uint64_t lock)
{
    struct lh_naming *names = e->names;
    if (!lock || lh_idmap_get(&names->by_lock, lock_key(e, lock)))
        return;
    struct named *n = lh_pool_alloc(&names->pool, sizeof *n);
    n->lock = lock;
    n->plain = n->name = lh_pool_copy(&names->pool, plain_name(e, lock));
    lh_idmap_put(&names->by_lock, lock_key(e, lock), n);
    struct named *same = lh_idmap_get(&names->by_text, text_key(e, n->plain));
    if (!same)
        lh_idmap_put(&names->by_text, text_key(e, n->plain), n);
    else if (!same->shown)
        add_number(names, same);
    const struct lh_model_lock *l = lh_model_lock(e->process, lock);
    if (same || (l && !*l->name && lh_model_has_siblings(e->process, l)))
        add_number(names, n);
}

void lh_naming_free(struct lh_naming *names)
{
    lh_idmap_free(&names->by_lock);
    lh_idmap_free(&names->by_text);
    lh_heapname_free(&names->heap);
    lh_pool_free(&names->pool);
    *names = (struct lh_naming){ 0 };
}

const char *lh_naming_born(const struct lh_explain *e, uint64_t lock)
{
    const struct lh_model_lock *l = lh_model_lock(e->process, lock);
    return l && *lh_heapname_of(e, l).name && !*l->name ? born_name(e, l) : "";
}

const char *lh_naming_lock(const struct lh_explain *e, uint64_t lock)
{
    struct named *n = lh_idmap_get(&e->names->by_lock, lock_key(e, lock));
    if (!n)
        return LH_STYLE_LOCK "unknown lock" LH_STYLE_END;
    n->shown = true;
    return FORMAT(LH_STYLE_LOCK "%s" LH_STYLE_END, n->name);
}

static const char *static_origin(const struct lh_explain *e,
                                 const struct lh_model_lock *l)
{
    const struct lh_symbols_data *data = static_data(e, l);
    const char *symbol = *l->name && *data->name
                             ? FORMAT(" %s", lh_explain_clean(e, data->name))
                             : "";
    const char *function =
        *data->function ? FORMAT(" in %s", lh_explain_clean(e, data->function))
                        : "";
    if (!*data->file || stream_name(data->name))
        return FORMAT("static%s in %s", symbol,
                      module_name(e, l->where.module));
    return FORMAT(
        "static%s, declared at %s%s", symbol,
        lh_explain_clean(
            e, lh_place_short(e->pool, data->file, data->built_in, data->line)),
        function);
}

static const char *born_at(const struct lh_explain *e, const char *what,
                           uint64_t stack)
{
    struct lh_trace t = lh_explain_stack(e, stack);
    if (!t.n)
        return FORMAT("%s at an unknown place", what);
    const char *where =
        lh_explain_clean(e, lh_trace_where(e->pool, &t.lines[0]));
    if (!*t.lines[0].file || !*t.lines[0].function)
        return FORMAT("%s at %s", what, where);
    return FORMAT("%s at %s in %s", what, where,
                  lh_explain_clean(e, t.lines[0].function));
}

/* " as s->lock", where the name does not say so itself. */
static const char *written_as(const struct lh_explain *e,
                              const struct lh_model_lock *l)
{
    struct lh_heapname name = lh_heapname_of(e, l);
    size_t n = strlen(name.name), m = strlen(name.written);
    if (!m || (m <= n && strcmp(name.name + n - m, name.written) == 0))
        return "";
    return FORMAT(" as %s", lh_explain_clean(e, name.written));
}

const char *lh_naming_origin(const struct lh_explain *e, uint64_t lock)
{
    const struct lh_model_lock *l = lh_model_lock(e->process, lock);
    if (!l)
        return "its record is missing";
    struct lh_lockwords words = lh_lockwords_of(l->kind);
    const char *adjective, *clause;
    lh_lockwords_subtype(l, &adjective, &clause);
    const char *kind =
        lh_explain_clean(e, FORMAT("%s%s%s%s", adjective, *adjective ? " " : "",
                                   words.noun, clause));
    if (l->is_shared)
        kind = FORMAT("%s in shared memory", kind);
    if (*words.name)
        return FORMAT("%s, %s", kind, words.about);
    if (*words.about)
        kind = FORMAT("%s, %s", kind, words.about);
    if (l->is_static)
        return FORMAT("%s, %s", kind, static_origin(e, l));
    if (l->init)
        return FORMAT("%s, %s%s", kind, born_at(e, "initialized", l->init),
                      written_as(e, l));
    if (l->first)
        return FORMAT("%s, %s%s", kind, born_at(e, "first seen", l->first),
                      written_as(e, l));
    return FORMAT("%s at 0x%llx", kind, (unsigned long long)l->address);
}

/* "accounts[0].lock" and "accounts[1].lock" differ in indices only. */
static bool same_but_indices(const char *a, const char *b)
{
    while (*a && *a == *b) {
        if (*a == '[') {
            a += strcspn(a, "]");
            b += strcspn(b, "]");
            continue;
        }
        a++;
        b++;
    }
    return *a == *b;
}

/* Locks that were born at one place: elements of an array, or initialized by
 * one line. */
bool lh_naming_alike(const struct lh_explain *e, uint64_t one, uint64_t other)
{
    const struct lh_model_lock *a = lh_model_lock(e->process, one);
    const struct lh_model_lock *b = lh_model_lock(e->process, other);
    if (!a || !b || a->is_static != b->is_static)
        return false;
    if (a->is_static) {
        const char *name = static_data(e, a)->name;
        return strchr(name, '[') &&
               same_but_indices(name, static_data(e, b)->name);
    }
    uint64_t born = a->init ? a->init : a->first;
    return born && born == (b->init ? b->init : b->first);
}

bool lh_naming_same_member(const struct lh_explain *e, uint64_t one,
                           uint64_t other)
{
    const struct lh_model_lock *a = lh_model_lock(e->process, one);
    const struct lh_model_lock *b = lh_model_lock(e->process, other);
    if (!a || !b || !a->is_static || !b->is_static)
        return false;
    const char *x = strchr(static_data(e, a)->name, '.');
    const char *y = strchr(static_data(e, b)->name, '.');
    return x && y && strcmp(x, y) == 0;
}
