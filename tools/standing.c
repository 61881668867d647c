/* SPDX-License-Identifier: MIT
 * standing.c - whether a finding counts. */
#include "standing.h"

#include "explain.h"
#include "findings.h"
#include "known.h"
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
    if (!options->baseline)
        return;
    s->baseline = lh_known_new();
    lh_known_read(s->baseline, options->baseline);
}

static void explain(struct lh_standing *s, struct lh_explain *e,
                    struct lh_pool *pool, const struct lh_findings_item *item)
{
    lh_explain_begin(e, pool, s->symbols, &s->names, item->process,
                     item->finding);
}

void lh_standing_judge(struct lh_standing *s, struct lh_findings_item *item)
{
    struct lh_pool pool = { 0 };
    struct lh_explain e;
    if (item->judged || (!s->suppress && !s->baseline))
        return;
    item->judged = true;
    explain(s, &e, &pool, item);
    if (s->suppress && lh_suppress_match(s->suppress, &e))
        item->standing = LH_FINDINGS_SUPPRESSED;
    else if (s->baseline && lh_known_has(s->baseline, item,
                                         lh_fingerprint(&s->fingerprints, &e)))
        item->standing = LH_FINDINGS_KNOWN;
    lh_pool_free(&pool);
}

void lh_standing_judge_all(struct lh_standing *s, struct lh_findings *findings)
{
    for (size_t i = 0; i < findings->n; i++)
        lh_standing_judge(s, findings->items[i]);
}

void lh_standing_collect(struct lh_standing *s,
                         const struct lh_findings *findings,
                         struct lh_known *known)
{
    struct lh_fingerprint fingerprints = { { 0 } };
    for (size_t i = 0; i < findings->n; i++) {
        const struct lh_findings_item *item = findings->items[i];
        struct lh_pool pool = { 0 };
        struct lh_explain e;
        if (item->standing == LH_FINDINGS_SUPPRESSED)
            continue;
        explain(s, &e, &pool, item);
        lh_known_add(known, &e, item, lh_fingerprint(&fingerprints, &e));
        lh_pool_free(&pool);
    }
    lh_fingerprint_free(&fingerprints);
}

void lh_standing_compare(struct lh_standing *s, struct lh_findings *findings,
                         const struct lh_known *known)
{
    struct lh_fingerprint fingerprints = { { 0 } };
    for (size_t i = 0; i < findings->n; i++) {
        struct lh_findings_item *item = findings->items[i];
        struct lh_pool pool = { 0 };
        struct lh_explain e;
        if (item->standing == LH_FINDINGS_SUPPRESSED)
            continue;
        explain(s, &e, &pool, item);
        if (lh_known_has(known, item, lh_fingerprint(&fingerprints, &e)))
            item->standing = LH_FINDINGS_KNOWN;
        lh_pool_free(&pool);
    }
    lh_fingerprint_free(&fingerprints);
}

void lh_standing_say_unused(const struct lh_standing *s)
{
    if (s->suppress)
        lh_suppress_say_unused(s->suppress);
}

void lh_standing_end(struct lh_standing *s)
{
    if (s->suppress)
        lh_suppress_free(s->suppress);
    if (s->baseline)
        lh_known_free(s->baseline);
    lh_fingerprint_free(&s->fingerprints);
    lh_naming_free(&s->names);
}
