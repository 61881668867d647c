/* SPDX-License-Identifier: MIT
 *
 * phrase.h - what a statement of C or C++ names: "s->peer.lock", and where in
 * which call.
 *
 * It is no parser of the language: what it does not understand is left out.
 */
#ifndef LH_TOOLS_PHRASE_H
#define LH_TOOLS_PHRASE_H

#include <stdbool.h>
#include <stddef.h>

struct lh_pool;

enum { LH_PHRASE_OBJECT = -1 };

struct lh_phrase_step {
    char how; /* '>' of "->", '.', '[' of any index, '*' of what is there */
    const char *name; /* of the member, or "" */
};

/* A variable and what of it: "s->peers[i].lock". */
struct lh_phrase_path {
    const char *text; /* as written */
    const char *variable;
    const struct lh_phrase_step *steps;
    size_t nsteps;
    const char *call; /* that it is in the parentheses of; "" if of none */
    int argument;     /* from 0; or LH_PHRASE_OBJECT: x of "x.call(...)" */
    bool whole;       /* the argument is no more than it and an '&' */
    bool hidden;      /* inside the argument of a lock function there is another
                         call, which may return something else */
};

/* All of the statement at the beginning of text, which may go on as it likes;
 * their number goes to n. */
const struct lh_phrase_path *lh_phrase_read(struct lh_pool *pool,
                                            const char *text, size_t *n);

/* Whether it is the name of a function by which locks are made or taken. */
bool lh_phrase_is_lock_function(const char *name);

/* How many calls of that function the statement at the beginning of text may
 * have; of "", of lock functions. */
size_t lh_phrase_count(struct lh_pool *pool, const char *text,
                       const char *name);

/* The same of all to the end of the block in braces that begins there. */
size_t lh_phrase_count_in_block(struct lh_pool *pool, const char *text,
                                const char *name);

#endif
