/* SPDX-License-Identifier: MIT
 *
 * ord/fan.h - one producer's side of several queues: each item to one of them
 * by turns, or to all.
 *
 * Closed queues are passed over. The queues are the caller's and may have other
 * producers; order, capacity and consumers are theirs.
 *
 * Memory:   none of its own; nothing to destroy.
 * Threads:  all may run at once.
 * Errors:   EINVAL     no queues
 *           EPIPE      every queue is closed
 *           EAGAIN     every queue that is open is full
 *           ETIMEDOUT  the deadline passed
 */
#ifndef ORD_FAN_H
#define ORD_FAN_H

#include "ord/queue.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ord_fan {
    struct ord_queue *queues;
    size_t nqueues;
    size_t turn; /* atomic */
};
#define ORD_FAN_INIT(array)                                                    \
    {                                                                          \
        (array), sizeof(array) / sizeof((array)[0]), 0                         \
    }

int ord_fan_init(struct ord_fan *fan, struct ord_queue *queues, size_t nqueues);
/* EINVAL */

/* Gives it to the queue whose turn it is, and waits there if that is full. The
 * turn has passed even if the wait fails. */
int ord_fan_put(struct ord_fan *fan, void *item, ord_ns deadline);
/* EPIPE, ETIMEDOUT */

/* Gives it to the first queue with room, counted from the one whose turn it is.
 */
int ord_fan_offer(struct ord_fan *fan, void *item); /* EPIPE, EAGAIN */

/*
 * Gives it to each queue, in their order; the deadline is for all together, and
 * the later ones are still tried after it. The item then has as many owners as
 * it had takers.
 *
 * ntakers  receives how many took it, also with an error.
 * Returns 0 if all that are open took it, ETIMEDOUT if one did not, or EPIPE.
 */
int ord_fan_broadcast(struct ord_fan *fan, void *item, ord_ns deadline,
                      size_t *ntakers);

/* Closes every queue: the end reaches each, full or not. */
void ord_fan_close(struct ord_fan *fan);

#ifdef __cplusplus
}
#endif

#endif
