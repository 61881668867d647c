/* SPDX-License-Identifier: MIT
 * inspect.c - lockhound inspect. */
#include "inspect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core.h"
#include "diag.h"
#include "heapname.h"
#include "holds.h"
#include "naming.h"
#include "options.h"
#include "place.h"
#include "proc.h"
#include "stop.h"
#include "symbols.h"
#include "unwind.h"

enum { STATUS_HAPPENED = 67, SETTLE_MS = 50 };

/* Or of what stands between it and the program: our own hooks. */
static bool is_of_libc(const char *path)
{
    static const char *const modules[] = { "libc.so", "libc-2", "libpthread",
                                           "ld-linux", "liblockhound" };
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (strncmp(lh_place_base(path), modules[i], strlen(modules[i])) == 0)
            return true;
    return false;
}

static const char *function_name(void *ctx, size_t thread, size_t frame)
{
    const struct lh_inspection *in = ctx;
    const struct lh_explain *e = &in->explain;
    const struct lh_model_stack *s = lh_model_stack(e->process, thread + 1);
    const struct lh_model_module *m =
        s && frame < s->nframes
            ? lh_model_module(e->process, s->frames[frame].module)
            : NULL;
    size_t n = 0;
    if (m && !is_of_libc(m->path))
        return NULL;
    const struct lh_symbols_place *places =
        m ? lh_symbols_code(lh_symbols_open(e->symbols, m),
                            s->frames[frame].offset, true, &n)
          : NULL;
    return n ? places[n - 1].function : "";
}

static void find_waits(struct lh_inspection *in, bool named)
{
    for (size_t i = 0; i < in->o.nthreads; i++)
        in->waits[i] = lh_waits_of(&in->o, i, named ? function_name : NULL, in);
    for (size_t i = 0; i < in->o.nthreads; i++)
        lh_waits_add_owners(&in->o, i, &in->waits[i]);
}

static void add_ring(struct lh_inspection *in, const size_t *ring, size_t n)
{
    size_t *copy = lh_pool_array(in->o.pool, n, sizeof *copy);
    memcpy(copy, ring, n * sizeof *copy);
    in->rings[in->nrings] = copy;
    in->ring_sizes[in->nrings++] = n;
    for (size_t i = 0; i < n; i++)
        in->ring_of[ring[i]] = in->nrings;
}

bool lh_inspect_is_endless(const struct lh_wait *w)
{
    return w->kind == LH_WAITS_REFUSED || (w->owner_gone && !w->limited);
}

static void find_rings(struct lh_inspection *in)
{
    size_t n = in->o.nthreads;
    size_t *ring = lh_pool_array(in->o.pool, n + 1, sizeof *ring);
    in->rings = lh_pool_array(in->o.pool, n, sizeof *in->rings);
    in->ring_sizes = lh_pool_array(in->o.pool, n, sizeof *in->ring_sizes);
    in->ring_of = lh_pool_array(in->o.pool, n, sizeof *in->ring_of);
    for (size_t i = 0; i < n; i++) {
        size_t size =
            in->ring_of[i] ? 0 : lh_waits_ring(&in->o, in->waits, i, ring);
        if (size)
            add_ring(in, ring, size);
        in->has_endless |= lh_inspect_is_endless(&in->waits[i]);
    }
}

/* ---- without a stop, what is seen is true only if it stays so ---- */

struct sight {
    uint64_t tid, switches, wants;
    bool joins;
};

static struct sight *take_sight(const struct lh_outside *o)
{
    struct sight *s = lh_pool_array(o->pool, o->nthreads, sizeof *s);
    for (size_t i = 0; i < o->nthreads; i++) {
        const struct lh_outside_thread *t = &o->threads[i];
        s[i] = (struct sight){ t->tid, lh_proc_switches(o, t->tid), t->wants,
                               t->joins };
    }
    return s;
}

/* A thread that the preload lets look up from its wait now and then has run,
 * and waits for the same. */
static bool stood_still(const struct lh_outside *o, const struct sight *before,
                        size_t nbefore, size_t thread)
{
    const struct lh_outside_thread *t = &o->threads[thread];
    for (size_t i = 0; i < nbefore; i++)
        if (before[i].tid == t->tid)
            return before[i].switches == lh_proc_switches(o, t->tid) ||
                   (t->wants && t->wants == before[i].wants) ||
                   (t->joins && before[i].joins);
    return false;
}

/* Looks twice: a thread that has run in between waits for nothing. */
static void look_without_stop(struct lh_inspection *in)
{
    struct timespec pause = { 0, SETTLE_MS * 1000000L };
    size_t nbefore = in->o.nthreads;
    lh_holds_read(&in->o);
    struct sight *before = take_sight(&in->o);
    nanosleep(&pause, NULL);
    lh_proc_look(&in->o);
    lh_holds_read(&in->o);
    in->waits = lh_pool_array(in->o.pool, in->o.nthreads, sizeof *in->waits);
    find_waits(in, false);
    for (size_t i = 0; i < in->o.nthreads; i++)
        if (!stood_still(&in->o, before, nbefore, i))
            in->waits[i] = (struct lh_wait){ .kind = LH_WAITS_NOT };
}

/* The setting that keeps a process from looking at others of its user. */
static const char *ptrace_scope(struct lh_pool *pool)
{
    char scope[16] = "0";
    FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
    if (f) {
        if (!fgets(scope, sizeof scope, f))
            *scope = '0';
        fclose(f);
    }
    scope[strcspn(scope, "\n")] = '\0';
    if (strcmp(scope, "0") == 0)
        return "";
    return lh_pool_format(pool, " and kernel.yama.ptrace_scope 0, which is %s",
                          scope);
}

/* Why a process cannot be looked at, and what is needed. */
static const char *refusal(struct lh_pool *pool, int error, bool at_stop)
{
    if (error == ESRCH)
        return "no such process (expected a process id or a core file)";
    if (error == ECHILD)
        return "has ended, or is the kernel's (expected a living process)";
    if (error == ENOEXEC)
        return "of another architecture (expected x86-64)";
    if (error == EBUSY)
        return "sleeps in the kernel where nothing stops it (expected: "
               "--no-stop)";
    if (error == EPERM && at_stop)
        return "not permitted to stop it, or another debugger has it "
               "(expected: --no-stop, or as root)";
    if (error == EPERM || error == EACCES)
        return lh_pool_format(pool,
                              "not permitted to look at it (expected: same "
                              "user%s, or root)",
                              ptrace_scope(pool));
    return strerror(error);
}

/* Returns NULL, or why not. */
static const char *open_process(struct lh_inspection *in, struct lh_pool *pool,
                                uint64_t pid, bool no_stop)
{
    int error = lh_proc_open(&in->o, pool, pid);
    if (error)
        return refusal(pool, error, false);
    error = no_stop ? 0 : lh_stop(&in->o);
    if (error)
        return refusal(pool, error, true);
    if (!no_stop)
        lh_unwind_live(&in->o);
    return NULL;
}

/* Digits are a process. */
static void open_target(struct lh_inspection *in, struct lh_pool *pool,
                        const struct lh_options *options)
{
    const char *target = options->rest[0];
    char *end;
    unsigned long long pid = strtoull(target, &end, 10);
    if (*target >= '0' && *target <= '9' && !*end) {
        if (options->nrest > 1)
            lh_diag_fail("inspect: '%s' is too much (expected one process)",
                         options->rest[1]);
        const char *why = open_process(in, pool, pid, options->no_stop);
        if (why)
            lh_diag_fail("inspect: process %llu: %s", pid, why);
        return;
    }
    if (options->nrest > 2)
        lh_diag_fail("inspect: '%s' is too much (expected CORE and EXE)",
                     options->rest[2]);
    lh_core_open(&in->o, pool, target, options->rest[1]);
}

static FILE *open_output(const char *path)
{
    FILE *out = path ? fopen(path, "we") : stdout;
    if (!out)
        lh_diag_fail("inspect: %s: %s", path, strerror(errno));
    return out;
}

static void write_report(const struct lh_inspection *in,
                         const struct lh_options *options)
{
    FILE *out = open_output(options->output);
    bool colour = lh_style_wanted(options->colour, fileno(out));
    int error = 0;
    if (options->json)
        error = lh_inspect_json(out, in);
    else
        lh_inspect_text(out, colour, in);
    if (fflush(out) != 0 || ferror(out) || error)
        lh_diag_fail("inspect: %s: cannot be written",
                     options->output ? options->output : "stdout");
    if (out != stdout)
        fclose(out);
}

/* What a lock is a member of is seen where threads wait for it, or have taken
 * it. */
static void hint_names(struct lh_inspection *in)
{
    const struct lh_picture *p = &in->picture;
    for (size_t i = 0; i < in->o.nthreads; i++)
        lh_heapname_hint(&in->explain, p->lock_ids[i], i + 1);
    for (size_t i = 0; i < in->o.nthreads; i++)
        for (size_t j = 0; j < in->o.threads[i].nholds; j++)
            lh_heapname_hint(&in->explain, p->holds[i][j].lock,
                             p->holds[i][j].stack);
}

/* After the target was opened: what is known of it. */
static void explain(struct lh_inspection *in, struct lh_naming *names,
                    bool no_stop)
{
    static const struct lh_model_finding none;
    if (no_stop)
        look_without_stop(in);
    else
        in->waits =
            lh_pool_array(in->o.pool, in->o.nthreads, sizeof *in->waits);
    lh_picture_begin(&in->picture, &in->o);
    lh_explain_begin(&in->explain, in->o.pool, lh_symbols_new(), names,
                     in->picture.model, &none);
    if (!no_stop)
        find_waits(in, true);
    lh_picture_locks(&in->picture, &in->o, in->waits);
    hint_names(in);
    for (size_t i = 0; i < in->o.nthreads; i++)
        lh_naming_add(&in->explain, in->picture.lock_ids[i]);
    for (size_t i = 0; i < in->o.nthreads; i++)
        for (size_t j = 0; j < in->o.threads[i].nholds; j++)
            lh_naming_add(&in->explain, in->picture.holds[i][j].lock);
    find_rings(in);
}

static void end(struct lh_inspection *in, struct lh_naming *names)
{
    struct lh_pool *pool = in->o.pool;
    if (in->o.source)
        lh_core_close(&in->o);
    lh_naming_free(names);
    lh_symbols_free(in->explain.symbols);
    lh_picture_end(&in->picture);
    lh_pool_free(pool);
}

int lh_inspect_main(int argc, char **argv)
{
    struct lh_options options;
    struct lh_pool pool = { 0 };
    struct lh_naming names = { 0 };
    struct lh_inspection in = { .has_endless = false };
    lh_options_parse(LH_OPTIONS_INSPECT, argc, argv, &options);
    open_target(&in, &pool, &options);
    explain(&in, &names, options.no_stop);
    write_report(&in, &options);
    int status = in.nrings || in.has_endless ? STATUS_HAPPENED : 0;
    end(&in, &names);
    lh_options_free(&options);
    return status;
}

bool lh_inspect_show(FILE *out, bool colour, uint64_t pid)
{
    struct lh_pool pool = { 0 };
    struct lh_naming names = { 0 };
    struct lh_inspection in = { .has_endless = false };
    const char *why = open_process(&in, &pool, pid, false);
    if (why) {
        lh_diag_say("process %llu: %s", (unsigned long long)pid, why);
        lh_pool_free(&pool);
        return false;
    }
    explain(&in, &names, false);
    lh_inspect_text(out, colour, &in);
    bool found = in.nrings || in.has_endless;
    end(&in, &names);
    return found;
}
