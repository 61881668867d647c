/* SPDX-License-Identifier: MIT
 * fingerprint.c - what is the same of a finding in another build. */
#include "fingerprint.h"

#include "explain.h"
#include "idmap.h"
#include "lasting.h"
#include "pool.h"

/* A static has one name; of others their function of birth is told too, since
 * "mutex@net.c:*" may be any in that file. */
static uint64_t lock_key(const struct lh_explain *e, uint64_t id)
{
    const struct lh_model_lock *l = lh_model_lock(e->process, id);
    uint64_t key = id ? lh_idmap_text(lh_lasting_lock(e, id)) : 0;
    uint64_t birth = l && !l->is_static && !*l->name ? l->init : 0;
    if (birth)
        key = lh_idmap_mix(key, lh_idmap_text(lh_lasting_function(e, birth)));
    return key;
}

static uint64_t place_key(const struct lh_explain *e, uint64_t stack)
{
    const char *function = lh_lasting_function(e, stack);
    return lh_idmap_text(*function ? function : lh_explain_top(e, stack));
}

/* The sides are added up, so that a ring may begin anywhere. */
const char *lh_fingerprint(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    uint64_t sides = 0, h;
    for (size_t i = 0; i < f->nsides; i++) {
        const struct lh_model_side *s = &f->sides[i];
        h = lh_idmap_mix(lock_key(e, s->holds), lock_key(e, s->wants));
        h = lh_idmap_mix(h, place_key(e, s->holds_stack));
        sides += lh_idmap_mix(h, place_key(e, s->wants_stack));
    }
    h = lh_idmap_mix(lh_idmap_text(f->kind), sides);
    h = lh_idmap_mix(h, lock_key(e, f->lock));
    h = lh_idmap_mix(h, lock_key(e, f->other));
    h = lh_idmap_mix(h, lh_idmap_text(f->detail));
    if (f->stack)
        h = lh_idmap_mix(h, place_key(e, f->stack));
    return lh_pool_format(e->pool, "%016llx", (unsigned long long)h);
}
