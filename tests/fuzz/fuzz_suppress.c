/* SPDX-License-Identifier: MIT
 * fuzz_suppress.c - files of rules, and findings judged by them. */
#include <stdbool.h>

#include "explain.h"
#include "findings.h"
#include "harness.h"
#include "pool.h"
#include "sample.h"
#include "suppress.h"

static void judge(struct lh_suppress *rules,
                  const struct lh_findings_item *item)
{
    struct lh_naming names = { 0 };
    struct lh_pool pool = { 0 };
    struct lh_explain e;
    lh_explain_begin(&e, &pool, fuzz_sample_symbols(), &names, item->process,
                     item->finding);
    lh_suppress_match(rules, &e);
    lh_naming_free(&names);
    lh_pool_free(&pool);
}

void fuzz_one(const uint8_t *data, size_t n)
{
    const struct lh_findings *findings = &fuzz_sample()->findings;
    struct lh_suppress *rules = lh_suppress_new();
    lh_suppress_read(rules, fuzz_file(0, data, n));
    for (size_t i = 0; i < findings->n; i++)
        judge(rules, findings->items[i]);
    lh_suppress_say_unused(rules);
    lh_suppress_free(rules);
}
