/* SPDX-License-Identifier: MIT
 * summary.c - what was found in all. */
#include "summary.h"

#include <string.h>

#include "diag.h"
#include "findings.h"
#include "idmap.h"
#include "model.h"
#include "pool.h"
#include "style.h"

static const struct {
    const char *kind, *one, *many;
    int status;
} known[] = {
    { "LH001", "possible deadlock", "possible deadlocks", LH_SUMMARY_POSSIBLE },
    { "LH002", "deadlock", "deadlocks", LH_SUMMARY_HAPPENED },
    { "LH003", "self-deadlock", "self-deadlocks", LH_SUMMARY_HAPPENED },
    { "LH004", "endless wait", "endless waits", LH_SUMMARY_HAPPENED },
    { "LH005", "nested read", "nested reads", LH_SUMMARY_POSSIBLE },
    { "LH010", "release of a free lock", "releases of free locks",
      LH_SUMMARY_POSSIBLE },
    { "LH011", "release by another thread", "releases by other threads",
      LH_SUMMARY_POSSIBLE },
    { "LH012", "end of a held lock", "ends of held locks",
      LH_SUMMARY_POSSIBLE },
    { "LH013", "use after a lock's end", "uses after a lock's end",
      LH_SUMMARY_POSSIBLE },
    { "LH014", "initialization of a lock in use",
      "initializations of locks in use", LH_SUMMARY_POSSIBLE },
    { "LH015", "thread that ended holding", "threads that ended holding",
      LH_SUMMARY_POSSIBLE },
    { "LH016", "failed assertion", "failed assertions", LH_SUMMARY_POSSIBLE },
    { "LH017", "condition wait with a wrong lock",
      "condition waits with wrong locks", LH_SUMMARY_POSSIBLE },
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
                          const struct lh_findings_item *item)
{
    const struct lh_model_finding *f = item->finding;
    if (item->standing == LH_FINDINGS_SUPPRESSED) {
        s->suppressed++;
        return;
    }
    if (item->standing == LH_FINDINGS_KNOWN) {
        s->known++;
        return;
    }
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

static bool was_turned_off(const struct lh_model_process *p)
{
    for (size_t i = 0; i < p->nnotes; i++)
        if (strcmp(p->notes[i].code, "off") == 0)
            return true;
    return false;
}

/* A process that executed another program has a file for each, side by side;
 * elsewhere its number is that of another one. */
static uint64_t process_key(const struct lh_model_process *p)
{
    const char *slash = strrchr(p->file, '/');
    size_t n = slash ? (size_t)(slash - p->file) : 0;
    uint64_t key = p->pid;
    for (size_t i = 0; i < n; i++)
        key = lh_idmap_mix(key, (unsigned char)p->file[i]);
    return key;
}

void lh_summary_count(struct lh_summary *s, const struct lh_findings *findings,
                      struct lh_model_process *const *processes, size_t n)
{
    struct lh_idmap pids = { 0 };
    *s = (struct lh_summary){ 0 };
    for (size_t i = 0; i < findings->n; i++)
        count_finding(s, findings->items[i]);
    for (size_t i = 0; i < n; i++) {
        if (!processes[i]->started)
            continue;
        s->unwatched += was_turned_off(processes[i]);
        s->unended += !processes[i]->ended;
        struct lh_model_totals t = lh_model_totals(processes[i]);
        s->locks += t.locks;
        s->threads += t.threads;
        s->orders += t.orders;
        lh_idmap_put(&pids, process_key(processes[i]), processes[i]);
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

static const char *conditional_words(struct lh_pool *pool,
                                     const struct lh_summary *s, bool all)
{
    if (!s->conditional)
        return "";
    return lh_pool_format(pool, ", %zu conditional%s", s->conditional,
                          all                   ? ""
                          : s->conditional == 1 ? " (--all shows it)"
                                                : " (--all shows them)");
}

static const char *left_out_words(struct lh_pool *pool,
                                  const struct lh_summary *s)
{
    const char *text = "";
    if (s->known)
        text = lh_pool_format(pool, ", %zu known", s->known);
    if (s->suppressed)
        text = lh_pool_format(pool, "%s, %zu suppressed", text, s->suppressed);
    return text;
}

/* Of a process that did not end by itself only the least numbers are known,
 * and 0 says nothing. */
static const char *count_words(struct lh_pool *pool, const struct lh_summary *s)
{
    const char *text = s->unended ? "at least " : "";
    if (s->locks)
        text = lh_pool_format(
            pool, "%s%s, ", text,
            plural(pool, s->locks, "nested lock", "nested locks"));
    if (s->threads)
        text = lh_pool_format(pool, "%s%s, ", text,
                              plural(pool, s->threads, "thread", "threads"));
    if (s->orders)
        text = lh_pool_format(pool, "%s%s, ", text,
                              plural(pool, s->orders, "order", "orders"));
    if (!s->locks && !s->threads && !s->orders)
        text = "";
    return lh_pool_format(pool, "%s%s", text,
                          plural(pool, s->processes, "process", "processes"));
}

/* What keeps "no findings" from meaning that all is well. */
static const char *reserve_words(struct lh_pool *pool,
                                 const struct lh_summary *s)
{
    if (s->unwatched)
        return lh_pool_format(
            pool, ", but %s could not be watched%s",
            plural(pool, s->unwatched, "process", "processes"),
            s->unwatched < s->processes || s->locks ? " to the end" : "");
    if (s->processes && !s->locks && !s->orders && !s->counting &&
        !s->conditional && !s->suppressed && !s->known && !s->unended)
        return ": no lock was taken while another was held";
    return "";
}

/* The last such separator that fits; NULL if none does. */
static char *last_fitting(char *line, char separator)
{
    char *at = NULL;
    for (char *c = line; *c && c - line < LH_STYLE_COLUMNS; c++)
        if (*c == separator && c[1] == ' ')
            at = c;
    return at;
}

/* Breaks a line that is too long after "; ", or else after ", ". */
static const char *fold(struct lh_pool *pool, const char *text)
{
    char *line = lh_pool_copy(pool, text);
    const char *result = "";
    while (lh_style_width(line) > LH_STYLE_COLUMNS) {
        char *at = last_fitting(line, ';');
        if (!at)
            at = last_fitting(line, ',');
        if (!at)
            break;
        result = lh_pool_format(pool, "%s%.*s\n", result, (int)(at + 1 - line),
                                line);
        line = lh_pool_format(pool, "  %s", at + 2);
    }
    return lh_pool_format(pool, "%s%s", result, line);
}

const char *lh_summary_text(struct lh_pool *pool, const struct lh_summary *s,
                            bool all, const char *dir)
{
    if (!s->processes && !s->unwatched)
        return "lockhound: nothing was watched";
    char *text = lh_pool_format(
        pool, "lockhound: %s%s%s%s; %s%s%s", findings_words(pool, s),
        conditional_words(pool, s, all), left_out_words(pool, s),
        reserve_words(pool, s), count_words(pool, s),
        dir ? "; records in " : "", dir ? dir : "");
    lh_style_clean(text);
    return fold(pool, text);
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
