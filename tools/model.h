/* SPDX-License-Identifier: MIT
 *
 * model.h - the records of one process in memory, found by id.
 *
 * Bytes of a record file go in as they come; what they say can be looked up at
 * any time. References may dangle: a lookup returns NULL then, and callers say
 * "unknown". lockhound-records(5) describes each field.
 *
 * Memory:   everything belongs to the process and lives until it is freed. A
 *           record that replaces an earlier one keeps its address.
 */
#ifndef LH_TOOLS_MODEL_H
#define LH_TOOLS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "idmap.h"
#include "pool.h"

struct lh_model_frame {
    uint64_t module; /* 0: offset is an address */
    uint64_t offset;
};

struct lh_model_module {
    uint64_t id;
    const char *path;
    uint64_t base;
    const char *build_id; /* hexadecimal; "" if not known */
    uint64_t key;         /* of that, or of the path */
};

struct lh_model_thread {
    uint64_t id, tid;
    uint64_t creator, joined_by; /* 0: not known */
    const char *name;            /* "" if it has none */
    bool has_start;
    struct lh_model_frame start;
    /* Of a process made of several: where the thread is from, and its id
     * there. Else 0. */
    uint64_t pid, number;
    const char *file; /* and its records */
};

struct lh_model_lock {
    uint64_t id;
    const char *kind, *subtype, *name; /* "" where absent */
    uint64_t address;
    bool is_static, has_rank;
    bool is_shared; /* by processes; then the next three are what it is */
    uint64_t device, inode, offset;
    struct lh_model_frame where; /* of a static one */
    int64_t rank;
    uint64_t init, first; /* stacks, or 0 */
};

struct lh_model_stack {
    uint64_t id;
    size_t nframes;
    const struct lh_model_frame *frames; /* innermost first */
    bool partial, truncated;
};

struct lh_model_seen {
    uint64_t times; /* 0: not known */
    uint64_t threads;
};

enum lh_model_wait {
    LH_MODEL_BLOCK,
    LH_MODEL_TIMED,
    LH_MODEL_CONDITION,
    LH_MODEL_TRIED
};

struct lh_model_side {
    uint64_t dependency, thread;
    uint64_t holds, holds_stack, wants, wants_stack;
    bool holds_shared, wants_shared;
    bool holds_queued; /* a writer in line, which holds back later readers */
    enum lh_model_wait wait;
    struct lh_model_seen seen; /* as of the finding */
    uint64_t waited_ms;        /* of LH002: until it was found; 0: not known */
};

struct lh_model_held {
    uint64_t lock, stack;
    bool shared;
};

struct lh_model_dependency {
    uint64_t thread, wants, stack;
    bool shared;
    enum lh_model_wait wait;
    size_t nholds;
    const struct lh_model_held *holds; /* oldest first */
};

/* One of the locks held by a dependency, and the one requested. */
struct lh_model_edge {
    uint64_t dependency, holds, wants;
    uint64_t thread, holds_stack, wants_stack;
    size_t previous; /* see lh_model_newest_edge() */
};

/* What matters to other processes, in the order of the records. */
enum lh_model_event_kind {
    LH_MODEL_REQUEST, /* made after a lock was seen that processes share */
    LH_MODEL_CREATED, /* .thread has made thread .number */
    LH_MODEL_JOINED,  /* .thread has joined thread .number */
    LH_MODEL_FORK,    /* .thread makes fork .number */
    LH_MODEL_REAPED,  /* the child of fork .number is gone, as .thread finds */
};

struct lh_model_event {
    enum lh_model_event_kind kind;
    uint64_t thread, number;
    const struct lh_model_dependency *dependency;
};

enum lh_model_reason_kind {
    LH_MODEL_GATE,
    LH_MODEL_ONE_THREAD,
    LH_MODEL_FEW_THREADS,
    LH_MODEL_ORDERED,
    LH_MODEL_TIMED_WAIT,
    LH_MODEL_TRIED_ONLY,
    LH_MODEL_UNSEEN_END,
    LH_MODEL_OTHER, /* of a later version */
    /* In no record: */
    LH_MODEL_SEVERAL,  /* .lock stands for several of its class */
    LH_MODEL_NO_BUILD, /* .lock may be another in each build */
};

struct lh_model_reason {
    enum lh_model_reason_kind kind;
    const char *word; /* as in the record */
    uint64_t lock, thread, threads;
    size_t sides[2];    /* always indices into the finding's sides */
    uint64_t stacks[2]; /* or 0 */
};

enum lh_model_grade {
    LH_MODEL_CONDITIONAL,
    LH_MODEL_POSSIBLE,
    LH_MODEL_HAPPENED
};

struct lh_model_finding {
    uint64_t id;
    const char *kind; /* "LH001" */
    enum lh_model_grade grade;
    size_t nsides; /* 0, or 2 and more */
    const struct lh_model_side *sides;
    size_t nreasons;
    const struct lh_model_reason *reasons;
    uint64_t thread, lock, stack;  /* of those without sides; else 0 */
    const char *detail;            /* a word, or "" */
    uint64_t holder, holder_stack; /* the other thread concerned, or 0 */
    uint64_t other;                /* the other lock concerned, or 0 */
};

struct lh_model_note {
    const char *code, *text;
};

struct lh_model_totals {
    uint64_t locks, threads, orders;
};

/* Returned by value or pointer; fields are for reading only. */
struct lh_model_process {
    struct lh_pool pool;
    const char *file;
    bool started;    /* the process record was read */
    bool ended;      /* the end record was read */
    bool has_shared; /* locks that it may share with other processes */
    bool is_merged;  /* made up of several: merged.h */
    bool is_of_runs; /* and that of those that were never parallel: runs.h */
    bool keeps_requests; /* set before the first byte: needed for runs.h */
    uint64_t pid, forked_from;
    uint64_t fork;              /* by which fork of that one; 0: not known */
    uint64_t start_s;           /* since the Epoch; 0: not known */
    const char *exe, *build_id; /* and its id, "" if no record has it */
    struct lh_model_finding **findings; /* in the order of first sight */
    size_t nfindings;
    struct lh_model_note *notes;
    size_t nnotes;
    struct lh_model_event *events;
    size_t nevents;
    struct lh_model_edge *edges; /* in the order of the records */
    size_t nedges;
    uint64_t nrecords;
    struct lh_model_input *input; /* the reading side, private */
    struct lh_idmap modules, threads, locks, stacks, finding_ids;
    struct lh_idmap counts, rings, orders, births;
    struct lh_model_totals end;
    size_t findings_capacity, notes_capacity, events_capacity, edges_capacity;
};

/* file is the name for messages; it is copied. */
struct lh_model_process *lh_model_new(const char *file);
void lh_model_free(struct lh_model_process *p);

/*
 * Takes in the next bytes of the file, whole lines or not. Lines that do not
 * parse are skipped and said on stderr.
 * Returns 0; or EINVAL when the file is not a record file that we can read,
 * which was said too, and more bytes change nothing.
 */
int lh_model_feed(struct lh_model_process *p, const char *bytes, size_t n);

/* The file has ended here. may_grow: its process lives, so that a line without
 * an end is no damage. Returns as above; an empty file is EINVAL. */
int lh_model_finish(struct lh_model_process *p, bool may_grow);

const struct lh_model_module *lh_model_module(const struct lh_model_process *p,
                                              uint64_t id);
const struct lh_model_thread *lh_model_thread(const struct lh_model_process *p,
                                              uint64_t id);
const struct lh_model_lock *lh_model_lock(const struct lh_model_process *p,
                                          uint64_t id);
const struct lh_model_stack *lh_model_stack(const struct lh_model_process *p,
                                            uint64_t id);

/* How often the request of this side was seen: the final count if there is
 * one, else what the finding says. */
struct lh_model_seen lh_model_seen(const struct lh_model_process *p,
                                   const struct lh_model_side *side);
/* 1 plus the index of the newest edge of an order, which has the one before it
 * in .previous, and so on; 0: there is none. */
size_t lh_model_newest_edge(const struct lh_model_process *p, uint64_t holds,
                            uint64_t wants);
void lh_model_add_edge(struct lh_model_process *p, struct lh_model_edge edge);

/* A new place in its list of findings. */
struct lh_model_finding *lh_model_add_finding(struct lh_model_process *p);
void lh_model_add_note(struct lh_model_process *p, struct lh_model_note note);
/* A ring may begin anywhere: it reads best from its oldest thread on. The sides
 * that reasons name move along. */
void lh_model_rotate(struct lh_model_process *p, struct lh_model_finding *f);
/* Counts a lock at its birthplace, for the next function. */
void lh_model_count_birth(struct lh_model_process *p,
                          const struct lh_model_lock *lock);
/* Whether other locks have its birthplace, as far as records show. */
bool lh_model_has_siblings(const struct lh_model_process *p,
                           const struct lh_model_lock *lock);

/* How many rings were merged into the finding; 0 if not known. */
uint64_t lh_model_rings(const struct lh_model_process *p,
                        const struct lh_model_finding *f);

/* Totals of the process: final, or what its records show so far. */
struct lh_model_totals lh_model_totals(const struct lh_model_process *p);

/* Whether all that the finding refers to is there. */
bool lh_model_is_complete(const struct lh_model_process *p,
                          const struct lh_model_finding *f);

#endif
