/* SPDX-License-Identifier: MIT
 *
 * trace.h - a recorded stack as lines of source.
 */
#ifndef LH_TOOLS_TRACE_H
#define LH_TOOLS_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model.h"

struct lh_pool;
struct lh_symbols;

struct lh_trace_line {
    const char *function; /* "" if not known */
    const char *file, *built_in;
    int line;
    bool inlined;
    bool hidden;        /* see lh_trace_cut() */
    const char *module; /* path; "" if not known */
    uint64_t offset;    /* in the module, or an address; as recorded */
    const struct lh_model_module *record; /* NULL if not known */
};

struct lh_trace {
    const struct lh_trace_line *lines; /* innermost first */
    size_t n;
    bool known;     /* the stack's record is there */
    bool partial;   /* its callers were not recorded */
    bool truncated; /* it has more frames than were recorded */
};

/* All of the stack. Strings belong to symbols, process and pool. */
struct lh_trace lh_trace_read(struct lh_pool *pool, struct lh_symbols *symbols,
                              const struct lh_model_process *process,
                              uint64_t stack);

/* Without the hidden lines, which are no part of the program: the frames of
 * libc below main and below a thread's start, the library functions that only
 * pass a lock on (std::mutex::lock) or a call (std::__invoke). One line at
 * least is never hidden. */
struct lh_trace lh_trace_cut(struct lh_pool *pool, struct lh_trace trace);

/* "bank.c:31", else "transfer in bank", else "bank+0x1234". */
const char *lh_trace_where(struct lh_pool *pool,
                           const struct lh_trace_line *line);

/* "transfer", else "bank+0x1234". */
const char *lh_trace_function(struct lh_pool *pool,
                              const struct lh_trace_line *line);

/* Whether a function belongs to libc or is plumbing of the C++ library. */
bool lh_trace_is_runtime(const struct lh_trace_line *line);

/* What stands between the program and a hook, inlined or not. */
bool lh_trace_is_wrapper(const struct lh_trace_line *line);

/* Whether it is no part of the program for any of these reasons. */
bool lh_trace_is_outside(const struct lh_trace_line *line);

/* The function at a frame that is no return address, or "". */
const char *lh_trace_start(struct lh_symbols *symbols,
                           const struct lh_model_process *process,
                           struct lh_model_frame frame);

#endif
