/* SPDX-License-Identifier: MIT
 * printer.c - findings as text on stderr. */
#include "runtime/printer.h"

#include <string.h>

#include "runtime/elfsym.h"
#include "runtime/fmt.h"
#include "runtime/held.h"
#include "runtime/lockname.h"
#include "runtime/logfile.h"
#include "runtime/modules.h"
#include "runtime/rawlock.h"
#include "runtime/stacks.h"

/* The trace and the name are too large for the target's stack. One finding is
 * printed at a time. */
static struct lh_rawlock printing;
static struct lh_trace trace;
static char symbol[512];

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static const char *module_path(uint32_t module)
{
    const char *path;

    lh_stacks_lock();
    path = module ? lh_module_get(module)->path : NULL;
    lh_stacks_unlock();
    return path;
}

/* "name+0x1c (module)", or "module+0x4a10", or an address. back is 1 for a
 * return address: the call may be the last instruction of its function. */
static void place(struct lh_fmt *f, uint32_t module, uint64_t offset,
                  uint64_t back)
{
    const char *path = module_path(module);
    uint64_t from_start;

    if (path && lh_elfsym_find(path, offset - back, symbol, sizeof symbol,
                               &from_start)) {
        lh_fmt_text(f, symbol);
        if (from_start + back) {
            lh_fmt_text(f, "+");
            lh_fmt_hex(f, from_start + back);
        }
        lh_fmt_text(f, " (");
        lh_fmt_text(f, base_name(path));
        lh_fmt_text(f, ")");
        return;
    }
    if (path) {
        lh_fmt_text(f, base_name(path));
        lh_fmt_text(f, "+");
    }
    lh_fmt_hex(f, offset);
}

/* The module of an address, 0 if it has none. */
static uint32_t locate(uintptr_t address, uint64_t *offset)
{
    uint32_t module;

    lh_stacks_lock();
    module = lh_module_find(address);
    *offset = address - lh_module_base(module);
    lh_stacks_unlock();
    return module;
}

static void function_name(struct lh_fmt *f, const void *start)
{
    uint64_t offset;
    uint32_t module = locate((uintptr_t)start, &offset);

    place(f, module, offset, 0);
}

static void first_frame(struct lh_fmt *f, uint32_t stack)
{
    lh_stack_trace(stack, &trace);
    if (trace.nframes)
        place(f, trace.frames[0].module, trace.frames[0].offset, 1);
}

static void stack_lines(struct lh_fmt *f, uint32_t stack)
{
    lh_stack_trace(stack, &trace);
    for (size_t i = 0; i < trace.nframes; i++) {
        lh_fmt_text(f, "\n      ");
        place(f, trace.frames[i].module, trace.frames[i].offset, 1);
    }
    if (trace.partial)
        lh_fmt_text(f, "\n      (callers not recorded)");
}

/* What to call a lock: its annotation, the name that its kind gives it, its
 * symbol, or where it was born. */
static void lock_name(struct lh_fmt *f, const struct lh_lock_info *lock)
{
    uint32_t module;
    uint64_t offset, from_start;
    const char *path;
    char own[LH_LOCKNAME_BYTES];

    if (lock->annotation && lock->annotation->name) {
        lh_fmt_text(f, lock->annotation->name);
        return;
    }
    if (lh_lockname(lock, own)) {
        lh_fmt_text(f, own);
        return;
    }
    module = locate(lock->address, &offset);
    path = module_path(module);
    if (path &&
        lh_elfsym_find(path, offset, symbol, sizeof symbol, &from_start)) {
        lh_fmt_text(f, symbol);
        if (from_start) {
            lh_fmt_text(f, "+");
            lh_fmt_unsigned(f, from_start);
        }
        return;
    }
    lh_fmt_text(f, lh_kind_noun(lock->kind));
    lh_fmt_text(f, " #");
    lh_fmt_unsigned(f, lock->serial);
    if (lock->born) {
        lh_fmt_text(f, lock->initialized ? " initialized at "
                                         : " first taken at ");
        first_frame(f, lock->born);
    }
}

static void thread_name(struct lh_fmt *f, const struct lh_finding_thread *t)
{
    lh_fmt_text(f, "T");
    lh_fmt_unsigned(f, t->number);
    if (*t->name) {
        lh_fmt_text(f, " \"");
        lh_fmt_text(f, t->name);
        lh_fmt_text(f, "\"");
    }
    if (t->tid) {
        lh_fmt_text(f, " (tid ");
        lh_fmt_unsigned(f, (uint64_t)t->tid);
        if (t->start) {
            lh_fmt_text(f, ", started at ");
            function_name(f, t->start);
        }
        lh_fmt_text(f, ")");
    }
}

/* A lock that knows readers and writers. */
static bool is_shareable(const struct lh_lock_info *lock)
{
    return lock->kind == LH_KIND_RWLOCK || lock->kind == LH_KIND_GRWLOCK;
}

static bool is_initialization(const struct lh_lock_info *lock)
{
    return lock->kind == LH_KIND_ONCE || lock->kind == LH_KIND_STATIC_INIT;
}

static void waits_for(struct lh_fmt *f, const struct lh_finding_side *s)
{
    lh_fmt_text(f, !is_shareable(&s->wants)          ? "waits for "
                   : s->side.wants_mode == LH_SHARED ? "waits to read "
                                                     : "waits to write ");
    lock_name(f, &s->wants);
}

static void side(struct lh_fmt *f, const struct lh_finding_side *s)
{
    lh_fmt_text(f, "\n  ");
    thread_name(f, &s->thread);
    lh_fmt_text(f, "\n    ");
    if (s->side.holds_mode == LH_QUEUED) {
        waits_for(f, s);
        lh_fmt_text(f, ", ahead of later readers, at");
        stack_lines(f, s->side.wants_stack);
        return;
    }
    if (s->holds.kind != LH_KIND_THREAD) { /* nobody took the end of one */
        lh_fmt_text(f,
                    is_initialization(&s->holds) ? "initializes " : "holds ");
        lock_name(f, &s->holds);
        if (s->side.holds_mode == LH_SHARED)
            lh_fmt_text(f, " for reading");
        lh_fmt_text(f,
                    is_initialization(&s->holds) ? ", begun at" : ", taken at");
        stack_lines(f, s->side.holds_stack);
        lh_fmt_text(f, "\n    and ");
    }
    waits_for(f, s);
    lh_fmt_text(f, " at");
    stack_lines(f, s->side.wants_stack);
}

static void reason(struct lh_fmt *f, const struct lh_finding_reason *fr)
{
    const struct lh_reason *r = &fr->reason;

    lh_fmt_text(f, "\n  not in this run: ");
    switch (r->kind) {
    case LH_REASON_GATE:
        lh_fmt_text(f, "both sides hold ");
        lock_name(f, &fr->lock);
        lh_fmt_text(f, ", taken at ");
        first_frame(f, r->stack_a);
        lh_fmt_text(f, " and ");
        first_frame(f, r->stack_b);
        break;
    case LH_REASON_ONE_THREAD:
        lh_fmt_text(f, "only thread T");
        lh_fmt_unsigned(f, r->thread);
        lh_fmt_text(f, " was seen");
        break;
    case LH_REASON_FEW_THREADS:
        lh_fmt_text(f, "only ");
        lh_fmt_unsigned(f, r->count);
        lh_fmt_text(f, " distinct threads were seen");
        break;
    case LH_REASON_ORDERED:
        lh_fmt_text(f, "thread creation and join keep the sides apart");
        break;
    case LH_REASON_TIMED:
        lh_fmt_text(f, "a wait in it is bounded by a timeout");
        break;
    case LH_REASON_TRIED:
        lh_fmt_text(f, "a side of it was only seen to try, not to wait");
        break;
    case LH_REASON_UNSEEN_END:
        lh_fmt_text(f, "the end of ");
        lock_name(f, &fr->lock);
        lh_fmt_text(f, " cannot be seen: it may be two locks, one after the "
                       "other at one address");
        break;
    }
}

/* Whether all sides hold one lock, as where two readers wait to write. */
static bool is_over_one(const struct lh_finding *finding)
{
    if (finding->grade != LH_HAPPENED)
        return false;
    for (size_t i = 1; i < finding->nsides; i++)
        if (finding->sides[i].holds.serial != finding->sides[0].holds.serial)
            return false;
    return true;
}

/* A lock that a writer waits for is held by another side, too. */
static void list_locks(struct lh_fmt *f, const struct lh_finding *finding)
{
    size_t nlocks = 0, n = 0;

    for (size_t i = 0; i < finding->nsides; i++)
        nlocks += finding->sides[i].side.holds_mode != LH_QUEUED;
    for (size_t i = 0; i < finding->nsides; i++) {
        if (finding->sides[i].side.holds_mode == LH_QUEUED)
            continue;
        if (n++)
            lh_fmt_text(f, n == nlocks ? " and " : ", ");
        lock_name(f, &finding->sides[i].holds);
        if (is_over_one(finding))
            return;
    }
}

static void ring(struct lh_fmt *f, const struct lh_finding *finding)
{
    static const char *const whats[] = { "conditional ring ",
                                         "potential deadlock ", "deadlock " };

    lh_fmt_text(f, whats[finding->grade]);
    lh_fmt_text(f, lh_finding_word(finding->kind));
    lh_fmt_text(f, finding->kind == LH_NESTED_READ ? ": nested read of "
                   : is_over_one(finding)          ? " over "
                                                   : " between ");
    list_locks(f, finding);
    if (finding->kind == LH_NESTED_READ)
        lh_fmt_text(f, " while another thread writes it");
    for (size_t i = 0; i < finding->nsides; i++)
        side(f, &finding->sides[i]);
    for (size_t i = 0; i < finding->nreasons; i++)
        reason(f, &finding->reasons[i]);
}

/* How a finding about one lock reads: "<before> <lock> <after> <thread>". */
static const struct sentence {
    enum lh_finding_kind kind;
    const char *detail; /* NULL: any */
    const char *before, *after;
    const char *holder; /* before who holds it; NULL: not told */
} sentences[] = {
    { LH_SELF, NULL, "self-deadlock LH003: ",
      " is requested by its own holder, ", "it was taken by " },
    { LH_ENDLESS, NULL, "endless wait LH004: ",
      " was held by a thread that has ended, and is requested by ",
      "it was held by " },
    { LH_NOT_HELD, NULL, "LH010: ", " is released but not held, by ", NULL },
    { LH_NOT_HOLDER, NULL, "LH011: ",
      " is released, but not by its holder, by ", "it was taken by " },
    { LH_ENDED_HELD, NULL, "LH012: ", " is destroyed or freed while held, by ",
      "it was taken by " },
    { LH_USED_ENDED, NULL, "LH013: ", " is used after it was destroyed, by ",
      "it was destroyed by " },
    { LH_INIT_IN_USE, NULL, "LH014: ", " is initialized while in use, by ",
      "it was taken by " },
    { LH_THREAD_ENDED, NULL, "LH015: ", " is still held at the end of ",
      "it was taken by " },
    { LH_ASSERTION, "held", "LH016 assertion failed: ", " is not held by ",
      NULL },
    { LH_ASSERTION, "not-held", "LH016 assertion failed: ", " is held by ",
      NULL },
    { LH_CONDITION_LOCK, "two-mutexes", "LH017: ",
      " and another mutex are waited with on one condition at once, by ",
      "the other by " },
    { LH_CONDITION_LOCK, NULL, "LH017: ",
      " is not held but a condition is waited on with it, by ", NULL },
    { LH_FORKED_HELD, NULL, "deadlock after fork LH020: ",
      " was held by a thread of the parent that this child has not, and is "
      "requested by ",
      "it was taken by " },
};

static const struct sentence *sentence_of(const struct lh_finding *finding)
{
    const struct sentence *s = sentences;

    while (s->kind != finding->kind ||
           (s->detail &&
            (!finding->detail || strcmp(s->detail, finding->detail) != 0)))
        s++;
    return s;
}

static void misuse(struct lh_fmt *f, const struct lh_finding *finding)
{
    const struct sentence *s = sentence_of(finding);

    lh_fmt_text(f, s->before);
    lock_name(f, &finding->lock);
    lh_fmt_text(f, s->after);
    thread_name(f, &finding->thread);
    /* The end of a thread has no place but where it took the lock. */
    if (finding->kind != LH_THREAD_ENDED) {
        lh_fmt_text(f, " at");
        stack_lines(f, finding->stack);
    }
    if (!s->holder || !finding->holder.number)
        return;
    lh_fmt_text(f, "\n    ");
    lh_fmt_text(f, s->holder);
    thread_name(f, &finding->holder);
    if (!finding->holder_stack)
        return;
    lh_fmt_text(f, " at");
    stack_lines(f, finding->holder_stack);
}

void lh_printer_finding(const struct lh_finding *finding)
{
    struct lh_fmt f = { 0 };

    lh_rawlock_take(&printing);
    lh_fmt_text(&f, "lockhound: ");
    if (finding->nsides)
        ring(&f, finding);
    else
        misuse(&f, finding);
    lh_fmt_text(&f, "\n");
    lh_rawlock_give(&printing);
    if (f.failed)
        lh_printer_note("out of memory: a finding could not be printed");
    else
        lh_stderr_write(f.text, f.length);
    lh_fmt_free(&f);
}

void lh_printer_after_fork(void)
{
    lh_rawlock_reset(&printing);
}

void lh_printer_note(const char *text)
{
    static const char before[] = "lockhound: ";
    char line[256]; /* memory may be what is short */
    size_t n = sizeof before - 1, length = strnlen(text, sizeof line - 1 - n);

    memcpy(line, before, n);
    memcpy(line + n, text, length);
    line[n + length] = '\n';
    lh_stderr_write(line, n + length + 1);
}
