/* SPDX-License-Identifier: MIT
 * json.c - a report as JSON. */
#include "json.h"

#include <jansson.h>
#include <stdint.h>
#include <string.h>

#include "advise.h"
#include "content.h"
#include "explain.h"
#include "findings.h"
#include "genrule.h"
#include "jsontext.h"
#include "lockwords.h"
#include "model.h"
#include "naming.h"
#include "pool.h"
#include "progress.h"
#include "style.h"
#include "summary.h"
#include "witness.h"

/* Names out of a binary need not be UTF-8, which JSON has to be. */
json_t *lh_json_string(struct lh_pool *pool, const char *text)
{
    json_t *value = lh_style_is_plain(text) ? json_string(text) : NULL;
    if (value)
        return value;
    char *copy = lh_style_strip(lh_pool_copy(pool, text));
    value = json_string(copy);
    if (value)
        return value;
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    return json_string(copy);
}

static json_t *number(uint64_t n)
{
    return json_integer((json_int_t)(n & INT64_MAX));
}

/* The keys are ours. */
static void set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new_nocheck(object, key, value);
}

static void set_text(const struct lh_explain *e, json_t *object,
                     const char *key, const char *text)
{
    if (*text)
        set(object, key, lh_json_string(e->pool, text));
}

static json_t *hexadecimal(uint64_t n)
{
    char text[32];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)n);
    return json_string_nocheck(text);
}

static json_t *line_object(const struct lh_explain *e,
                           const struct lh_trace_line *line)
{
    json_t *o = json_object();
    set_text(e, o, "function", line->function);
    set_text(e, o, "file", line->file);
    if (line->line > 0)
        set(o, "line", json_integer(line->line));
    set_text(e, o, "module", line->module);
    set(o, "offset", hexadecimal(line->offset));
    set(o, "inlined", json_boolean(line->inlined));
    if (line->hidden)
        set(o, "hidden", json_true());
    return o;
}

/* The whole stack, with what the text report hides. */
json_t *lh_json_stack(const struct lh_explain *e, uint64_t stack)
{
    struct lh_trace t = lh_trace_read(e->pool, e->symbols, e->process, stack);
    json_t *list = json_array();
    for (size_t i = 0; i < t.n; i++)
        json_array_append_new(list, line_object(e, &t.lines[i]));
    return list;
}

static void set_stack(struct lh_explain *e, json_t *object, const char *key,
                      uint64_t stack)
{
    const struct lh_model_stack *s = lh_model_stack(e->process, stack);
    set(object, key, lh_json_stack(e, stack));
    if (s && s->partial)
        set(object, "partial", json_true());
    if (s && s->truncated)
        set(object, "truncated", json_true());
}

/* Where locks like this one are born: equal for locks of one class, in other
 * runs of the same program too. */
static json_t *class_object(struct lh_explain *e, const struct lh_model_lock *l)
{
    const struct lh_model_stack *s =
        lh_model_stack(e->process, l->init ? l->init : l->first);
    struct lh_model_frame frame = { 0, 0 };
    json_t *o = json_object();
    if (l->is_static)
        frame = l->where;
    else if (s && s->nframes)
        frame = s->frames[0];
    const struct lh_model_module *m = lh_model_module(e->process, frame.module);
    set(o, "born",
        json_string(l->is_static ? "static"
                    : l->init    ? "initialized"
                    : l->first   ? "first-seen"
                                 : "unknown"));
    if (m) {
        set(o, "module", lh_json_string(e->pool, m->path));
        set_text(e, o, "build_id", m->build_id);
        set(o, "offset", hexadecimal(frame.offset));
    }
    return o;
}

static json_t *lock_object(struct lh_explain *e, uint64_t id)
{
    const struct lh_model_lock *l = lh_model_lock(e->process, id);
    json_t *o = json_object();
    set(o, "id", number(id));
    set(o, "name", lh_json_string(e->pool, lh_naming_lock(e, id)));
    if (!l)
        return o;
    set(o, "kind", lh_json_string(e->pool, l->kind));
    set_text(e, o, "subtype", l->subtype);
    set(o, "address", hexadecimal(l->address));
    set(o, "class", class_object(e, l));
    set(o, "origin", lh_json_string(e->pool, lh_naming_origin(e, id)));
    if (l->is_shared)
        set(o, "object",
            json_pack("[I, I, I]", (json_int_t)l->device, (json_int_t)l->inode,
                      (json_int_t)l->offset));
    if (l->has_rank)
        set(o, "rank", json_integer(l->rank));
    if (l->init || l->first)
        set(o, "stack", lh_json_stack(e, l->init ? l->init : l->first));
    return o;
}

static bool is_event(const struct lh_explain *e, uint64_t id)
{
    const struct lh_model_lock *l = lh_model_lock(e->process, id);
    return l && lh_lockwords_event(l->kind);
}

static json_t *locks_array(struct lh_explain *e, bool events)
{
    size_t n;
    const uint64_t *locks = lh_explain_locks(e, &n);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        if (is_event(e, locks[i]) == events)
            json_array_append_new(list, lock_object(e, locks[i]));
    return list;
}

static json_t *thread_object(struct lh_explain *e, uint64_t id)
{
    const struct lh_model_thread *t = lh_model_thread(e->process, id);
    json_t *o = json_object();
    set(o, "id", number(t && t->pid ? t->number : id));
    if (!t)
        return o;
    set(o, "tid", number(t->tid));
    if (t->pid)
        set(o, "process", number(t->pid));
    if (t->file && e->process->is_of_runs)
        set_text(e, o, "records", t->file);
    set_text(e, o, "name", t->name);
    set_text(e, o, "start", lh_explain_thread_start(e, id));
    return o;
}

static json_t *acquisition(struct lh_explain *e, uint64_t lock, bool shared,
                           uint64_t stack)
{
    json_t *o = json_object();
    set(o, "lock", number(lock));
    set(o, "name", lh_json_string(e->pool, lh_naming_lock(e, lock)));
    set(o, "mode", json_string(shared ? "shared" : "exclusive"));
    set_stack(e, o, "stack", stack);
    return o;
}

static json_t *witness_object(struct lh_explain *ring,
                              const struct lh_witness *w)
{
    struct lh_explain e = *ring;
    json_t *o = json_object();
    e.process = w->process;
    e.finding = w->finding;
    if (w->process != ring->process)
        set(o, "process", number(w->process->pid));
    set(o, "thread", thread_object(&e, w->thread));
    set(o, "holds_stack", lh_json_stack(&e, w->holds_stack));
    set(o, "wants_stack", lh_json_stack(&e, w->wants_stack));
    set(o, "times", number(w->seen.times));
    set(o, "threads", number(w->seen.threads));
    return o;
}

static json_t *witnesses_array(struct lh_explain *e,
                               const struct lh_findings_item *item, size_t side)
{
    size_t n;
    const struct lh_witness *list = lh_witness_list(e->pool, item, side, &n);
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, witness_object(e, &list[i]));
    return array;
}

static json_t *side_object(struct lh_explain *e,
                           const struct lh_findings_item *item, size_t i)
{
    static const char *const waits[] = { "block", "timed", "condition",
                                         "tried" };
    const struct lh_model_side *s = &e->finding->sides[i];
    struct lh_model_seen seen = lh_model_seen(e->process, s);
    json_t *o = json_object();
    json_t *wants = acquisition(e, s->wants, s->wants_shared, s->wants_stack);
    set(wants, "wait", json_string(waits[s->wait]));
    set(o, "thread", thread_object(e, s->thread));
    json_t *holds = acquisition(e, s->holds, s->holds_shared, s->holds_stack);
    if (s->holds_queued)
        set(holds, "mode", json_string("queued"));
    set(o, "holds", holds);
    set(o, "wants", wants);
    if (s->waited_ms)
        set(o, "waited_ms", number(s->waited_ms));
    set(o, "times", number(seen.times));
    set(o, "threads", number(seen.threads));
    set(o, "witnesses", witnesses_array(e, item, i));
    set(o, "odd", json_boolean(lh_advise_odd(e) == (int)i));
    return o;
}

static json_t *reason_object(struct lh_explain *e,
                             const struct lh_model_reason *r)
{
    json_t *o = json_object();
    set(o, "reason", lh_json_string(e->pool, r->word));
    set(o, "text", lh_json_string(e->pool, lh_advise_reason(e, r)));
    if (r->kind == LH_MODEL_GATE) {
        set(o, "lock", lock_object(e, r->lock));
        set(o, "stacks",
            json_pack("[o, o]", lh_json_stack(e, r->stacks[0]),
                      lh_json_stack(e, r->stacks[1])));
    }
    if ((r->kind == LH_MODEL_UNSEEN_END || r->kind == LH_MODEL_SEVERAL ||
         r->kind == LH_MODEL_NO_BUILD) &&
        r->lock)
        set(o, "lock", lock_object(e, r->lock));
    if (r->kind == LH_MODEL_ONE_THREAD)
        set(o, "thread", number(r->thread));
    if (r->kind == LH_MODEL_FEW_THREADS)
        set(o, "threads", number(r->threads));
    if (r->kind == LH_MODEL_TIMED_WAIT || r->kind == LH_MODEL_TRIED_ONLY)
        set(o, "sides", json_pack("[i]", (int)r->sides[0]));
    if (r->kind == LH_MODEL_GATE || r->kind == LH_MODEL_ORDERED)
        set(o, "sides",
            json_pack("[i, i]", (int)r->sides[0], (int)r->sides[1]));
    return o;
}

static json_t *pids_array(const struct lh_findings_item *item)
{
    json_t *list = json_array();
    for (size_t i = 0; i < item->npids; i++)
        json_array_append_new(list, number(item->pids[i]));
    return list;
}

/* Of a finding about one lock: who did it, and who had done what before. */
static void set_deeds(struct lh_explain *e, json_t *o)
{
    const struct lh_model_finding *f = e->finding;
    set(o, "thread", thread_object(e, f->thread));
    set_stack(e, o, "stack", f->stack);
    set_text(e, o, "detail", f->detail);
    if (f->holder)
        set(o, "holder", thread_object(e, f->holder));
    if (f->holder_stack)
        set(o, "holder_stack", lh_json_stack(e, f->holder_stack));
    if (f->other)
        set(o, "other", number(f->other));
}

static json_t *finding_object(struct lh_explain *e,
                              const struct lh_findings_item *item)
{
    static const char *const grades[] = { "conditional", "possible",
                                          "happened" };
    const struct lh_model_finding *f = item->finding;
    json_t *o = json_object(), *sides = json_array(), *reasons = json_array();
    set(o, "id", lh_json_string(e->pool, item->id));
    set(o, "kind", lh_json_string(e->pool, f->kind));
    set(o, "grade", json_string(grades[f->grade]));
    set(o, "summary", lh_json_string(e->pool, lh_explain_sentence(e)));
    set(o, "locks", locks_array(e, false));
    set(o, "events", locks_array(e, true));
    for (size_t i = 0; i < f->nsides; i++)
        json_array_append_new(sides, side_object(e, item, i));
    set(o, "sides", sides);
    if (f->nsides == 0 && f->stack)
        set_deeds(e, o);
    for (size_t i = 0; i < f->nreasons; i++)
        json_array_append_new(reasons, reason_object(e, &f->reasons[i]));
    set(o, "reasons", reasons);
    set(o, "rings", number(lh_findings_rings(item)));
    set_text(e, o, "advice", lh_advise_fix(e));
    set_text(e, o, "suppression", lh_genrule_text(e));
    if (item->standing == LH_FINDINGS_KNOWN)
        set(o, "known", json_true());
    set(o, "processes", pids_array(item));
    return o;
}

json_t *lh_json_finding(struct lh_symbols *symbols, struct lh_naming *names,
                        const struct lh_findings_item *item)
{
    struct lh_pool pool = { 0 };
    struct lh_explain e;
    lh_explain_begin(&e, &pool, symbols, names, item->process, item->finding);
    json_t *o = finding_object(&e, item);
    lh_pool_free(&pool);
    return o;
}

void lh_json_write(FILE *out, json_t *value, bool indented)
{
    lh_jsontext_write(out, value, indented);
    json_decref(value);
}

/* One after the other: the whole of many would not fit in memory. */
static void write_findings(FILE *out, const struct lh_content *c)
{
    const char *separator = "\n";
    for (size_t i = 0; i < c->findings->n; i++) {
        const struct lh_findings_item *item = c->findings->items[i];
        lh_progress_step(c->progress);
        if (!lh_findings_is_wanted(item, c->all))
            continue;
        fputs(separator, out);
        lh_json_write(out, lh_json_finding(c->symbols, c->names, item), true);
        separator = ",\n";
    }
}

static json_t *summary_object(const struct lh_summary *s)
{
    json_t *kinds = json_object();
    for (size_t i = 0; i < s->nkinds; i++) {
        const struct lh_summary_kind *k = &s->kinds[i];
        set(kinds, k->kind,
            json_pack("{s:I, s:I}", "possible", (json_int_t)k->counting,
                      "conditional", (json_int_t)k->conditional));
    }
    json_t *o = json_object();
    set(o, "possible", number(s->counting));
    set(o, "conditional", number(s->conditional));
    set(o, "known", number(s->known));
    set(o, "suppressed", number(s->suppressed));
    set(o, "locks", number(s->locks));
    set(o, "threads", number(s->threads));
    set(o, "orders", number(s->orders));
    set(o, "processes", number(s->processes));
    set(o, "unended", number(s->unended));
    set(o, "unwatched", number(s->unwatched));
    set(o, "kinds", kinds);
    return o;
}

static json_t *notes_array(struct lh_model_process *const *processes, size_t n)
{
    struct lh_pool pool = { 0 };
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < processes[i]->nnotes; j++) {
            json_t *o = json_object();
            set(o, "pid", number(processes[i]->pid));
            set(o, "code", lh_json_string(&pool, processes[i]->notes[j].code));
            set(o, "text", lh_json_string(&pool, processes[i]->notes[j].text));
            json_array_append_new(list, o);
        }
    }
    lh_pool_free(&pool);
    return list;
}

void lh_json_report(FILE *out, const struct lh_content *content)
{
    fprintf(out, "{\n\"lockhound\": %d,\n\"findings\": [", LH_JSON_VERSION);
    write_findings(out, content);
    fputs("],\n\"summary\": ", out);
    lh_json_write(out, summary_object(content->summary), true);
    fputs(",\n\"notes\": ", out);
    lh_json_write(out, notes_array(content->processes, content->nprocesses),
                  true);
    fputs("\n}\n", out);
}
