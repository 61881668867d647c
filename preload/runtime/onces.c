/* SPDX-License-Identifier: MIT
 * onces.c - which onces a thread knows to be done. */
#include "runtime/onces.h"

#include <stdint.h>

#include "runtime/arena.h"
#include "runtime/guard.h"

enum { NPLACES = 512, NPROBES = 8 };

struct lh_onces {
    const void *known[NPLACES]; /* open addressing; NULL: free */
};

static struct lh_onces *make(struct lh_thread *t)
{
    struct lh_guard guard;

    lh_guard_enter(&guard);
    if (!t->onces)
        t->onces = lh_arena_resize(NULL, NULL, 0, sizeof *t->onces);
    lh_guard_leave(&guard);
    return t->onces;
}

bool lh_once_learn(struct lh_thread *t, const void *once)
{
    struct lh_onces *onces = t->onces ? t->onces : make(t);
    uint64_t h = (uintptr_t)once * UINT64_C(0x9e3779b97f4a7c15) >> 40;

    for (unsigned i = 0; onces && i < NPROBES; i++) {
        const void **place = &onces->known[(h + i) % NPLACES];
        if (*place == once)
            return false;
        if (!*place) {
            *place = once;
            return true;
        }
    }
    return false;
}

void lh_once_forget_all(struct lh_thread *t)
{
    if (t->onces)
        lh_arena_empty(t->onces, sizeof *t->onces);
}
