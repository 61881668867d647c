/* SPDX-License-Identifier: MIT
 * msgpipe.c - two ends that send messages to each other. */
#include "ord/msgpipe.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

void ord_msgpipe_adopt(struct ord_msgpipe *end, int fd)
{
    *end = (struct ord_msgpipe){ .fd = fd };
    ord_mutex_init(&end->receiving);
}

/* Sockets and not pipes: they keep messages apart, and need no SIGPIPE. */
int ord_msgpipe_open(struct ord_msgpipe *a, struct ord_msgpipe *b)
{
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
        return errno;
    ord_msgpipe_adopt(a, fds[0]);
    ord_msgpipe_adopt(b, fds[1]);
    return 0;
}

int ord_msgpipe_close(struct ord_msgpipe *end)
{
    /* Acquire: pairs with leave(), so the users' last steps come before. */
    if (__atomic_load_n(&end->nusers, __ATOMIC_ACQUIRE) > 0)
        return EBUSY;
    ord_mutex_destroy(&end->receiving);
    close(end->fd);
    return 0;
}

void ord_msgpipe_finish(struct ord_msgpipe *end)
{
    shutdown(end->fd, SHUT_WR);
}

static void enter(struct ord_msgpipe *end)
{
    __atomic_fetch_add(&end->nusers, 1, __ATOMIC_RELAXED);
}

static void leave(struct ord_msgpipe *end)
{
    __atomic_fetch_sub(&end->nusers, 1, __ATOMIC_RELEASE);
}

/* Waits until the descriptor may be ready. The caller tries, and comes back if
 * it is not: what poll(2) says may be over when it returns. */
static int await(int fd, short events, ord_ns deadline)
{
    struct pollfd p = { .fd = fd, .events = events };
    ord_ns left = deadline == ORD_NEVER ? 0 : deadline - ord_now();
    struct timespec t = { left / ORD_SECOND, left % ORD_SECOND };

    if (left < 0 || (left == 0 && deadline != ORD_NEVER))
        return ETIMEDOUT;
    ppoll(&p, 1, deadline == ORD_NEVER ? NULL : &t, NULL);
    return 0;
}

/* errno numbers of one attempt: EAGAIN is to wait for, EINTR to try again. */
static int error_of(ssize_t result)
{
    if (result >= 0)
        return 0;
    return errno == ECONNRESET ? EPIPE : errno;
}

static int try_send(struct ord_msgpipe *end, const void *message,
                    size_t size_bytes)
{
    return error_of(
        send(end->fd, message, size_bytes, MSG_DONTWAIT | MSG_NOSIGNAL));
}

int ord_msgpipe_send(struct ord_msgpipe *end, const void *message,
                     size_t size_bytes, ord_ns deadline)
{
    int rc;

    if (size_bytes == 0)
        return EINVAL;
    if (size_bytes > ORD_MSGPIPE_MAX)
        return EMSGSIZE;
    enter(end);
    while ((rc = try_send(end, message, size_bytes)) == EAGAIN || rc == EINTR) {
        rc = await(end->fd, POLLOUT, deadline);
        if (rc != 0)
            break;
    }
    leave(end);
    return rc;
}

/* Looks at the size first, so that what does not fit is not lost. */
static int receive_if_it_fits(int fd, void *buffer, size_t max_bytes,
                              size_t *size_bytes)
{
    const int look = MSG_DONTWAIT | MSG_PEEK | MSG_TRUNC;
    ssize_t n = recv(fd, NULL, 0, look);

    if (n < 0)
        return error_of(n);
    if (n == 0)
        return EPIPE;
    *size_bytes = (size_t)n;
    if (*size_bytes > max_bytes)
        return EMSGSIZE;
    return error_of(recv(fd, buffer, max_bytes, MSG_DONTWAIT));
}

static int try_receive(struct ord_msgpipe *end, void *buffer, size_t max_bytes,
                       size_t *size_bytes)
{
    int rc;

    ord_mutex_lock(&end->receiving);
    rc = receive_if_it_fits(end->fd, buffer, max_bytes, size_bytes);
    ord_mutex_unlock(&end->receiving);
    return rc;
}

int ord_msgpipe_receive(struct ord_msgpipe *end, void *buffer, size_t max_bytes,
                        size_t *size_bytes, ord_ns deadline)
{
    int rc;

    enter(end);
    while ((rc = try_receive(end, buffer, max_bytes, size_bytes)) == EAGAIN ||
           rc == EINTR) {
        rc = await(end->fd, POLLIN, deadline);
        if (rc != 0)
            break;
    }
    leave(end);
    return rc;
}
