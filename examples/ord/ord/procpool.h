/* SPDX-License-Identifier: MIT
 *
 * ord/procpool.h - worker processes that answer calls.
 *
 * Each worker is a program of its own, started by posix_spawn(3), so that no
 * process with threads is forked. It finds its message pipe at descriptor
 * ORD_PROCPOOL_FD and serves until the pool lets it go. A worker that dies in a
 * call, or does not answer before the deadline, is killed and replaced; the
 * call fails, the pool goes on.
 *
 *     // in the worker's main()
 *     return ord_procpool_serve(handle, NULL);
 *
 * Memory:   all at init; argv stays the caller's and in use until destroy.
 * Threads:  all functions may run at the same time, but for init and destroy.
 * Errors:   EINVAL      no worker, or a request of no bytes
 *           ENOMEM      no memory at init
 *           EMSGSIZE    a request above ORD_PROCPOOL_MAX, or a reply larger
 *                       than the caller's buffer
 *           ECONNRESET  the worker died in the call
 *           ETIMEDOUT   the deadline has passed
 *           EPIPE       the pool is shut down
 *           EBUSY       not shut down, or a thread is inside
 *           those of posix_spawn(3), and what the handler returns
 */
#ifndef ORD_PROCPOOL_H
#define ORD_PROCPOOL_H

#include "ord/base.h"
#include "ord/msgpipe.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ORD_PROCPOOL_FD 3
#define ORD_PROCPOOL_MAX (ORD_MSGPIPE_MAX - sizeof(int32_t)) /* bytes */

struct ord_procpool_worker;

struct ord_procpool {
    struct ord_mutex lock; /* protects all that follows */
    struct ord_cond available, all_idle;
    struct ord_procpool_worker *workers;
    char *const *argv;
    size_t nworkers, nbusy;
    uint64_t nreplaced;
    bool is_shut;
};

/* argv  the workers' program, sought in PATH, and its arguments. */
int ord_procpool_init(struct ord_procpool *pool, size_t nworkers,
                      char *const *argv);
int ord_procpool_destroy(struct ord_procpool *pool); /* EBUSY */

/*
 * Has a worker answer a request, after waiting for an idle one.
 *
 * reply_bytes  receives the size of the reply, 0 for none.
 * Returns 0, the handler's error, EINVAL, EMSGSIZE, ECONNRESET, ETIMEDOUT or
 * EPIPE; or posix_spawn()'s error, if a dead worker could not be replaced: the
 * next call tries that again.
 */
int ord_procpool_call(struct ord_procpool *pool, const void *request,
                      size_t request_bytes, void *reply, size_t max_bytes,
                      size_t *reply_bytes, ord_ns deadline);

/* Refuses calls from now on, those that wait included, waits for those that are
 * answered, lets the workers go and reaps them. Workers that are not gone at
 * the deadline are killed; if a call is not answered by then, nothing else has
 * happened and it may be called again. A worker that has closed its pipe is
 * waited for until it exits. Returns 0 or ETIMEDOUT. */
int ord_procpool_shutdown(struct ord_procpool *pool, ord_ns deadline);

/* How many workers died or were killed and were replaced. */
uint64_t ord_procpool_nreplaced(struct ord_procpool *pool);

/* In the worker: answers a request. `reply` has room for ORD_PROCPOOL_MAX
 * bytes; *reply_bytes is 0 at first. 0, or an errno number for the caller. */
typedef int (*ord_procpool_handler)(const void *request, size_t request_bytes,
                                    void *reply, size_t *reply_bytes,
                                    void *arg);

/* In the worker: serves until the pool lets go. Returns 0, or the error of the
 * pipe. */
int ord_procpool_serve(ord_procpool_handler handler, void *arg);

#ifdef __cplusplus
}
#endif

#endif
