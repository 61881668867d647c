/* SPDX-License-Identifier: MIT
 * genrule.c - the rule that suppresses a finding. */
#include "genrule.h"

#include <string.h>

#include "explain.h"
#include "findings.h"
#include "lasting.h"
#include "pool.h"

enum { MAX_CONDITIONS = 16 };

/* In quotes where it must be. What was no good character is '?', as glob. */
static const char *value(const struct lh_explain *e, const char *text)
{
    char *copy = lh_pool_copy(e->pool, text);
    for (char *c = copy; (c = strchr(c, '"'));)
        *c = '?';
    if (!strchr(copy, ' '))
        return copy;
    return lh_pool_format(e->pool, "\"%s\"", copy);
}

/* Adds a condition that is not there yet. */
static void add(const struct lh_explain *e, const char **list, size_t *n,
                const char *key, const char *text)
{
    const char *condition =
        lh_pool_format(e->pool, "%s=%s", key, value(e, text));
    if (!*text || *n == MAX_CONDITIONS)
        return;
    for (size_t i = 0; i < *n; i++)
        if (strcmp(list[i], condition) == 0)
            return;
    list[(*n)++] = condition;
}

static void add_place(const struct lh_explain *e, const char **list, size_t *n,
                      uint64_t stack)
{
    const char *function = lh_lasting_function(e, stack);
    if (*function)
        add(e, list, n, "function", function);
    else
        add(e, list, n, "object", lh_lasting_object(e, stack));
}

const char *lh_genrule_text(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    const char *list[MAX_CONDITIONS];
    size_t n = 0, nlocks;
    const uint64_t *locks = lh_explain_locks(e, &nlocks);
    for (size_t i = 0; i < nlocks && i < MAX_CONDITIONS / 2; i++)
        add(e, list, &n, "lock", lh_lasting_lock(e, locks[i]));
    for (size_t i = 0; i < f->nsides; i++)
        add_place(e, list, &n, f->sides[i].wants_stack);
    if (f->stack)
        add_place(e, list, &n, f->stack);
    const char *text = lh_pool_format(e->pool, "%s:", f->kind);
    for (size_t i = 0; i < n; i++)
        text = lh_pool_format(e->pool, "%s %s", text, list[i]);
    return lh_explain_clean(e,
                            n ? text : lh_pool_format(e->pool, "%s *", text));
}

void lh_genrule_print(FILE *out, struct lh_symbols *symbols,
                      struct lh_naming *names,
                      const struct lh_findings_item *item)
{
    struct lh_pool pool = { 0 };
    struct lh_explain e;
    lh_explain_begin(&e, &pool, symbols, names, item->process, item->finding);
    fprintf(out, "\n%s  # why? (%s)\n", lh_genrule_text(&e), item->id);
    lh_pool_free(&pool);
}
