/* SPDX-License-Identifier: MIT
 *
 * ord/msgpipe.h - two ends that send messages to each other.
 *
 * What is sent as one message is received as one, whole and in order, in both
 * directions, by processes as by threads. A full pipe makes senders wait, an
 * empty one receivers. When an end is finished or closed, or its process has
 * died, the other receives what is still there and then EPIPE.
 *
 * Memory:   none; the kernel holds what is under way.
 * Threads:  all functions may run at the same time, but for those that make or
 *           close an end.
 * Errors:   EINVAL     a message of no bytes
 *           EMSGSIZE   too large: to be sent, or for the receiver's buffer
 *           EPIPE      the other end is closed or finished
 *           ETIMEDOUT  the deadline has passed
 *           EBUSY      a thread is sending or receiving
 *           and those of socketpair(2)
 */
#ifndef ORD_MSGPIPE_H
#define ORD_MSGPIPE_H

#include "ord/base.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ORD_MSGPIPE_MAX 8192 /* bytes of a message */

struct ord_msgpipe {
    int fd;          /* close-on-exec; a child that gets it calls adopt() */
    unsigned nusers; /* atomic; threads that send or receive */
    struct ord_mutex receiving; /* a message's size and content; never waits */
};

int ord_msgpipe_open(struct ord_msgpipe *a, struct ord_msgpipe *b);

/* Makes an end of a descriptor that was one's, and is the end's from now on. */
void ord_msgpipe_adopt(struct ord_msgpipe *end, int fd);
int ord_msgpipe_close(struct ord_msgpipe *end); /* EBUSY */

int ord_msgpipe_send(struct ord_msgpipe *end, const void *message,
                     size_t size_bytes, ord_ns deadline);
/* EINVAL, EMSGSIZE, EPIPE, ETIMEDOUT */

/*
 * Receives the next message.
 *
 * size_bytes  receives its size, also after EMSGSIZE, which leaves it to be
 *             received into a larger buffer.
 * Returns 0, EMSGSIZE, EPIPE or ETIMEDOUT.
 */
int ord_msgpipe_receive(struct ord_msgpipe *end, void *buffer, size_t max_bytes,
                        size_t *size_bytes, ord_ns deadline);

/* Says that this end sends no more. It still receives. */
void ord_msgpipe_finish(struct ord_msgpipe *end);

#ifdef __cplusplus
}
#endif

#endif
