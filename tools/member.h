/* SPDX-License-Identifier: MIT
 *
 * member.h - what a lock is a member of, by what a statement says and by the
 * types of the variables that it names: of "lock(&s->lock)" in a function where
 * s points to a struct session that is "session->lock".
 *
 * Nothing is guessed: where the statement leaves a choice there is no name.
 */
#ifndef LH_TOOLS_MEMBER_H
#define LH_TOOLS_MEMBER_H

#include <elfutils/libdw.h>
#include <stdbool.h>

struct lh_pool;
struct lh_scope_memory;

enum { LH_MEMBER_NO_PARAMETER = -2 };

/* What is looked for, in a function that calls another one. */
struct lh_member_query {
    const char *kind;      /* of lock, as in the records */
    const char *statement; /* with the call and more; see lh_phrase_read() */
    const char *callee;    /* the function called there; "" if not known */
    int argument;          /* which one it is; LH_PHRASE_OBJECT of a method */
    /* NULL, or what the lock is known to be in: this aggregate is looked for
     * then, in place of a lock. */
    const char *within;
};

enum lh_member_result {
    LH_MEMBER_UNKNOWN,
    LH_MEMBER_NAMED,
    LH_MEMBER_PASSED, /* by its caller, as the parameter below */
};

struct lh_member {
    enum lh_member_result result;
    const char *name;     /* "session->lock", "Session::mutex_", "job.lock" */
    const char *written;  /* "s->lock" */
    const char *function; /* that the statement is in; no scopes */
    int parameter;    /* of that, which points to the lock or to the type below;
                         or LH_MEMBER_NO_PARAMETER */
    int position;     /* likewise, with the object of a method counted */
    const char *type; /* that the name begins with: "session" */
    const char *rest; /* of the name behind it: ".lock" */
};

/*
 * scopes  around the place, innermost first; the last is the function, and the
 *         only one among them
 */
struct lh_member lh_member_find(struct lh_pool *pool, Dwarf_Die *scopes,
                                int nscopes, struct lh_scope_memory *memory,
                                const struct lh_member_query *query);

#endif
