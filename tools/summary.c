/* SPDX-License-Identifier: MIT
 * summary.c - what was found in all. */
#include "summary.h"

#include <string.h>

#include "diag.h"
#include "findings.h"
#include "idmap.h"
#include "model.h"
#include "pool.h"

static const struct {
    const char *kind, *one, *many;
    int status;
} known[] = {
    { "LH001", "possible deadlock", "possible deadlocks", LH_SUMMARY_POSSIBLE },
    { "LH002", "deadlock", "deadlocks", LH_SUMMARY_HAPPENED },
    { "LH003", "self-deadlock", "self-deadlocks", LH_SUMMARY_HAPPENED },
    { "LH004", "endless wait", "endless waits", LH_SUMMARY_HAPPENED },
    { "LH016", "failed assertion", "failed assertions", LH_SUMMARY_POSSIBLE },
    { "LH020", "deadlock after fork", "deadlocks after fork",
      LH_SUMMARY_HAPPENED },
    { "", "other finding", "other findings", LH_SUMMARY_POSSIBLE },
};

/* Index in the table; its last row stands for all others. */
static size_t row_of(const char *kind)
{
    size_t row = 0;
    while (*known[row].kind && strcmp(known[row].kind, kind) != 0)
        row++;
    return row;
}

static struct lh_summary_kind *entry(struct lh_summary *s, const char *kind)
{
    for (size_t i = 0; i < s->nkinds; i++)
        if (strcmp(s->kinds[i].kind, kind) == 0)
            return &s->kinds[i];
    if (s->nkinds == LH_SUMMARY_KINDS)
        return &s->kinds[LH_SUMMARY_KINDS - 1];
    s->kinds[s->nkinds].kind = kind;
    return &s->kinds[s->nkinds++];
}

static void count_finding(struct lh_summary *s,
                          const struct lh_model_finding *f)
{
    struct lh_summary_kind *kind = entry(s, f->kind);
    if (f->grade == LH_MODEL_CONDITIONAL) {
        kind->conditional++;
        s->conditional++;
        return;
    }
    kind->counting++;
    s->counting++;
    int status = f->grade == LH_MODEL_HAPPENED ? LH_SUMMARY_HAPPENED
                                               : known[row_of(f->kind)].status;
    if (status > s->status)
        s->status = status;
}

void lh_summary_count(struct lh_summary *s, const struct lh_findings *findings,
                      struct lh_model_process *const *processes, size_t n)
{
    struct lh_idmap pids = { 0 };
    *s = (struct lh_summary){ 0 };
    for (size_t i = 0; i < findings->n; i++)
        count_finding(s, findings->items[i]->finding);
    for (size_t i = 0; i < n; i++) {
        if (!processes[i]->started)
            continue;
        struct lh_model_totals t = lh_model_totals(processes[i]);
        s->locks += t.locks;
        s->threads += t.threads;
        s->orders += t.orders;
        /* A process that executed another program has a file for each. */
        lh_idmap_put(&pids, processes[i]->pid, processes[i]);
    }
    s->processes = pids.n;
    lh_idmap_free(&pids);
}

static const char *plural(struct lh_pool *pool, uint64_t n, const char *one,
                          const char *many)
{
    return lh_pool_format(pool, "%llu %s", (unsigned long long)n,
                          n == 1 ? one : many);
}

static const char *findings_words(struct lh_pool *pool,
                                  const struct lh_summary *s)
{
    const char *text = "";
    for (size_t i = 0; i < s->nkinds; i++) {
        size_t row = row_of(s->kinds[i].kind);
        if (!s->kinds[i].counting)
            continue;
        text = lh_pool_format(
            pool, "%s%s%s (%s)", text, *text ? ", " : "",
            plural(pool, s->kinds[i].counting, known[row].one, known[row].many),
            s->kinds[i].kind);
    }
    return *text ? text : "no findings";
}

const char *lh_summary_line(struct lh_pool *pool, const struct lh_summary *s,
                            bool all)
{
    const char *conditional = "";
    if (s->conditional)
        conditional =
            lh_pool_format(pool, ", %zu conditional%s", s->conditional,
                           all                   ? ""
                           : s->conditional == 1 ? " (--all shows it)"
                                                 : " (--all shows them)");
    return lh_pool_format(pool, "%s%s; %s, %s, %s, %s", findings_words(pool, s),
                          conditional, plural(pool, s->locks, "lock", "locks"),
                          plural(pool, s->threads, "thread", "threads"),
                          plural(pool, s->orders, "order", "orders"),
                          plural(pool, s->processes, "process", "processes"));
}

void lh_summary_notes(struct lh_model_process *const *processes, size_t n)
{
    struct lh_idmap said = { 0 };
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < processes[i]->nnotes; j++) {
            const struct lh_model_note *note = &processes[i]->notes[j];
            uint64_t key = 0;
            for (const char *c = note->text; *c; c++)
                key = lh_idmap_mix(key, (unsigned char)*c);
            if (!lh_idmap_get(&said, key))
                lh_diag_say("note: %s (%s, pid %llu)", note->text, note->code,
                            (unsigned long long)processes[i]->pid);
            lh_idmap_put(&said, key, processes[i]);
        }
    }
    lh_idmap_free(&said);
}
