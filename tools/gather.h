/* SPDX-License-Identifier: MIT
 *
 * gather.h - the findings in record files, in folders of them and in stores.
 */
#ifndef LH_TOOLS_GATHER_H
#define LH_TOOLS_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "findings.h"
#include "pool.h"

struct lh_model_process;
struct lh_symbols;

struct lh_gather {
    struct lh_pool pool;
    struct lh_model_process **processes;
    size_t n, capacity;
    struct lh_model_process *merged;  /* what several made together, or NULL */
    struct lh_model_process *of_runs; /* and in runs of their own */
    struct lh_findings findings;      /* sorted */
    time_t start_s;
    bool several; /* there may be more than one process */
    bool failed;  /* some input was no record file, which was said */
};

/* Reads npaths files, folders and stores. The symbols must live as long. */
void lh_gather_read(struct lh_gather *g, char *const *paths, size_t npaths,
                    struct lh_symbols *symbols);

/* Whether there is a process to tell of. */
bool lh_gather_any(const struct lh_gather *g);

void lh_gather_free(struct lh_gather *g);

#endif
