/* SPDX-License-Identifier: MIT
 *
 * lockwords.h - what people call the kinds of lock.
 */
#ifndef LH_TOOLS_LOCKWORDS_H
#define LH_TOOLS_LOCKWORDS_H

#include <stdbool.h>

struct lh_model_lock;

struct lh_lockwords {
    const char *kind;  /* the records' word */
    const char *label; /* of one without a name: "rwlock" of rwlock@a.c:3 */
    const char *noun;  /* "read-write lock" */
    const char *name;  /* that the only one of this kind always has, or "" */
    const char *about; /* when it is held, where that is not plain; or "" */
    const char *holds, *waits; /* "holds", "waits for" */
};

/* For a kind of a later version, its own word stands for all. */
struct lh_lockwords lh_lockwords_of(const char *kind);

/* Nobody takes it by itself: others wait until something has happened. */
bool lh_lockwords_event(const char *kind);

/* What a thread that shares it, or does not, has it for: " for reading"; "" for
 * a lock that knows one mode only. */
const char *lh_lockwords_mode(const char *kind, int shared);

/* How the lock differs from others of its kind, as an adjective or a clause
 * after the noun; both may be "". */
void lh_lockwords_subtype(const struct lh_model_lock *lock,
                          const char **adjective, const char **clause);

#endif
