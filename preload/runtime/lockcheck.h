/* SPDX-License-Identifier: MIT
 *
 * lockcheck.h - is a read-write lock, a spinlock or a semaphore used as it may
 * be? And what do threads leave behind that end?
 *
 * As in mutexcheck.h: called where a hook is about to pass a call on; told is
 * only what the lock's own words and the threads' chains agree on. Who reads a
 * lock, or has a spinlock, is not in its words. After a fork these are copies
 * that nobody may have: then only writers are believed.
 *
 * glibc's destroy leaves no trace in these. Where the lock has a word to spare,
 * a mark is put into it, which initializing it anew overwrites, and so does
 * other use of the memory.
 *
 * Threads:  any, without the detector's lock but for the last.
 */
#ifndef LH_RUNTIME_LOCKCHECK_H
#define LH_RUNTIME_LOCKCHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/lockkind.h"

struct lh_thread;

/* A lock of that kind, and where it is used: in the caller of a hook. */
struct lh_lockcheck {
    void *lock;
    enum lh_kind kind;
    void *pc;
    uintptr_t cfa;
};

/* Before a request, of a GMutex also, that has to wait: LH020 if only the
 * parent of this process has the holder. */
void lh_lockcheck_request(struct lh_lockcheck use);

/* Before any use that was not seen since the lock was made: LH013, if
 * true. */
bool lh_lockcheck_used(struct lh_lockcheck use);

/* Before a release by a thread that is not known to hold it: LH010, LH011,
 * LH013. */
void lh_lockcheck_release(struct lh_lockcheck use);

/* Before it is initialized: LH014 if it is held. And after it was. */
void lh_lockcheck_init(struct lh_lockcheck use);
void lh_lockcheck_made(struct lh_lockcheck use);

/* Before it is destroyed: LH012 if it is held, and then true. And after it was,
 * unless it was held. */
bool lh_lockcheck_destroy(struct lh_lockcheck use);
void lh_lockcheck_destroyed(struct lh_lockcheck use);

/* t is gone: LH015 for each lock, mutexes among them, that it still holds. With
 * the detector's lock held; told with what lh_self has to tell. */
void lh_lockcheck_thread_ended(struct lh_thread *t);

#endif
