/* SPDX-License-Identifier: MIT
 *
 * content.h - what a report is of: all that a renderer is given.
 */
#ifndef LH_TOOLS_CONTENT_H
#define LH_TOOLS_CONTENT_H

#include <stdbool.h>
#include <stddef.h>

#include "findings.h"
#include "style.h"

struct lh_model_process;
struct lh_naming;
struct lh_progress;
struct lh_summary;
struct lh_symbols;

struct lh_content {
    bool all;     /* conditional findings, and those that are known, too */
    bool verbose; /* the text has all that is recorded */
    bool gen_suppressions; /* the text has the rule of each finding */
    enum lh_colour colour;
    struct lh_symbols *symbols;
    struct lh_naming *names;
    const struct lh_findings *findings; /* sorted */
    const struct lh_summary *summary;
    struct lh_model_process *const *processes;
    size_t nprocesses;
    struct lh_progress *progress; /* a step for each finding that is written;
                                   * formats.c sets it */
};

#endif
