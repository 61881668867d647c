/* SPDX-License-Identifier: MIT
 * picture.c - a process seen from outside as records. */
#include "picture.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "buildid.h"
#include "core/lockkind.h"
#include "diag.h"

static void feed(struct lh_picture *p, json_t *record)
{
    char *line = record ? json_dumps(record, JSON_COMPACT) : NULL;
    if (line) {
        lh_model_feed(p->model, line, strlen(line));
        lh_model_feed(p->model, "\n", 1);
    } else {
        lh_diag_fail("out of memory");
    }
    free(line);
    json_decref(record);
}

/* A name out of a process need not be UTF-8, which JSON has to be. */
static json_t *string(const char *text)
{
    json_t *value = json_string(text);
    return value ? value : json_string("?");
}

static json_t *hexadecimal(uint64_t n)
{
    char text[20];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)n);
    return json_string(text);
}

/* Each range of a file has the file's number: one more than the index of its
 * first range. */
static uint64_t module_of(const struct lh_outside *o, uint64_t address,
                          uint64_t *offset)
{
    uint64_t base;
    const struct lh_outside_range *r = lh_outside_range_at(o, address, &base);
    *offset = address;
    if (!r)
        return 0;
    while (r > o->ranges && strcmp(r[-1].path, r->path) == 0)
        r--;
    *offset = address - base;
    return (uint64_t)(r - o->ranges) + 1;
}

static json_t *frame(const struct lh_outside *o, uint64_t address)
{
    uint64_t offset, module = module_of(o, address, &offset);
    return json_pack("[I, I]", (json_int_t)module,
                     (json_int_t)(offset & INT64_MAX));
}

static void add_modules(struct lh_picture *p, const struct lh_outside *o)
{
    for (size_t i = 0; i < o->nranges; i++) {
        const struct lh_outside_range *r = &o->ranges[i];
        if (!*r->path || (i > 0 && strcmp(r[-1].path, r->path) == 0))
            continue;
        uint64_t base = r->start - r->offset;
        feed(p, json_pack("{s:s, s:I, s:o, s:o, s:s}", "type", "module", "id",
                          (json_int_t)(i + 1), "path", string(r->path), "base",
                          hexadecimal(base), "build_id",
                          lh_buildid_mapped(o, base)));
    }
}

/* A frame that is no return address is shown as the call before it would be:
 * one byte further. */
static void add_stack(struct lh_picture *p, const struct lh_outside *o,
                      size_t thread)
{
    const struct lh_outside_thread *t = &o->threads[thread];
    json_t *frames = json_array();
    for (size_t i = 0; i < t->nframes; i++)
        json_array_append_new(
            frames, frame(o, t->frames[i].pc + !t->frames[i].is_call));
    feed(p, json_pack("{s:s, s:I, s:o}", "type", "stack", "id",
                      (json_int_t)(thread + 1), "frames", frames));
}

static void add_thread(struct lh_picture *p, const struct lh_outside *o,
                       size_t thread)
{
    const struct lh_outside_thread *t = &o->threads[thread];
    json_t *record =
        json_pack("{s:s, s:I, s:I}", "type", "thread", "id",
                  (json_int_t)(thread + 1), "tid", (json_int_t)t->tid);
    /* The process's own name tells nothing of a thread. */
    if (*t->name && strcmp(t->name, o->threads[0].name) != 0)
        json_object_set_new(record, "name", string(t->name));
    feed(p, record);
}

void lh_picture_begin(struct lh_picture *p, const struct lh_outside *o)
{
    p->model = lh_model_new("inspect");
    p->lock_ids = lh_pool_array(o->pool, o->nthreads, sizeof *p->lock_ids);
    feed(p, json_pack("{s:i, s:s, s:I, s:I, s:o, s:[], s:i, s:s}", "lockhound",
                      1, "type", "process", "pid", (json_int_t)o->pid, "ppid",
                      (json_int_t)0, "exe", string(o->exe), "args", "time", 0,
                      "version", "inspect"));
    add_modules(p, o);
    for (size_t i = 0; i < o->nthreads; i++) {
        add_thread(p, o, i);
        add_stack(p, o, i);
    }
}

static const char *kind_word(enum lh_waits_kind kind)
{
    static const char *const words[] = {
        [LH_WAITS_MUTEX] = "mutex",         [LH_WAITS_READ] = "rwlock",
        [LH_WAITS_WRITE] = "rwlock",        [LH_WAITS_CONDITION] = "condition",
        [LH_WAITS_SEMAPHORE] = "semaphore", [LH_WAITS_BARRIER] = "barrier",
        [LH_WAITS_ONCE] = "once",           [LH_WAITS_STREAM] = "file",
        [LH_WAITS_LIBC] = "lock",           [LH_WAITS_FUTEX] = "futex",
    };
    return words[kind];
}

static void feed_lock(struct lh_picture *p, const struct lh_outside *o,
                      const char *kind, uint64_t address, uint64_t id)
{
    uint64_t offset;
    json_t *record =
        json_pack("{s:s, s:I, s:s, s:o}", "type", "lock", "id", (json_int_t)id,
                  "kind", kind, "address", hexadecimal(address));
    if (module_of(o, address, &offset))
        json_object_set_new(record, "static", frame(o, address));
    feed(p, record);
}

static uint64_t lock_id(struct lh_picture *p, const struct lh_outside *o,
                        const char *kind, uint64_t address)
{
    uint64_t *known = lh_idmap_get(&p->by_address, address);
    if (known)
        return *known;
    uint64_t *id = lh_pool_alloc(o->pool, sizeof *id);
    *id = ++p->nlocks;
    lh_idmap_put(&p->by_address, address, id);
    feed_lock(p, o, kind, address, *id);
    return *id;
}

static void add_holds(struct lh_picture *p, const struct lh_outside *o,
                      size_t thread)
{
    const struct lh_outside_thread *t = &o->threads[thread];
    p->holds[thread] = lh_pool_array(o->pool, t->nholds, sizeof **p->holds);
    for (size_t i = 0; i < t->nholds; i++) {
        const struct lh_outside_hold *h = &t->holds[i];
        uint64_t stack = ++p->nstacks;
        feed(p, json_pack("{s:s, s:I, s:[o]}", "type", "stack", "id",
                          (json_int_t)stack, "frames", frame(o, h->pc)));
        p->holds[thread][i] = (struct lh_picture_hold){
            lock_id(p, o, lh_kind_word(h->kind), h->lock), stack
        };
    }
}

void lh_picture_locks(struct lh_picture *p, const struct lh_outside *o,
                      const struct lh_wait *waits)
{
    p->nstacks = o->nthreads;
    p->holds = lh_pool_array(o->pool, o->nthreads, sizeof *p->holds);
    for (size_t i = 0; i < o->nthreads; i++)
        if (waits[i].lock)
            p->lock_ids[i] =
                lock_id(p, o, kind_word(waits[i].kind), waits[i].lock);
    for (size_t i = 0; i < o->nthreads; i++)
        add_holds(p, o, i);
}

void lh_picture_end(struct lh_picture *p)
{
    lh_model_free(p->model);
    lh_idmap_free(&p->by_address);
}
