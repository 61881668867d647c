/* SPDX-License-Identifier: MIT
 * trace.c - a recorded stack as lines of source. */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

#include "place.h"
#include "pool.h"
#include "symbols.h"

struct lines {
    struct lh_trace_line *list; /* heap */
    size_t n, capacity;
};

static void add(struct lines *l, struct lh_trace_line line)
{
    l->list = lh_pool_grow(l->list, l->n, &l->capacity, sizeof *l->list);
    l->list[l->n++] = line;
}

static void add_frame(struct lines *l, struct lh_symbols *symbols,
                      const struct lh_model_process *process,
                      struct lh_model_frame frame)
{
    const struct lh_model_module *m = lh_model_module(process, frame.module);
    struct lh_trace_line line = { "",    "", "",           0, false,
                                  false, "", frame.offset, m };
    size_t n = 0;
    const struct lh_symbols_place *places = NULL;
    if (m) {
        line.module = m->path;
        places = lh_symbols_code(lh_symbols_open(symbols, m), frame.offset,
                                 true, &n);
    }
    for (size_t i = 0; i < n; i++) {
        line.function = places[i].function;
        line.file = places[i].file;
        line.built_in = places[i].built_in;
        line.line = places[i].line;
        line.inlined = places[i].inlined;
        add(l, line);
    }
    if (n == 0)
        add(l, line);
}

static bool begins(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strncmp(text, *words, strlen(*words)) == 0)
            return true;
    return false;
}

/* The rest of a name that is in namespace std, without the inline namespaces
 * of libstdc++ and libc++; NULL if it is elsewhere. */
static const char *in_std(const char *function)
{
    static const char *const versions[] = { "__1::", "__ndk1::", "__cxx11::",
                                            "_V2::", NULL };
    static const char lambda[] = "lambda in ";
    while (strncmp(function, lambda, sizeof lambda - 1) == 0)
        function += sizeof lambda - 1;
    if (strncmp(function, "std::", 5) != 0)
        return NULL;
    const char *rest = function + 5;
    for (const char *const *v = versions; *v; v++)
        if (strncmp(rest, *v, strlen(*v)) == 0)
            rest += strlen(*v);
    return rest;
}

/* Whether a component of the name, outside of template arguments, begins with
 * an underscore, as only an implementation's own may. */
static bool is_internal(const char *name)
{
    size_t depth = 0;
    bool start = true;
    for (; *name; name++) {
        if (start && depth == 0 && *name == '_')
            return true;
        start = *name == ':';
        depth += *name == '<' || *name == '(';
        depth -= depth && (*name == '>' || *name == ')');
    }
    return false;
}

/* What calls the program's functions for it: invoke, function, thread, and the
 * guards of locks that are the program's own. */
static bool is_plumbing(const struct lh_trace_line *line)
{
    static const char *const names[] = {
        "invoke",       "function<",    "thread::",
        "jthread::",    "apply",        "tuple<",
        "bind",         "call_once<",   "lock_guard<",
        "unique_lock<", "scoped_lock<", "shared_lock<",
        "lock<",        "try_lock<",    NULL
    };
    /* What runs a once, and what is in std but could not be demangled. */
    static const char *const others[] = { "__pthread_once", "__gthread_once",
                                          "_ZNSt", NULL };
    const char *rest = in_std(line->function);
    bool lambda = rest && line->function[0] == 'l';
    if (begins(line->function, others))
        return true;
    return rest && (lambda || begins(rest, names) || is_internal(rest));
}

bool lh_trace_is_runtime(const struct lh_trace_line *line)
{
    static const char *const modules[] = { "libc.so",    "libc-2",
                                           "libpthread", "ld-linux",
                                           "libstdc++",  "libc++",
                                           NULL };
    static const char *const functions[] = { "start_thread",
                                             "clone",
                                             "__clone",
                                             "_start",
                                             "__libc_start",
                                             "execute_native_thread_routine",
                                             "asan_thread_start",
                                             "__tsan_thread_start_func",
                                             "__interceptor_",
                                             "___interceptor_",
                                             NULL };
    return begins(lh_place_base(line->module), modules) ||
           begins(line->function, functions) || is_plumbing(line);
}

bool lh_trace_is_wrapper(const struct lh_trace_line *line)
{
    static const char *const functions[] = {
        "__gthread",      "__gnu_cxx",       "lockhound_",
        "__interceptor_", "___interceptor_", NULL
    };
    return begins(line->function, functions) || in_std(line->function);
}

/* A hook that the program's code or a routine of it runs under. */
static bool is_hook(const struct lh_trace_line *line)
{
    static const char *const modules[] = { "liblockhound.so", NULL };
    return begins(lh_place_base(line->module), modules);
}

bool lh_trace_is_outside(const struct lh_trace_line *line)
{
    return line->hidden || lh_trace_is_wrapper(line) || is_hook(line) ||
           lh_trace_is_runtime(line);
}

static void hide(struct lh_trace_line *lines, size_t n)
{
    size_t first = 0, end = n;
    while (end > 1 && lh_trace_is_runtime(&lines[end - 1]))
        lines[--end].hidden = true;
    while (first + 1 < end && lh_trace_is_wrapper(&lines[first]))
        lines[first++].hidden = true;
    for (size_t i = first + 1; i < end; i++)
        lines[i].hidden = is_plumbing(&lines[i]) || is_hook(&lines[i]);
}

struct lh_trace lh_trace_read(struct lh_pool *pool, struct lh_symbols *symbols,
                              const struct lh_model_process *process,
                              uint64_t stack)
{
    const struct lh_model_stack *s = lh_model_stack(process, stack);
    struct lines l = { 0 };
    if (!s)
        return (struct lh_trace){ 0 };
    for (size_t i = 0; i < s->nframes; i++)
        add_frame(&l, symbols, process, s->frames[i]);
    struct lh_trace_line *kept = lh_pool_array(pool, l.n, sizeof *kept);
    if (l.n)
        memcpy(kept, l.list, l.n * sizeof *kept);
    free(l.list);
    hide(kept, l.n);
    return (struct lh_trace){ kept, l.n, true, s->partial, s->truncated };
}

struct lh_trace lh_trace_cut(struct lh_pool *pool, struct lh_trace trace)
{
    struct lh_trace_line *kept = lh_pool_array(pool, trace.n, sizeof *kept);
    size_t n = 0;
    for (size_t i = 0; i < trace.n; i++)
        if (!trace.lines[i].hidden)
            kept[n++] = trace.lines[i];
    trace.lines = kept;
    trace.n = n;
    return trace;
}

static const char *in_module(struct lh_pool *pool,
                             const struct lh_trace_line *line)
{
    unsigned long long offset = line->offset;
    if (!*line->module)
        return lh_pool_format(pool, "0x%llx", offset);
    return lh_pool_format(pool, "%s+0x%llx", lh_place_base(line->module),
                          offset);
}

const char *lh_trace_where(struct lh_pool *pool,
                           const struct lh_trace_line *line)
{
    if (*line->file)
        return lh_place_short(pool, line->file, line->built_in, line->line);
    if (*line->function && !is_plumbing(line))
        return lh_pool_format(pool, "%s in %s", line->function,
                              lh_place_base(line->module));
    return in_module(pool, line);
}

const char *lh_trace_function(struct lh_pool *pool,
                              const struct lh_trace_line *line)
{
    return *line->function ? line->function : in_module(pool, line);
}

const char *lh_trace_start(struct lh_symbols *symbols,
                           const struct lh_model_process *process,
                           struct lh_model_frame frame)
{
    const struct lh_model_module *m = lh_model_module(process, frame.module);
    size_t n = 0;
    if (!m)
        return "";
    const struct lh_symbols_place *places =
        lh_symbols_code(lh_symbols_open(symbols, m), frame.offset, false, &n);
    return n ? places[n - 1].function : "";
}
