/* SPDX-License-Identifier: MIT
 *
 * store.h - the records of many runs in one file, with SQLite.
 *
 * Each process is a row, with its records as they were written, added in a
 * transaction of its own; a rollback journal lies beside the file meanwhile. A
 * process is known by its first record, so that a file is added once, and one
 * that has grown takes the place of what was added of it.
 *
 * Errors:   what goes wrong with the file is said in one line, and the command
 *           exits with 2.
 * Threads:  any number of processes may use one file; each waits for its turn.
 */
#ifndef LH_TOOLS_STORE_H
#define LH_TOOLS_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lh_store;

/* Opens it; makes it if it is not there and that is wanted. */
struct lh_store *lh_store_open(const char *path, bool make);
void lh_store_close(struct lh_store *s);

enum lh_store_added {
    LH_STORE_NEW,
    LH_STORE_GROWN,
    LH_STORE_KNOWN,
    LH_STORE_TOO_LARGE, /* it was not added */
};

/* Of a process with its name, as SQLite's longest row is 10^9 bytes. */
enum { LH_STORE_MOST_BYTES = 999 * 1000 * 1000 };

/* Adds the records of a process, which were read from the file of that name. */
enum lh_store_added lh_store_add(struct lh_store *s, const char *name,
                                 const char *bytes, size_t n);

/* Whether it is a file that begins like one. */
bool lh_store_is(const char *path);

struct lh_store_process {
    const char *path; /* of the store */
    const char *name; /* of the file that it was added from */
    const char *bytes;
    size_t n;
    uint64_t done_bytes, all_bytes; /* of the records of all, with this */
};

typedef void (*lh_store_fn)(void *ctx, const struct lh_store_process *process);

/* Calls fn for each process that is there at first, the first added first; the
 * store is free for others meanwhile. What is given is valid during the call
 * only. Returns how many there were. */
size_t lh_store_each(struct lh_store *s, lh_store_fn fn, void *ctx);

/* Drops all but those added last. Returns how many were dropped. */
size_t lh_store_prune(struct lh_store *s, size_t keep);

#endif
