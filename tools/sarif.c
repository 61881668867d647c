/* SPDX-License-Identifier: MIT
 * sarif.c - a report as SARIF 2.1.0. */
#include "sarif.h"

#include <ctype.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "advise.h"
#include "content.h"
#include "explain.h"
#include "fingerprint.h"
#include "json.h"
#include "kinds.h"
#include "misuse.h"
#include "model.h"
#include "place.h"
#include "point.h"
#include "pool.h"
#include "progress.h"
#include "summary.h"
#include "trace.h"

#ifndef LH_VERSION
#define LH_VERSION "unknown"
#endif

#define FORMAT(...) lh_pool_format(e->pool, __VA_ARGS__)

static const char schema[] = "https://json.schemastore.org/sarif-2.1.0.json";
static const char base_id[] = "%SRCROOT%"; /* the working folder */

/* When a step of a ring comes: first all take, then all wait. */
enum { TAKES = 1, WAITS };

/* The keys are ours. */
static void set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new_nocheck(object, key, value);
}

static json_t *text_of(const struct lh_explain *e, const char *text)
{
    return lh_json_string(e->pool, text);
}

/* "[text](target)" is a link in a message; "operator[](int)" should be none. */
static json_t *message(const struct lh_explain *e, const char *text)
{
    const char *link;
    while ((link = strstr(text, "](")))
        text = FORMAT("%.*s] (%s", (int)(link - text), text, link + 2);
    return json_pack("{s:o}", "text", text_of(e, text));
}

/* A path as a part of a URI. */
static const char *encoded(struct lh_pool *pool, const char *path)
{
    static const char digits[] = "0123456789ABCDEF";
    char *text = lh_pool_array(pool, strlen(path) + 1, 3), *to = text;
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;
        if ((c < 0x80 && isalnum(c)) || strchr("/-._~", c)) {
            *to++ = (char)c;
            continue;
        }
        *to++ = '%';
        *to++ = digits[c >> 4];
        *to++ = digits[c & 15];
    }
    *to = '\0';
    return text;
}

/* has_base: a relative path is one from the working folder. */
static json_t *artifact(const struct lh_explain *e, const char *path,
                        bool has_base)
{
    json_t *o = json_object();
    const char *scheme = *path == '/' ? "file://" : "";
    set(o, "uri", text_of(e, FORMAT("%s%s", scheme, encoded(e->pool, path))));
    if (has_base && *path != '/')
        set(o, "uriBaseId", json_string(base_id));
    return o;
}

/* The line of source, else the place in the binary. */
static json_t *physical(const struct lh_explain *e,
                        const struct lh_trace_line *line)
{
    json_t *o = json_object();
    if (*line->file) {
        const char *path = lh_place_path(e->pool, line->file, line->built_in);
        set(o, "artifactLocation", artifact(e, path, true));
        if (line->line > 0)
            set(o, "region", json_pack("{s:i}", "startLine", line->line));
        return o;
    }
    set(o, "artifactLocation", artifact(e, line->module, false));
    set(o, "address",
        json_pack("{s:I}", "relativeAddress",
                  (json_int_t)(line->offset & INT64_MAX)));
    return o;
}

/* Without a message when that is NULL. */
static json_t *location(const struct lh_explain *e,
                        const struct lh_trace_line *line, const char *text)
{
    json_t *o = json_object();
    if (line && (*line->file || *line->module))
        set(o, "physicalLocation", physical(e, line));
    if (line && (*line->function || *line->module))
        set(o, "logicalLocations",
            json_pack("[{s:o, s:s}]", "fullyQualifiedName",
                      text_of(e, lh_trace_function(e->pool, line)), "kind",
                      "function"));
    if (text)
        set(o, "message", message(e, text));
    return o;
}

/* The innermost line of a stack; NULL if it is not known. */
static const struct lh_trace_line *top(const struct lh_explain *e,
                                       uint64_t stack)
{
    struct lh_trace t = lh_explain_stack(e, stack);
    return t.n ? &t.lines[0] : NULL;
}

static json_t *stack_object(const struct lh_explain *e, uint64_t stack)
{
    struct lh_trace t = lh_explain_stack(e, stack);
    json_t *frames = json_array();
    for (size_t i = 0; i < t.n; i++) {
        json_t *frame = json_object();
        set(frame, "location", location(e, &t.lines[i], NULL));
        if (*t.lines[i].module)
            set(frame, "module", text_of(e, lh_place_base(t.lines[i].module)));
        json_array_append_new(frames, frame);
    }
    return json_pack("{s:o}", "frames", frames);
}

static json_t *step(const struct lh_explain *e, uint64_t stack, int order,
                    const char *text)
{
    json_t *o = json_object();
    set(o, "location", location(e, top(e, stack), text));
    if (lh_model_stack(e->process, stack))
        set(o, "stack", stack_object(e, stack));
    set(o, "kinds", json_pack("[s, s]", "acquire", "lock"));
    set(o, "executionOrder", json_integer(order));
    set(o, "importance", json_string("essential"));
    return o;
}

static json_t *thread_flow(const struct lh_explain *e, size_t number,
                           uint64_t thread, json_t *steps)
{
    return json_pack("{s:o, s:o, s:o}", "id", text_of(e, FORMAT("%zu", number)),
                     "message", message(e, lh_explain_thread_long(e, thread)),
                     "locations", steps);
}

static json_t *side_flow(const struct lh_explain *e, size_t i)
{
    const struct lh_model_side *s = &e->finding->sides[i];
    json_t *steps = json_array();
    if (!lh_explain_is_queue_only(e, i))
        json_array_append_new(
            steps, step(e, s->holds_stack, TAKES, lh_explain_holds(e, i)));
    json_array_append_new(steps, step(e, s->wants_stack, WAITS,
                                      lh_explain_is_queue_only(e, i)
                                          ? lh_explain_holds(e, i)
                                          : lh_explain_waits(e, i)));
    return thread_flow(e, i + 1, s->thread, steps);
}

/* Of a finding about one lock: what was done first, by whom, and then. */
static void add_deeds(const struct lh_explain *e, json_t *flows)
{
    const struct lh_model_finding *f = e->finding;
    uint64_t before = f->holder ? f->holder : f->thread;
    json_t *steps = json_array();
    if (f->holder_stack)
        json_array_append_new(
            steps, step(e, f->holder_stack, TAKES, lh_misuse_past(e)));
    if (f->holder_stack && before != f->thread) {
        json_array_append_new(flows, thread_flow(e, 1, before, steps));
        steps = json_array();
    }
    json_array_append_new(steps, step(e, f->stack, WAITS, lh_misuse_act(e)));
    json_array_append_new(
        flows, thread_flow(e, json_array_size(flows) + 1, f->thread, steps));
}

static json_t *code_flows(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    json_t *flows = json_array();
    for (size_t i = 0; i < f->nsides; i++)
        json_array_append_new(flows, side_flow(e, i));
    if (f->nsides == 0)
        add_deeds(e, flows);
    return json_pack("[{s:o}]", "threadFlows", flows);
}

/* One for each other side, or for what was done before. */
static json_t *related(const struct lh_explain *e)
{
    const struct lh_model_finding *f = e->finding;
    size_t first = lh_point_side(e);
    json_t *list = json_array();
    for (size_t i = 0; i < f->nsides; i++)
        if (i != first)
            json_array_append_new(list,
                                  location(e, top(e, f->sides[i].wants_stack),
                                           lh_point_deed(e, i)));
    if (f->nsides == 0 && f->holder_stack)
        json_array_append_new(
            list, location(e, top(e, f->holder_stack), lh_point_before(e)));
    for (size_t i = 0; i < json_array_size(list); i++)
        set(json_array_get(list, i), "id", json_integer((json_int_t)i + 1));
    return list;
}

static json_t *properties(const struct lh_explain *e,
                          const struct lh_findings_item *item)
{
    static const char *const grades[] = { "conditional", "possible",
                                          "happened" };
    const struct lh_model_finding *f = e->finding;
    json_t *pids = json_array(), *reasons = json_array(), *o = json_object();
    for (size_t i = 0; i < item->npids; i++)
        json_array_append_new(
            pids, json_integer((json_int_t)(item->pids[i] & INT64_MAX)));
    for (size_t i = 0; i < f->nreasons; i++)
        json_array_append_new(reasons,
                              text_of(e, lh_advise_reason(e, &f->reasons[i])));
    set(o, "id", text_of(e, item->id));
    set(o, "grade", json_string(grades[f->grade]));
    set(o, "processes", pids);
    set(o, "reasons", reasons);
    return o;
}

/* Known ones are shown with --all only. The standard wants a list in each
 * result or in none. */
static json_t *suppressions(const struct lh_findings_item *item)
{
    return item->standing == LH_FINDINGS_KNOWN
               ? json_pack("[{s:s}]", "kind", "external")
               : json_array();
}

static json_t *result(const struct lh_explain *e,
                      const struct lh_findings_item *item,
                      struct lh_fingerprint *fingerprints)
{
    static const char *const levels[] = { "note", "warning", "error" };
    size_t rule = lh_kinds_find(e->finding->kind);
    const char *fix = lh_advise_fix(e);
    json_t *o = json_object();
    set(o, "ruleId", text_of(e, e->finding->kind));
    if (rule < lh_kinds_n)
        set(o, "ruleIndex", json_integer((json_int_t)rule));
    set(o, "level", json_string(levels[e->finding->grade]));
    set(o, "message",
        message(e, FORMAT("%s%s%s", lh_explain_sentence(e),
                          *fix ? " Fix: " : "", fix)));
    set(o, "locations",
        json_pack("[o]", location(e, top(e, lh_point_stack(e)), NULL)));
    set(o, "relatedLocations", related(e));
    set(o, "codeFlows", code_flows(e));
    set(o, "partialFingerprints",
        json_pack("{s:o}", "lockhoundNames/v1",
                  text_of(e, lh_fingerprint(fingerprints, e))));
    set(o, "properties", properties(e, item));
    return o;
}

/* A line each: the whole of many would not fit in memory. */
static void write_results(FILE *out, const struct lh_content *c)
{
    struct lh_fingerprint fingerprints = { { 0 } };
    const char *separator = "";
    for (size_t i = 0; i < c->findings->n; i++) {
        const struct lh_findings_item *item = c->findings->items[i];
        struct lh_pool pool = { 0 };
        struct lh_explain e;
        lh_progress_step(c->progress);
        if (!lh_findings_is_wanted(item, c->all))
            continue;
        lh_explain_begin(&e, &pool, c->symbols, c->names, item->process,
                         item->finding);
        json_t *o = result(&e, item, &fingerprints);
        if (c->all && c->summary->known)
            set(o, "suppressions", suppressions(item));
        fputs(separator, out);
        lh_json_write(out, o, false);
        separator = ",\n";
        lh_pool_free(&pool);
    }
    lh_fingerprint_free(&fingerprints);
}

static json_t *rules(void)
{
    json_t *list = json_array();
    for (size_t i = 0; i < lh_kinds_n; i++) {
        const struct lh_kinds_row *k = &lh_kinds[i];
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:{s:s}, s:{s:s}, s:{s:s}}", "id",
                            k->id, "name", k->name, "shortDescription", "text",
                            k->title, "fullDescription", "text", k->title,
                            "help", "text", k->help));
    }
    return list;
}

/* What limits the records. */
static json_t *notifications(const struct lh_content *c, struct lh_pool *pool)
{
    json_t *list = json_array();
    for (size_t i = 0; i < c->nprocesses; i++)
        for (size_t j = 0; j < c->processes[i]->nnotes; j++) {
            const struct lh_model_note *note = &c->processes[i]->notes[j];
            json_array_append_new(
                list,
                json_pack("{s:{s:o}, s:{s:o}, s:s}", "descriptor", "id",
                          lh_json_string(pool, note->code), "message", "text",
                          lh_json_string(pool, note->text), "level", "note"));
        }
    return list;
}

/* The working folder; an empty object if there is none. */
static json_t *bases(struct lh_pool *pool)
{
    char folder[4096];
    if (!getcwd(folder, sizeof folder))
        return json_object();
    const char *slash = strcmp(folder, "/") == 0 ? "" : "/";
    const char *uri =
        lh_pool_format(pool, "file://%s%s", encoded(pool, folder), slash);
    return json_pack("{s:{s:o}}", base_id, "uri", lh_json_string(pool, uri));
}

void lh_sarif_report(FILE *out, const struct lh_content *content)
{
    struct lh_pool pool = { 0 };
    json_t *tool =
        json_pack("{s:{s:s, s:s, s:o}}", "driver", "name", "lockhound",
                  "version", LH_VERSION, "rules", rules());
    json_t *invocations =
        json_pack("[{s:b, s:o}]", "executionSuccessful", 1,
                  "toolExecutionNotifications", notifications(content, &pool));
    fprintf(out,
            "{ \"$schema\": \"%s\", \"version\": \"2.1.0\", "
            "\"runs\": [{\n\"tool\": ",
            schema);
    lh_json_write(out, tool, true);
    fputs(",\n\"invocations\": ", out);
    lh_json_write(out, invocations, true);
    fputs(",\n\"originalUriBaseIds\": ", out);
    lh_json_write(out, bases(&pool), true);
    fputs(",\n\"results\": [\n", out);
    write_results(out, content);
    fputs("\n]\n}]}\n", out);
    lh_pool_free(&pool);
}
