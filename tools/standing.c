/* SPDX-License-Identifier: MIT
 * standing.c - whether a finding counts. */
#include "standing.h"

#include "explain.h"
#include "findings.h"
#include "options.h"
#include "pool.h"
#include "suppress.h"

void lh_standing_begin(struct lh_standing *s, const struct lh_options *options,
                       struct lh_symbols *symbols)
{
    *s = (struct lh_standing){ .symbols = symbols };
    if (options->nsuppressions)
        s->suppress = lh_suppress_new();
    for (size_t i = 0; i < options->nsuppressions; i++)
        lh_suppress_read(s->suppress, options->suppressions[i]);
}

void lh_standing_judge(struct lh_standing *s, struct lh_findings_item *item)
{
    struct lh_pool pool = { 0 };
    struct lh_explain e;
    if (item->judged || !s->suppress)
        return;
    item->judged = true;
    lh_explain_begin(&e, &pool, s->symbols, &s->names, item->process,
                     item->finding);
    if (lh_suppress_match(s->suppress, &e))
        item->standing = LH_FINDINGS_SUPPRESSED;
    lh_pool_free(&pool);
}

void lh_standing_judge_all(struct lh_standing *s, struct lh_findings *findings)
{
    for (size_t i = 0; i < findings->n; i++)
        lh_standing_judge(s, findings->items[i]);
}

void lh_standing_end(struct lh_standing *s)
{
    if (s->suppress) {
        lh_suppress_say_unused(s->suppress);
        lh_suppress_free(s->suppress);
    }
    lh_naming_free(&s->names);
}
