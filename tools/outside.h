/* SPDX-License-Identifier: MIT
 *
 * outside.h - a process as seen from outside, alive or in a core file.
 *
 * Filled in by proc.h and stop.h, or by core.h; asked by waits.h and
 * picture.h.
 *
 * Memory:   everything belongs to the pool.
 */
#ifndef LH_TOOLS_OUTSIDE_H
#define LH_TOOLS_OUTSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#include "pool.h"

/* A part of the address space that a file is mapped to. */
struct lh_outside_range {
    uint64_t start, end;
    uint64_t offset; /* in the file */
    const char *path;
};

struct lh_outside_frame {
    uint64_t pc;
    bool is_call; /* pc is a return address */
};

/* Bytes as they were while the process stood still. */
struct lh_outside_copy {
    uint64_t address;
    size_t n;
    const unsigned char *bytes;
};

/* What a watched thread holds, as the preload in it knows. */
struct lh_outside_hold {
    uint64_t lock, pc; /* pc: where it was taken, a return address */
    unsigned kind;     /* enum lh_kind of the preload */
    bool shared;
    bool by_owner; /* held if the mutex's own word says so */
};

struct lh_outside_thread {
    uint64_t tid;
    const char *name; /* "" if not known */
    char state;       /* as in /proc: R, S, D, T, ...; 0: not known */
    bool in_call;     /* blocked in a system call: call and args are it */
    int64_t call;
    uint64_t args[6];
    uint64_t sp;
    bool has_registers;
    struct user_regs_struct registers;
    struct lh_outside_copy stack;    /* from sp on */
    struct lh_outside_copy lock;     /* around the futex it sleeps on */
    struct lh_outside_frame *frames; /* innermost first */
    size_t nframes;
    uint64_t wants; /* the lock that it waits for without a limit; or 0 */
    bool joins;     /* likewise, for the end of a thread */
    struct lh_outside_hold *holds; /* oldest first */
    size_t nholds;
};

struct lh_outside {
    struct lh_pool *pool;
    uint64_t pid;
    uint64_t via; /* alive: a thread of it that has memory */
    const char *exe;
    struct lh_outside_thread *threads; /* the main one first */
    size_t nthreads;
    struct lh_outside_range *ranges; /* by address */
    size_t nranges;
    double stopped_ms; /* how long it was stopped */
    /* All of the bytes, or false. Callers use lh_outside_read(). */
    bool (*read)(const struct lh_outside *o, uint64_t address, void *buffer,
                 size_t n);
    void *source; /* of read, for a core file; else NULL */
};

/* Whether all of the n bytes at address are among those at start. */
bool lh_outside_covers(uint64_t start, uint64_t bytes, uint64_t address,
                       uint64_t n);

/* Reads all of the bytes or returns false: copies go before what is there
 * now. */
bool lh_outside_read(const struct lh_outside *o, uint64_t address, void *buffer,
                     size_t n);

/* Reads one word. */
bool lh_outside_u32(const struct lh_outside *o, uint64_t address,
                    uint32_t *value);
bool lh_outside_u64(const struct lh_outside *o, uint64_t address,
                    uint64_t *value);

/* The thread with that tid, or NULL. */
const struct lh_outside_thread *lh_outside_thread_of(const struct lh_outside *o,
                                                     uint64_t tid);

/* The mapped file at an address, or NULL; base receives where the file's first
 * byte is mapped. */
const struct lh_outside_range *lh_outside_range_at(const struct lh_outside *o,
                                                   uint64_t address,
                                                   uint64_t *base);

#endif
