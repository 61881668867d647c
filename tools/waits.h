/* SPDX-License-Identifier: MIT
 *
 * waits.h - what each thread of a process waits for, and who holds it.
 *
 * By the futex that a thread sleeps on and the names of the libc functions
 * above it; the owner by glibc's own fields (2.36; the same layout since 2.25).
 * Without names the words are judged by what they can be.
 */
#ifndef LH_TOOLS_WAITS_H
#define LH_TOOLS_WAITS_H

#include "outside.h"

enum lh_waits_kind {
    LH_WAITS_NOT,  /* it runs, or its state is not known */
    LH_WAITS_CALL, /* another system call */
    LH_WAITS_MUTEX,
    LH_WAITS_REFUSED, /* for good: a priority-inheriting mutex whose ring the
                         kernel has found */
    LH_WAITS_READ,    /* for a read-write lock, to read */
    LH_WAITS_WRITE,   /* likewise, to write */
    LH_WAITS_CONDITION,
    LH_WAITS_SEMAPHORE,
    LH_WAITS_BARRIER,
    LH_WAITS_JOIN, /* for the end of a thread: owner */
    LH_WAITS_ONCE,
    LH_WAITS_STREAM, /* a FILE's lock */
    LH_WAITS_LIBC,   /* a lock inside of libc that tells no owner */
    LH_WAITS_FUTEX,  /* somebody else's */
};

struct lh_wait {
    enum lh_waits_kind kind;
    uint64_t lock;  /* its address; 0: none */
    uint64_t owner; /* the tid that holds it; 0: not known, or several */
    const uint64_t *owners; /* those that the preload knows to hold it */
    size_t nowners;
    uint32_t nreaders; /* that hold it, who are not recorded */
    int descriptor;    /* of the stream; -1: not known */
    bool limited;      /* gives up by itself */
    bool owner_gone;   /* the owner is no thread of the process */
};

/* The function of a frame, as in the symbol table; "" if not known; NULL if it
 * is not the C library's. */
typedef const char *(*lh_waits_name_fn)(void *ctx, size_t thread, size_t frame);

/*
 * What a thread waits for.
 *
 * name   NULL: without stacks
 */
struct lh_wait lh_waits_of(const struct lh_outside *o, size_t thread,
                           lh_waits_name_fn name, void *ctx);

/* What the preload knows (holds.h): the holders of a lock that does not name
 * them, or names too few, and whether the wait really has a limit. */
void lh_waits_add_owners(const struct lh_outside *o, size_t thread,
                         struct lh_wait *wait);

/*
 * The ring that a thread is part of: each waits for what the next one holds.
 *
 * ring   room for as many as there are threads; receives their indices
 * Returns how many, 0 for none; 1 waits for itself.
 */
size_t lh_waits_ring(const struct lh_outside *o, const struct lh_wait *waits,
                     size_t thread, size_t *ring);

#endif
