/* SPDX-License-Identifier: MIT
 *
 * ord/thread.h - a thread with a result, and one that does a thing again and
 * again until it is stopped.
 *
 * Memory:   the caller's, in place from start to join or stop.
 * Threads:  start and join are called by one thread, or in turn; stop and the
 *           counts by any.
 * Errors:   EINVAL     a period of 0 or less
 *           EAGAIN     no thread could be made
 *           ETIMEDOUT  the deadline passed, and the thread runs on
 *           EDEADLK    called by the thread itself
 */
#ifndef ORD_LIB_THREAD_H
#define ORD_LIB_THREAD_H

#include "ord/future.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ord_thread {
    pthread_t id;
    struct ord_future ended;
    ord_task task;
    void *arg;
};

int ord_thread_start(struct ord_thread *thread, ord_task task, void *arg);
/* EAGAIN */

/* Waits until it has ended, once; error and result are then the task's. */
int ord_thread_join(struct ord_thread *thread, int *error, void **result,
                    ord_ns deadline); /* EDEADLK, ETIMEDOUT */

/*
 * Calls fn at start + period, start + 2 period and so on, with no lock held.
 * Instants that pass while fn still runs are skipped, and counted.
 */
struct ord_periodic {
    struct ord_thread thread;
    struct ord_mutex lock; /* protects the next four */
    struct ord_cond stop;
    int stopping;
    uint64_t nruns;
    uint64_t nskipped;
    ord_ns period;
    void (*fn)(void *arg);
    void *arg;
};

int ord_periodic_start(struct ord_periodic *periodic, ord_ns period,
                       void (*fn)(void *arg), void *arg); /* EINVAL, EAGAIN */

/* No call begins after this; fn itself may ask for it. */
void ord_periodic_ask_stop(struct ord_periodic *periodic);

/* Asks and waits for the end of the last call, at once if none runs. Once it
 * has returned 0 the structure is free. */
int ord_periodic_stop(struct ord_periodic *periodic, ord_ns deadline);
/* EDEADLK, ETIMEDOUT */

uint64_t ord_periodic_nruns(struct ord_periodic *periodic);
uint64_t ord_periodic_nskipped(struct ord_periodic *periodic);

#ifdef __cplusplus
}
#endif

#endif
