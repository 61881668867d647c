/* SPDX-License-Identifier: MIT
 * finding.c - one thing to tell the user. */
#include "runtime/finding.h"

#include "runtime/arena.h"

const char *lh_finding_word(enum lh_finding_kind kind)
{
    static const struct {
        enum lh_finding_kind kind;
        const char *word;
    } words[] = {
        { LH_RING, "LH001" },           { LH_DEADLOCK, "LH002" },
        { LH_ENDLESS, "LH004" },        { LH_SELF, "LH003" },
        { LH_NESTED_READ, "LH005" },    { LH_NOT_HELD, "LH010" },
        { LH_NOT_HOLDER, "LH011" },     { LH_ENDED_HELD, "LH012" },
        { LH_USED_ENDED, "LH013" },     { LH_INIT_IN_USE, "LH014" },
        { LH_THREAD_ENDED, "LH015" },   { LH_ASSERTION, "LH016" },
        { LH_CONDITION_LOCK, "LH017" },
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].kind == kind)
            return words[i].word;
    return "LH020";
}

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
