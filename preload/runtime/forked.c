/* SPDX-License-Identifier: MIT
 * forked.c - in a forked child: what other threads of the parent held. */
#include "runtime/forked.h"

#include <string.h>

#include "core/segments.h"
#include "runtime/arena.h"
#include "runtime/held.h"
#include "runtime/news.h"
#include "runtime/state.h"
#include "runtime/thread.h"

struct held {
    const void *lock;
    uint32_t stack;
    struct lh_finding_thread thread;
};

static struct held *held;
static size_t nheld, held_capacity;

static void add(void *ctx, struct lh_thread *t, const struct lh_slot *slot)
{
    void *array = held;

    (void)ctx;
    if (lh_arena_reserve(&array, &held_capacity, sizeof *held, nheld + 1) != 0)
        return;
    held = array;
    held[nheld] = (struct held){
        .lock = slot->lock,
        .stack = lh_holder_stack(slot),
        .thread = { .tid = t->tid, .start = (void *)t->start },
    };
    memcpy(held[nheld++].thread.name, t->name, sizeof t->name);
}

void lh_forked_take(const struct lh_thread *self)
{
    for (struct lh_thread *t = lh_thread_first(); t; t = t->next)
        if (t != self)
            lh_holder_each(t, add, NULL);
}

void lh_forked_introduce(void)
{
    int32_t last = 0;
    uint32_t number = 0;

    for (size_t i = 0; i < nheld; i++) {
        struct lh_finding_thread *thread = &held[i].thread;
        if (thread->tid != last &&
            lh_segments_add(lh_state.segments, 0, &number) != 0)
            number = 0;
        last = thread->tid;
        thread->number = number;
        if (number)
            lh_news_know(thread);
    }
}

bool lh_forked_find(const void *lock, int32_t tid, struct lh_holder *holder)
{
    for (size_t i = 0; i < nheld; i++) {
        if (held[i].lock != lock || (tid && held[i].thread.tid != tid))
            continue;
        *holder = (struct lh_holder){ held[i].thread.number, held[i].stack };
        return true;
    }
    return false;
}
