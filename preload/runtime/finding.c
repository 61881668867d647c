/* SPDX-License-Identifier: MIT
 * finding.c - one thing to tell the user. */
#include "runtime/finding.h"

#include "runtime/arena.h"

struct lh_finding *lh_finding_new(size_t nsides, size_t nreasons)
{
    size_t sides_bytes = nsides * sizeof(struct lh_finding_side);
    size_t size_bytes = sizeof(struct lh_finding) + sides_bytes +
                        nreasons * sizeof(struct lh_finding_reason);
    struct lh_finding *f = lh_arena_resize(NULL, NULL, 0, size_bytes);

    if (!f)
        return NULL;
    f->size_bytes = size_bytes;
    f->nsides = nsides;
    f->nreasons = nreasons;
    f->sides = (struct lh_finding_side *)(f + 1);
    f->reasons = (struct lh_finding_reason *)(f->sides + nsides);
    return f;
}

void lh_finding_free(struct lh_finding *finding)
{
    lh_arena_resize(NULL, finding, finding->size_bytes, 0);
}
