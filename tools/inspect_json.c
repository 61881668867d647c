/* SPDX-License-Identifier: MIT
 * inspect_json.c - what a process waits for, as JSON. */
#include <errno.h>
#include <jansson.h>

#include "calls.h"
#include "inspect.h"
#include "json.h"
#include "naming.h"

enum { VERSION = 1 };

static const char *wait_word(enum lh_waits_kind kind)
{
    static const char *const words[] = {
        [LH_WAITS_NOT] = "none",
        [LH_WAITS_CALL] = "call",
        [LH_WAITS_MUTEX] = "mutex",
        [LH_WAITS_REFUSED] = "refused-mutex",
        [LH_WAITS_READ] = "rwlock-read",
        [LH_WAITS_WRITE] = "rwlock-write",
        [LH_WAITS_CONDITION] = "condition",
        [LH_WAITS_SEMAPHORE] = "semaphore",
        [LH_WAITS_BARRIER] = "barrier",
        [LH_WAITS_JOIN] = "join",
        [LH_WAITS_ONCE] = "once",
        [LH_WAITS_STREAM] = "stream",
        [LH_WAITS_LIBC] = "library-lock",
        [LH_WAITS_FUTEX] = "futex",
    };
    return words[kind];
}

static json_t *number(uint64_t n)
{
    return json_integer((json_int_t)(n & INT64_MAX));
}

static json_t *hexadecimal(const struct lh_explain *e, uint64_t n)
{
    return json_string(
        lh_pool_format(e->pool, "0x%llx", (unsigned long long)n));
}

static json_t *owners_array(const struct lh_wait *w)
{
    json_t *list = json_array();
    for (size_t i = 0; i < w->nowners; i++)
        json_array_append_new(list, number(w->owners[i]));
    return list;
}

static json_t *holds_array(const struct lh_inspection *in, size_t thread)
{
    const struct lh_outside_thread *t = &in->o.threads[thread];
    const struct lh_explain *e = &in->explain;
    json_t *list = json_array();
    for (size_t i = 0; i < t->nholds; i++) {
        const struct lh_picture_hold *h = &in->picture.holds[thread][i];
        json_array_append_new(
            list, json_pack("{s:o, s:o, s:s, s:o}", "lock",
                            lh_json_string(e->pool, lh_naming_lock(e, h->lock)),
                            "address", hexadecimal(e, t->holds[i].lock), "mode",
                            t->holds[i].shared ? "shared" : "exclusive",
                            "stack", lh_json_stack(e, h->stack)));
    }
    return list;
}

static json_t *thread_object(const struct lh_inspection *in, size_t i)
{
    const struct lh_outside_thread *t = &in->o.threads[i];
    const struct lh_wait *w = &in->waits[i];
    uint64_t lock = in->picture.lock_ids[i];
    const struct lh_explain *e = &in->explain;
    json_t *o = json_object();
    json_object_set_new(o, "id", number(i + 1));
    json_object_set_new(o, "tid", number(t->tid));
    if (*t->name)
        json_object_set_new(o, "name", lh_json_string(e->pool, t->name));
    json_object_set_new(o, "waits", json_string(wait_word(w->kind)));
    json_object_set_new(o, "text",
                        lh_json_string(e->pool, lh_inspect_sentence(in, i)));
    if (w->kind == LH_WAITS_CALL && lh_calls_name(t->call))
        json_object_set_new(o, "call", json_string(lh_calls_name(t->call)));
    if (lock) {
        json_object_set_new(o, "lock",
                            lh_json_string(e->pool, lh_naming_lock(e, lock)));
        json_object_set_new(o, "address", hexadecimal(e, w->lock));
    }
    if (w->owner)
        json_object_set_new(o, "owner", number(w->owner));
    if (w->nowners)
        json_object_set_new(o, "owners", owners_array(w));
    json_object_set_new(o, "holds", holds_array(in, i));
    if (w->nreaders)
        json_object_set_new(o, "readers", number(w->nreaders));
    if (w->limited)
        json_object_set_new(o, "limited", json_true());
    json_object_set_new(o, "stack", lh_json_stack(e, i + 1));
    return o;
}

static json_t *ring_array(const struct lh_inspection *in, size_t ring)
{
    json_t *list = json_array();
    for (size_t i = 0; i < in->ring_sizes[ring]; i++)
        json_array_append_new(list, number(in->rings[ring][i] + 1));
    return list;
}

int lh_inspect_json(FILE *out, const struct lh_inspection *in)
{
    json_t *report = json_object(), *threads = json_array(),
           *rings = json_array();
    json_object_set_new(report, "lockhound", json_integer(VERSION));
    json_object_set_new(report, "pid", number(in->o.pid));
    json_object_set_new(report, "exe",
                        lh_json_string(in->explain.pool, in->o.exe));
    json_object_set_new(report, "stopped_ms", json_real(in->o.stopped_ms));
    for (size_t i = 0; i < in->nrings; i++)
        json_array_append_new(rings, ring_array(in, i));
    for (size_t i = 0; i < in->o.nthreads; i++)
        json_array_append_new(threads, thread_object(in, i));
    json_object_set_new(report, "rings", rings);
    json_object_set_new(report, "threads", threads);
    int rc = json_dumpf(report, out, JSON_INDENT(2));
    fputc('\n', out);
    json_decref(report);
    return rc == 0 ? 0 : EIO;
}
