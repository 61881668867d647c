/* SPDX-License-Identifier: MIT
 *
 * survey.h - which lock calls of a program will be seen, and which not.
 *
 * What is seen is what the preload defines; so this needs no list of its own.
 */
#ifndef LH_TOOLS_SURVEY_H
#define LH_TOOLS_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lh_pool;

struct lh_survey_file {
    const char *name;
    uint64_t seen, unseen; /* calls that it makes: bits of lockcalls.h */
};

struct lh_survey_remark {
    const char *text; /* "the locks of Rust's library (...), in server" */
    bool usual;       /* so in every program, or nearly */
};

struct lh_survey {
    struct lh_survey_file *files; /* the program first */
    size_t nfiles;
    struct lh_survey_remark *remarks; /* what cannot be seen */
    size_t nremarks;
};

/* Everything belongs to the pool. */
struct lh_survey lh_survey_take(struct lh_pool *pool, const char *program,
                                const char *preload);

/* "mutex, spinlock": the families of some calls. */
const char *lh_survey_families(struct lh_pool *pool, uint64_t calls);

#endif
