/* SPDX-License-Identifier: MIT
 * merged.c - a process made up of parts of others. */
#include "merged.h"

#include <string.h>

#include "findings.h"
#include "model.h"
#include "pool.h"

/* One ring while its parts are copied. */
struct copying {
    struct lh_merged *m;
    const struct lh_merged_thing *threads, *locks, *stacks;
};

void lh_merged_begin(struct lh_merged *m,
                     struct lh_model_process *const *processes)
{
    *m = (struct lh_merged){ .processes = processes };
    m->process = lh_model_new("several processes");
    m->process->started = true;
    m->process->is_merged = true;
}

void lh_merged_of_runs(struct lh_merged *m)
{
    m->process->is_of_runs = true;
}

static uint64_t key(size_t process, uint64_t id)
{
    return lh_idmap_mix(process + 1, id);
}

static uint64_t copy_module(struct lh_merged *m, size_t process, uint64_t id)
{
    struct lh_model_module *copy = lh_idmap_get(&m->modules, key(process, id));
    const struct lh_model_module *module =
        lh_model_module(m->processes[process], id);
    if (copy || !module)
        return copy ? copy->id : 0;
    copy = lh_pool_alloc(&m->process->pool, sizeof *copy);
    *copy = *module;
    copy->id = m->modules.n + 1;
    lh_idmap_put(&m->modules, key(process, id), copy);
    lh_idmap_put(&m->process->modules, copy->id, copy);
    return copy->id;
}

static struct lh_model_frame copy_frame(struct lh_merged *m, size_t process,
                                        struct lh_model_frame frame)
{
    if (frame.module)
        frame.module = copy_module(m, process, frame.module);
    return frame;
}

static uint64_t copy_stack(struct lh_merged *m, size_t process, uint64_t id)
{
    struct lh_model_stack *copy = lh_idmap_get(&m->stacks, key(process, id));
    const struct lh_model_stack *stack =
        lh_model_stack(m->processes[process], id);
    if (copy || !stack)
        return copy ? copy->id : 0;
    copy = lh_pool_alloc(&m->process->pool, sizeof *copy);
    *copy = *stack;
    copy->id = m->stacks.n + 1;
    struct lh_model_frame *frames =
        lh_pool_array(&m->process->pool, stack->nframes, sizeof *frames);
    for (size_t i = 0; i < stack->nframes; i++)
        frames[i] = copy_frame(m, process, stack->frames[i]);
    copy->frames = frames;
    lh_idmap_put(&m->stacks, key(process, id), copy);
    lh_idmap_put(&m->process->stacks, copy->id, copy);
    return copy->id;
}

/* Under its number: there are no two threads, or locks, of one. */
static uint64_t copy_thread(const struct copying *c, uint32_t number)
{
    struct lh_merged *m = c->m;
    const struct lh_merged_thing *from = &c->threads[number - 1];
    const struct lh_model_process *p = m->processes[from->process];
    const struct lh_model_thread *thread = lh_model_thread(p, from->id);
    if (lh_model_thread(m->process, number))
        return number;
    struct lh_model_thread *copy =
        lh_pool_alloc(&m->process->pool, sizeof *copy);
    *copy = (struct lh_model_thread){ .name = "" };
    if (thread)
        *copy = *thread;
    copy->id = number;
    copy->number = from->id;
    copy->pid = p->pid;
    copy->file = p->file;
    copy->creator = copy->joined_by = 0; /* they need not be there */
    copy->start = copy_frame(m, from->process, copy->start);
    lh_idmap_put(&m->process->threads, number, copy);
    return number;
}

static uint64_t copy_lock(const struct copying *c, lh_lock number)
{
    struct lh_merged *m = c->m;
    const struct lh_merged_thing *from = &c->locks[number - 1];
    const struct lh_model_lock *lock =
        lh_model_lock(m->processes[from->process], from->id);
    if (!lock || lh_model_lock(m->process, number))
        return number;
    struct lh_model_lock *copy = lh_pool_alloc(&m->process->pool, sizeof *copy);
    *copy = *lock;
    copy->id = number;
    copy->where = copy_frame(m, from->process, copy->where);
    copy->init = copy_stack(m, from->process, copy->init);
    copy->first = copy_stack(m, from->process, copy->first);
    lh_idmap_put(&m->process->locks, number, copy);
    lh_model_count_birth(m->process, copy);
    return number;
}

static uint64_t copy_numbered_stack(const struct copying *c, uint32_t number)
{
    const struct lh_merged_thing *from = &c->stacks[number - 1];
    return number ? copy_stack(c->m, from->process, from->id) : 0;
}

static void copy_side(const struct copying *c, const struct lh_side *from,
                      struct lh_model_side *side)
{
    *side = (struct lh_model_side){
        .thread = copy_thread(c, from->segment.thread),
        .holds = copy_lock(c, from->holds),
        .holds_stack = copy_numbered_stack(c, from->holds_stack),
        .holds_shared = from->holds_mode == LH_SHARED,
        .wants = copy_lock(c, from->wants),
        .wants_stack = copy_numbered_stack(c, from->wants_stack),
        .wants_shared = from->wants_mode == LH_SHARED,
        .wait = (enum lh_model_wait)from->wait,
    };
}

static void copy_reason(const struct copying *c, const struct lh_reason *from,
                        struct lh_model_reason *reason)
{
    static const struct {
        enum lh_model_reason_kind kind;
        const char *word;
    } kinds[] = {
        [LH_REASON_GATE] = { LH_MODEL_GATE, "gate" },
        [LH_REASON_ONE_THREAD] = { LH_MODEL_ONE_THREAD, "one-thread" },
        [LH_REASON_FEW_THREADS] = { LH_MODEL_FEW_THREADS, "few-threads" },
        [LH_REASON_ORDERED] = { LH_MODEL_ORDERED, "ordered" },
        [LH_REASON_TIMED] = { LH_MODEL_TIMED_WAIT, "timed" },
        [LH_REASON_TRIED] = { LH_MODEL_TRIED_ONLY, "tried" },
        /* Only runs.h doubts locks. */
        [LH_REASON_UNSEEN_END] = { LH_MODEL_SEVERAL, "several-locks" },
    };
    *reason = (struct lh_model_reason){ .kind = LH_MODEL_OTHER,
                                        .word = "another reason" };
    if (from->kind < sizeof kinds / sizeof *kinds) {
        reason->kind = kinds[from->kind].kind;
        reason->word = kinds[from->kind].word;
    }
    if (from->lock)
        reason->lock = copy_lock(c, from->lock);
    if (reason->kind == LH_MODEL_SEVERAL &&
        lh_findings_is_any_build(c->m->process, reason->lock)) {
        reason->kind = LH_MODEL_NO_BUILD;
        reason->word = "no-build-id";
    }
    if (from->thread)
        reason->thread = copy_thread(c, from->thread);
    reason->threads = from->count;
    reason->sides[0] = from->a;
    reason->sides[1] = from->b;
    if (from->kind == LH_REASON_GATE) {
        reason->stacks[0] = copy_numbered_stack(c, from->stack_a);
        reason->stacks[1] = copy_numbered_stack(c, from->stack_b);
    }
}

void lh_merged_ring(struct lh_merged *m, const struct lh_ring *ring,
                    const struct lh_merged_thing *threads,
                    const struct lh_merged_thing *locks,
                    const struct lh_merged_thing *stacks)
{
    static const enum lh_model_grade grades[] = {
        [LH_CONDITIONAL] = LH_MODEL_CONDITIONAL,
        [LH_POSSIBLE] = LH_MODEL_POSSIBLE,
        [LH_HAPPENED] = LH_MODEL_HAPPENED,
    };
    struct copying c = { m, threads, locks, stacks };
    struct lh_model_process *p = m->process;
    struct lh_model_side *sides =
        lh_pool_array(&p->pool, ring->nsides, sizeof *sides);
    struct lh_model_reason *reasons =
        lh_pool_array(&p->pool, ring->nreasons, sizeof *reasons);
    for (size_t i = 0; i < ring->nsides; i++)
        copy_side(&c, &ring->sides[i], &sides[i]);
    for (size_t i = 0; i < ring->nreasons; i++)
        copy_reason(&c, &ring->reasons[i], &reasons[i]);
    struct lh_model_finding *f = lh_idmap_get(&m->by_ring, ring->id);
    if (!f) {
        f = lh_model_add_finding(p);
        lh_idmap_put(&m->by_ring, ring->id, f);
    }
    *f = (struct lh_model_finding){ .id = ring->id,
                                    .kind = "LH001",
                                    .grade = grades[ring->grade],
                                    .nsides = ring->nsides,
                                    .sides = sides,
                                    .nreasons = ring->nreasons,
                                    .reasons = reasons,
                                    .detail = "" };
    lh_model_rotate(p, f);
}

/* Whether a process that has one of the sides has found the same in itself. */
static bool is_left(const struct lh_model_process *p,
                    const struct lh_model_finding *f,
                    const struct lh_findings *findings)
{
    const struct lh_findings_item *item = lh_findings_equal(findings, p, f);
    for (size_t i = 0; item && i < item->nparts; i++)
        for (size_t j = 0; j < f->nsides; j++)
            if (lh_model_thread(p, f->sides[j].thread)->file ==
                item->parts[i].process->file)
                return true;
    return false;
}

struct lh_model_process *lh_merged_end(struct lh_merged *m,
                                       struct lh_findings *findings)
{
    struct lh_model_process *p = m->process;
    for (size_t i = 0; i < p->nfindings; i++)
        if (!p->is_of_runs || !is_left(p, p->findings[i], findings))
            lh_findings_add(findings, p, p->findings[i]);
    lh_idmap_free(&m->modules);
    lh_idmap_free(&m->stacks);
    lh_idmap_free(&m->by_ring);
    if (p->nfindings)
        return p;
    lh_model_free(p);
    return NULL;
}
