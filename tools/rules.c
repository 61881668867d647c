/* SPDX-License-Identifier: MIT
 * rules.c - advice on locks that are not taken by choice: those of the loader,
 * of initialization, of readers behind a writer. */
#include "rules.h"

#include <stddef.h>
#include <string.h>

#include "advise.h"
#include "explain.h"
#include "lockwords.h"
#include "model.h"
#include "naming.h"
#include "pool.h"

#define FORMAT(...) lh_pool_format(e->pool, __VA_ARGS__)

static const char *kind_of(const struct lh_explain *e, uint64_t lock)
{
    const struct lh_model_lock *l = lh_model_lock(e->process, lock);
    return l ? l->kind : "";
}

static bool is_loader(const struct lh_explain *e, uint64_t lock)
{
    return strncmp(kind_of(e, lock), "loader", 6) == 0;
}

static bool is_once(const struct lh_explain *e, uint64_t lock)
{
    return lh_lockwords_event(kind_of(e, lock));
}

/* The first side that holds, or wants, a lock of a kind; NULL if none does. */
static const struct lh_model_side *
side_with(const struct lh_explain *e, bool wants,
          bool (*is)(const struct lh_explain *, uint64_t))
{
    const struct lh_model_finding *f = e->finding;
    for (size_t i = 0; i < f->nsides; i++)
        if (is(e, wants ? f->sides[i].wants : f->sides[i].holds))
            return &f->sides[i];
    return NULL;
}

/* dlopen, dlsym and exceptions in one thread; constructors in another. */
static const char *loader_fix(const struct lh_explain *e,
                              const struct lh_model_side *inside,
                              const struct lh_model_side *outside)
{
    return FORMAT("do not wait for %s inside the loader, in %s (a constructor, "
                  "destructor or callback of it); or release %s before %s, "
                  "which calls the loader.",
                  lh_naming_lock(e, inside->wants),
                  lh_advise_site(e, inside->wants_stack),
                  lh_naming_lock(e, outside->holds),
                  lh_advise_site(e, outside->wants_stack));
}

static bool is_end(const struct lh_explain *e, uint64_t lock)
{
    return strcmp(kind_of(e, lock), "thread") == 0;
}

static const char *join_fix(const struct lh_explain *e,
                            const struct lh_model_side *joiner)
{
    return FORMAT("release %s before waiting for %s in %s.",
                  lh_naming_lock(e, joiner->holds),
                  lh_naming_lock(e, joiner->wants),
                  lh_advise_site(e, joiner->wants_stack));
}

static const char *once_fix(const struct lh_explain *e,
                            const struct lh_model_side *inside,
                            const struct lh_model_side *outside)
{
    return FORMAT("do not take %s in the initialization of %s, in %s; or "
                  "initialize that before %s is taken, rather than in %s.",
                  lh_naming_lock(e, inside->wants),
                  lh_naming_lock(e, inside->holds),
                  lh_advise_site(e, inside->wants_stack),
                  lh_naming_lock(e, outside->holds),
                  lh_advise_site(e, outside->wants_stack));
}

static const char *nested_read_fix(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    size_t reader = 0;
    while (reader + 1 < f->nsides && f->sides[reader].holds_queued)
        reader++;
    const struct lh_model_side *s = &f->sides[reader];
    return FORMAT("do not read-lock %s again in %s, where it is held already; "
                  "or make it a lock that prefers readers "
                  "(PTHREAD_RWLOCK_PREFER_READER_NP, the default).",
                  lh_naming_lock(e, s->wants),
                  lh_advise_site(e, s->wants_stack));
}

/* Whether all wait for one lock that they hold: readers that want to write. */
static bool is_upgrade(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    for (size_t i = 0; i < f->nsides; i++)
        if (f->sides[i].holds_queued ||
            f->sides[i].holds != f->sides[0].holds ||
            f->sides[i].wants != f->sides[i].holds)
            return false;
    return f->nsides > 0;
}

static const char *upgrade_fix(const struct lh_explain *e)
{
    const struct lh_model_side *s = &e->finding->sides[0];
    return FORMAT("release %s before asking to write in %s, and look again at "
                  "what was read; or ask for writing from the start.",
                  lh_naming_lock(e, s->wants),
                  lh_advise_site(e, s->wants_stack));
}

const char *lh_rules_fix(const struct lh_explain *e)
{
    const struct lh_model_side *inside, *outside;
    if (strcmp(e->finding->kind, "LH005") == 0)
        return nested_read_fix(e);
    if (is_upgrade(e))
        return upgrade_fix(e);
    outside = side_with(e, true, is_end);
    if (outside)
        return join_fix(e, outside);
    inside = side_with(e, false, is_loader);
    outside = side_with(e, true, is_loader);
    if (inside && outside)
        return loader_fix(e, inside, outside);
    inside = side_with(e, false, is_once);
    outside = side_with(e, true, is_once);
    return inside && outside ? once_fix(e, inside, outside) : "";
}
