/* SPDX-License-Identifier: MIT
 * point.c - a finding as tools want it. */
#include "point.h"

#include <string.h>

#include "advise.h"
#include "explain.h"
#include "misuse.h"
#include "pool.h"

#define FORMAT(...) lh_pool_format(e->pool, __VA_ARGS__)

size_t lh_point_side(const struct lh_explain *e)
{
    int odd = lh_advise_odd(e);
    return odd > 0 ? (size_t)odd : 0;
}

uint64_t lh_point_stack(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    return f->nsides ? f->sides[lh_point_side(e)].wants_stack : f->stack;
}

/* Sentences have the kind after the words that say what it is, if any. */
const char *lh_point_headline(const struct lh_explain *e)
{
    const char *sentence = lh_explain_sentence(e);
    const char *kind = FORMAT(" %s", lh_explain_clean(e, e->finding->kind));
    const char *found = strstr(sentence, kind);
    if (!found)
        return sentence;
    return FORMAT("%s %.*s%s", kind + 1, (int)(found - sentence), sentence,
                  found + strlen(kind));
}

const char *lh_point_deed(const struct lh_explain *e, size_t side)
{
    const struct lh_model_side *s = &e->finding->sides[side];
    const char *thread = lh_explain_thread(e, s->thread);
    const char *top = lh_explain_top(e, s->holds_stack);
    if (lh_explain_is_queue_only(e, side))
        return FORMAT("%s %s", thread, lh_explain_holds(e, side));
    const char *since =
        *top ? FORMAT(", %s at %s,", lh_explain_since(e, side), top) : "";
    return FORMAT("%s %s%s and %s", thread, lh_explain_holds(e, side), since,
                  lh_explain_waits(e, side));
}

const char *lh_point_before(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    return FORMAT("%s %s",
                  lh_explain_thread(e, f->holder ? f->holder : f->thread),
                  lh_misuse_past(e));
}
