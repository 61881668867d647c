/* SPDX-License-Identifier: MIT
 * orders.c - the orders of the locks as text: a line for each. */
#include "orders.h"

#include "content.h"
#include "explain.h"
#include "naming.h"
#include "ordergraph.h"
#include "pool.h"

static const char *name(struct lh_pool *pool, const struct lh_content *c,
                        const struct lh_ordergraph_lock *l)
{
    static const struct lh_model_finding none;
    struct lh_explain e;
    lh_explain_begin(&e, pool, c->symbols, c->names, l->process, &none);
    return lh_style_strip(lh_pool_copy(pool, lh_naming_lock(&e, l->lock)));
}

/* What a finding of several processes calls a lock may be another of its class
 * than the records of each do: these tell all orders. */
static void order(FILE *out, const struct lh_content *c,
                  const struct lh_ordergraph_order *o)
{
    struct lh_pool pool = { 0 };
    if (!o->nprocesses)
        return;
    fprintf(out, "%s then %s:", name(&pool, c, o->holds),
            name(&pool, c, o->wants));
    if (o->times)
        fprintf(out, " %llu time%s,", (unsigned long long)o->times,
                o->times == 1 ? "" : "s");
    fprintf(out, " in %zu of %zu process%s", o->nprocesses, c->nprocesses,
            c->nprocesses == 1 ? "" : "es");
    if (o->in.gravest)
        fprintf(out, ", %s", o->in.gravest->id);
    fputc('\n', out);
    lh_pool_free(&pool);
}

void lh_orders_report(FILE *out, const struct lh_content *content)
{
    struct lh_ordergraph g = { 0 };
    lh_ordergraph_make(&g, content);
    lh_ordergraph_name(&g, content);
    for (size_t i = 0; i < g.norders; i++)
        order(out, content, g.orders[i]);
    lh_ordergraph_free(&g);
}
