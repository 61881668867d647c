/* SPDX-License-Identifier: MIT
 * inspect.c - lockhound inspect. */
#include "inspect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core.h"
#include "diag.h"
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
    uint64_t tid, switches;
};

static struct sight *take_sight(const struct lh_outside *o)
{
    struct sight *s = lh_pool_array(o->pool, o->nthreads, sizeof *s);
    for (size_t i = 0; i < o->nthreads; i++)
        s[i] = (struct sight){ o->threads[i].tid,
                               lh_proc_switches(o, o->threads[i].tid) };
    return s;
}

static bool stood_still(const struct lh_outside *o, const struct sight *before,
                        size_t nbefore, size_t thread)
{
    uint64_t tid = o->threads[thread].tid;
    for (size_t i = 0; i < nbefore; i++)
        if (before[i].tid == tid)
            return before[i].switches == lh_proc_switches(o, tid);
    return false;
}

/* Looks twice: a thread that has run in between waits for nothing. */
static void look_without_stop(struct lh_inspection *in)
{
    struct timespec pause = { 0, SETTLE_MS * 1000000L };
    size_t nbefore = in->o.nthreads;
    struct sight *before = take_sight(&in->o);
    nanosleep(&pause, NULL);
    lh_proc_look(&in->o);
    in->waits = lh_pool_array(in->o.pool, in->o.nthreads, sizeof *in->waits);
    find_waits(in, false);
    for (size_t i = 0; i < in->o.nthreads; i++)
        if (!stood_still(&in->o, before, nbefore, i))
            in->waits[i] = (struct lh_wait){ .kind = LH_WAITS_NOT };
}

static void look(struct lh_inspection *in, const struct lh_options *options)
{
    if (options->no_stop) {
        look_without_stop(in);
        return;
    }
    in->waits = lh_pool_array(in->o.pool, in->o.nthreads, sizeof *in->waits);
}

static void stop_and_copy(struct lh_outside *o)
{
    int error = lh_stop(o);
    if (error == EPERM)
        lh_diag_fail("inspect: process %llu: not permitted to stop it, or "
                     "another debugger has it (expected: --no-stop, or as "
                     "root)",
                     (unsigned long long)o->pid);
    if (error)
        lh_diag_fail("inspect: process %llu: %s", (unsigned long long)o->pid,
                     strerror(error));
    lh_unwind_live(o);
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
        lh_proc_open(&in->o, pool, pid);
        if (!options->no_stop)
            stop_and_copy(&in->o);
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

int lh_inspect_main(int argc, char **argv)
{
    struct lh_options options;
    struct lh_pool pool = { 0 };
    struct lh_naming names = { 0 };
    struct lh_inspection in = { .has_endless = false };
    lh_options_parse(LH_OPTIONS_INSPECT, argc, argv, &options);
    open_target(&in, &pool, &options);
    look(&in, &options);
    lh_picture_begin(&in.picture, &in.o);
    in.explain = (struct lh_explain){ .pool = &pool,
                                      .symbols = lh_symbols_new(),
                                      .process = in.picture.model,
                                      .names = &names };
    if (!options.no_stop)
        find_waits(&in, true);
    lh_picture_locks(&in.picture, &in.o, in.waits);
    for (size_t i = 0; i < in.o.nthreads; i++)
        lh_naming_add(&in.explain, in.picture.lock_ids[i]);
    find_rings(&in);
    write_report(&in, &options);
    int status = in.nrings || in.has_endless ? STATUS_HAPPENED : 0;
    lh_naming_free(&names);
    lh_symbols_free(in.explain.symbols);
    lh_model_free(in.picture.model);
    lh_pool_free(&pool);
    return status;
}
