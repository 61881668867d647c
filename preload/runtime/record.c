/* SPDX-License-Identifier: MIT
 * record.c - the records of lockhound-records(5), as JSON lines. */
#include "runtime/record.h"

#include <fcntl.h>
#include <string.h>

#include "runtime/children.h"
#include "runtime/held.h"
#include "runtime/lockname.h"
#include "runtime/modules.h"
#include "runtime/shared.h"
#include "runtime/stacks.h"
#include "runtime/sys.h"

static void begin(struct lh_fmt *f, const char *type)
{
    lh_fmt_text(f, "{\"type\":");
    lh_fmt_string(f, type);
}

static void end(struct lh_fmt *f)
{
    lh_fmt_text(f, "}\n");
}

static void list(struct lh_fmt *f, const char *key)
{
    lh_fmt_text(f, ",\"");
    lh_fmt_text(f, key);
    lh_fmt_text(f, "\":[");
}

static void frame(struct lh_fmt *f, uint32_t module, uint64_t offset)
{
    lh_fmt_text(f, "[");
    lh_fmt_unsigned(f, module);
    lh_fmt_text(f, ",");
    lh_fmt_unsigned(f, offset);
    lh_fmt_text(f, "]");
}

static const char *mode_name(uint8_t mode)
{
    return mode == LH_SHARED   ? "shared"
           : mode == LH_QUEUED ? "queued"
                               : "exclusive";
}

static const char *wait_name(uint8_t wait)
{
    return wait == LH_WAIT_TIMED       ? "timed"
           : wait == LH_WAIT_CONDITION ? "condition"
           : wait == LH_WAIT_TRIED     ? "tried"
                                       : "block";
}

/* The arguments as the kernel has them; whole as far as 64 KiB. */
static void arguments(struct lh_fmt *f)
{
    struct lh_fmt raw = { 0 };
    char block[256];
    long n, fd = lh_sys_open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0);

    if (fd < 0)
        return;
    while ((n = lh_sys_read((int)fd, block, sizeof block)) > 0 &&
           raw.length < 64 * 1024)
        lh_fmt_bytes(&raw, block, (size_t)n);
    lh_sys_close((int)fd);
    lh_fmt_bytes(&raw, "", 1);
    list(f, "args");
    if (!raw.failed) {
        for (size_t at = 0; at + 1 < raw.length;
             at += strlen(raw.text + at) + 1) {
            if (at)
                lh_fmt_text(f, ",");
            lh_fmt_string(f, raw.text + at);
        }
    }
    lh_fmt_text(f, "]");
    lh_fmt_free(&raw);
}

void lh_record_process(struct lh_fmt *f, long forked_from)
{
    /* Static, like the other large ones here: the stack is the target's, and
     * callers hold the detector's lock. */
    static char executable[4096];
    long n =
        lh_sys_readlink("/proc/self/exe", executable, sizeof executable - 1);

    executable[n > 0 ? n : 0] = '\0';
    lh_fmt_text(f, "{\"lockhound\":1,\"type\":\"process\"");
    lh_fmt_key_unsigned(f, "pid", (uint64_t)lh_sys_getpid());
    lh_fmt_key_unsigned(f, "ppid", (uint64_t)lh_sys_getppid());
    if (forked_from)
        lh_fmt_key_unsigned(f, "forked_from", (uint64_t)forked_from);
    if (lh_children_own_number())
        lh_fmt_key_unsigned(f, "fork", lh_children_own_number());
    lh_fmt_key_string(f, "exe", executable);
    arguments(f);
    lh_fmt_key_unsigned(f, "time", (uint64_t)lh_sys_time());
    lh_fmt_key_string(f, "version", LH_VERSION);
    end(f);
}

static void record_module(struct lh_fmt *f, uint32_t number)
{
    struct lh_module *m;

    if (number == 0)
        return;
    m = lh_module_get(number);
    if (m->recorded)
        return;
    m->recorded = true;
    begin(f, "module");
    lh_fmt_key_unsigned(f, "id", number);
    lh_fmt_key_string(f, "path", m->path);
    lh_fmt_key_hex(f, "base", m->base);
    if (m->build_id_size) {
        char hex[2 * sizeof m->build_id + 1];
        for (size_t i = 0; i < m->build_id_size; i++) {
            hex[2 * i] = "0123456789abcdef"[m->build_id[i] >> 4];
            hex[2 * i + 1] = "0123456789abcdef"[m->build_id[i] & 15];
        }
        hex[2 * m->build_id_size] = '\0';
        lh_fmt_key_string(f, "build_id", hex);
    }
    end(f);
}

/* The module of an address, recorded; 0 if it has none. */
static uint32_t module_of(struct lh_fmt *f, uintptr_t address, uint64_t *offset)
{
    uint32_t module;

    lh_stacks_lock();
    module = lh_module_find(address);
    *offset = address - lh_module_base(module);
    record_module(f, module);
    lh_stacks_unlock();
    return module;
}

void lh_record_thread(struct lh_fmt *f, const struct lh_finding_thread *t,
                      const struct lh_segments *segments)
{
    uint32_t creator = lh_segments_creator(segments, t->number);
    uint32_t joiner = lh_segments_joiner(segments, t->number);
    uint64_t offset = 0;
    uint32_t module = t->start ? module_of(f, (uintptr_t)t->start, &offset) : 0;

    begin(f, "thread");
    lh_fmt_key_unsigned(f, "id", t->number);
    lh_fmt_key_unsigned(f, "tid", (uint64_t)t->tid);
    if (creator)
        lh_fmt_key_unsigned(f, "creator", creator);
    if (joiner)
        lh_fmt_key_unsigned(f, "joined_by", joiner);
    if (*t->name)
        lh_fmt_key_string(f, "name", t->name);
    if (t->start) {
        lh_fmt_text(f, ",\"start\":");
        frame(f, module, offset);
    }
    end(f);
}

static void object(struct lh_fmt *f, struct lh_object o)
{
    list(f, "object");
    lh_fmt_unsigned(f, o.device);
    lh_fmt_text(f, ",");
    lh_fmt_unsigned(f, o.inode);
    lh_fmt_text(f, ",");
    lh_fmt_unsigned(f, o.offset);
    lh_fmt_text(f, "]");
}

static void lock_record(struct lh_fmt *f, const struct lh_lock_info *lock)
{
    static const char *const subtypes[] = { "normal", "recursive", "errorcheck",
                                            "adaptive" };
    static const char *const preferred[] = { "prefer-reader", "prefer-writer",
                                             "prefer-writer-nonrecursive",
                                             "prefer-reader" };
    uint64_t offset;
    uint32_t module = module_of(f, lock->address, &offset);
    const struct lh_annotation *a = lock->annotation;
    char own[LH_LOCKNAME_BYTES];

    lh_record_stack(f, lock->born);
    begin(f, "lock");
    lh_fmt_key_unsigned(f, "id", lock->serial);
    lh_fmt_key_string(f, "kind", lh_kind_word(lock->kind));
    if (lock->kind == LH_KIND_MUTEX)
        lh_fmt_key_string(f, "subtype", subtypes[lock->subtype & 3]);
    else if (lock->kind == LH_KIND_RWLOCK)
        lh_fmt_key_string(f, "subtype", preferred[lock->subtype & 3]);
    if (lock->shared)
        object(f, lh_shared_get(lock->node));
    lh_fmt_key_hex(f, "address", lock->address);
    if (module) {
        lh_fmt_text(f, ",\"static\":");
        frame(f, module, offset);
    }
    if (a && a->name)
        lh_fmt_key_string(f, "name", a->name);
    else if (lh_lockname(lock, own))
        lh_fmt_key_string(f, "name", own);
    if (a && a->ranked) {
        lh_fmt_text(f, ",\"rank\":");
        lh_fmt_signed(f, a->rank);
    }
    if (lock->born)
        lh_fmt_key_unsigned(f, lock->initialized ? "init" : "first",
                            lock->born);
    end(f);
}

void lh_record_lock(struct lh_fmt *f, struct lh_lock_info *lock)
{
    if (lock->recorded)
        return;
    lock->recorded = true;
    lock_record(f, lock);
}

void lh_record_stack(struct lh_fmt *f, uint32_t stack)
{
    static struct lh_trace trace;

    if (!lh_stack_claim_record(stack))
        return;
    lh_stack_trace(stack, &trace);
    lh_stacks_lock();
    for (size_t i = 0; i < trace.nframes; i++)
        record_module(f, trace.frames[i].module);
    lh_stacks_unlock();
    begin(f, "stack");
    lh_fmt_key_unsigned(f, "id", stack);
    list(f, "frames");
    for (size_t i = 0; i < trace.nframes; i++) {
        if (i)
            lh_fmt_text(f, ",");
        frame(f, trace.frames[i].module, trace.frames[i].offset);
    }
    lh_fmt_text(f, "]");
    if (trace.partial)
        lh_fmt_text(f, ",\"partial\":true");
    if (trace.truncated)
        lh_fmt_text(f, ",\"truncated\":true");
    end(f);
}

static uint32_t serial_of(lh_lock node)
{
    const struct lh_lock_info *lock = lh_lock_of_node(node);

    return lock ? lock->serial : 0;
}

void lh_record_dependency(struct lh_fmt *f, uint32_t serial,
                          const struct lh_request *request)
{
    lh_record_stack(f, request->stack);
    for (size_t i = 0; i < request->nheld; i++)
        lh_record_stack(f, request->held[i].stack);
    begin(f, "dependency");
    lh_fmt_key_unsigned(f, "id", serial);
    lh_fmt_key_unsigned(f, "thread", request->segment.thread);
    lh_fmt_key_unsigned(f, "wants", serial_of(request->lock));
    lh_fmt_key_string(f, "mode", mode_name(request->mode));
    lh_fmt_key_string(f, "wait", wait_name(request->wait));
    lh_fmt_key_unsigned(f, "stack", request->stack);
    list(f, "holds");
    for (size_t i = 0; i < request->nheld; i++) {
        const struct lh_held *h = &request->held[i];
        lh_fmt_text(f, i ? ",{\"lock\":" : "{\"lock\":");
        lh_fmt_unsigned(f, serial_of(h->lock));
        lh_fmt_key_string(f, "mode", mode_name(h->mode));
        lh_fmt_key_unsigned(f, "stack", h->stack);
        lh_fmt_text(f, "}");
    }
    lh_fmt_text(f, "]");
    end(f);
}

static void side(struct lh_fmt *f, const struct lh_finding_side *s)
{
    lh_fmt_text(f, "{\"dependency\":");
    lh_fmt_unsigned(f, s->side.dependency);
    lh_fmt_key_unsigned(f, "thread", s->side.segment.thread);
    lh_fmt_key_unsigned(f, "holds", s->holds.serial);
    lh_fmt_key_string(f, "holds_mode", mode_name(s->side.holds_mode));
    lh_fmt_key_unsigned(f, "holds_stack", s->side.holds_stack);
    lh_fmt_key_unsigned(f, "wants", s->wants.serial);
    lh_fmt_key_string(f, "wants_mode", mode_name(s->side.wants_mode));
    lh_fmt_key_unsigned(f, "wants_stack", s->side.wants_stack);
    lh_fmt_key_string(f, "wait", wait_name(s->side.wait));
    lh_fmt_key_unsigned(f, "times", s->seen.times);
    lh_fmt_key_unsigned(f, "threads", s->seen.nthreads);
    if (s->since_ms)
        lh_fmt_key_unsigned(f, "waited_ms", s->since_ms);
    lh_fmt_text(f, "}");
}

static void sides_of(struct lh_fmt *f, const struct lh_reason *r, bool both)
{
    list(f, "sides");
    lh_fmt_unsigned(f, r->a);
    if (both) {
        lh_fmt_text(f, ",");
        lh_fmt_unsigned(f, r->b);
    }
    lh_fmt_text(f, "]");
}

static void reason(struct lh_fmt *f, const struct lh_finding_reason *fr)
{
    const struct lh_reason *r = &fr->reason;

    lh_fmt_text(f, "{\"reason\":");
    switch (r->kind) {
    case LH_REASON_GATE:
        lh_fmt_string(f, "gate");
        lh_fmt_key_unsigned(f, "lock", fr->lock.serial);
        sides_of(f, r, true);
        list(f, "stacks");
        lh_fmt_unsigned(f, r->stack_a);
        lh_fmt_text(f, ",");
        lh_fmt_unsigned(f, r->stack_b);
        lh_fmt_text(f, "]");
        break;
    case LH_REASON_ONE_THREAD:
        lh_fmt_string(f, "one-thread");
        lh_fmt_key_unsigned(f, "thread", r->thread);
        break;
    case LH_REASON_FEW_THREADS:
        lh_fmt_string(f, "few-threads");
        lh_fmt_key_unsigned(f, "threads", r->count);
        break;
    case LH_REASON_ORDERED:
        lh_fmt_string(f, "ordered");
        sides_of(f, r, true);
        break;
    case LH_REASON_TIMED:
        lh_fmt_string(f, "timed");
        sides_of(f, r, false);
        break;
    case LH_REASON_TRIED:
        lh_fmt_string(f, "tried");
        sides_of(f, r, false);
        break;
    case LH_REASON_UNSEEN_END:
        lh_fmt_string(f, "unseen-end");
        lh_fmt_key_unsigned(f, "lock", fr->lock.serial);
        break;
    }
    lh_fmt_text(f, "}");
}

static void ring(struct lh_fmt *f, const struct lh_finding *finding)
{
    list(f, "ring");
    for (size_t i = 0; i < finding->nsides; i++) {
        if (i)
            lh_fmt_text(f, ",");
        side(f, &finding->sides[i]);
    }
    lh_fmt_text(f, "]");
    if (!finding->nreasons)
        return;
    list(f, "reasons");
    for (size_t i = 0; i < finding->nreasons; i++) {
        if (i)
            lh_fmt_text(f, ",");
        reason(f, &finding->reasons[i]);
    }
    lh_fmt_text(f, "]");
}

static void misuse(struct lh_fmt *f, const struct lh_finding *finding)
{
    lh_fmt_key_unsigned(f, "thread", finding->thread.number);
    lh_fmt_key_unsigned(f, "lock", finding->lock.serial);
    lh_fmt_key_unsigned(f, "stack", finding->stack);
    if (finding->detail)
        lh_fmt_key_string(f, "detail", finding->detail);
    if (finding->holder.number)
        lh_fmt_key_unsigned(f, "holder", finding->holder.number);
    if (finding->holder_stack)
        lh_fmt_key_unsigned(f, "holder_stack", finding->holder_stack);
    if (finding->other.serial)
        lh_fmt_key_unsigned(f, "other", finding->other.serial);
}

void lh_record_finding(struct lh_fmt *f, const struct lh_finding *finding)
{
    static const char *const grades[] = { "conditional", "possible",
                                          "happened" };

    begin(f, "finding");
    lh_fmt_key_unsigned(f, "id", finding->id);
    lh_fmt_key_string(f, "kind", lh_finding_word(finding->kind));
    lh_fmt_key_string(f, "grade", grades[finding->grade]);
    if (finding->nsides)
        ring(f, finding);
    else
        misuse(f, finding);
    end(f);
}

void lh_record_count(struct lh_fmt *f, uint32_t dependency, struct lh_seen seen)
{
    begin(f, "count");
    lh_fmt_key_unsigned(f, "dependency", dependency);
    lh_fmt_key_unsigned(f, "times", seen.times);
    lh_fmt_key_unsigned(f, "threads", seen.nthreads);
    end(f);
}

void lh_record_merged(struct lh_fmt *f, uint32_t finding, uint64_t nrings)
{
    begin(f, "count");
    lh_fmt_key_unsigned(f, "finding", finding);
    lh_fmt_key_unsigned(f, "rings", nrings);
    end(f);
}

void lh_record_note(struct lh_fmt *f, const char *code, const char *text)
{
    begin(f, "note");
    lh_fmt_key_string(f, "code", code);
    lh_fmt_key_string(f, "text", text);
    end(f);
}

void lh_record_end(struct lh_fmt *f, uint64_t nlocks, uint64_t nthreads,
                   const struct lh_order_totals *totals)
{
    begin(f, "end");
    lh_fmt_key_unsigned(f, "locks", nlocks);
    lh_fmt_key_unsigned(f, "threads", nthreads);
    lh_fmt_key_unsigned(f, "orders", totals->edges);
    lh_fmt_key_unsigned(f, "dependencies", totals->dependencies);
    end(f);
}
