/* SPDX-License-Identifier: MIT
 * procpool.c - worker processes that answer calls. */
#include "ord/procpool.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct ord_procpool_worker {
    pid_t pid; /* 0: dead and reaped, its pipe closed */
    struct ord_msgpipe pipe;
    bool is_busy; /* under the pool's lock; then the rest is its user's */
};

/* What goes back through the pipe; only its used part is sent. */
struct reply {
    int32_t error;
    unsigned char data[ORD_PROCPOOL_MAX];
};

static int spawn_with(pid_t *pid, char *const *argv, int fd)
{
    posix_spawn_file_actions_t actions;
    int rc = posix_spawn_file_actions_init(&actions);

    if (rc != 0)
        return rc;
    /* The copy is not close-on-exec, also if it is where it was. */
    rc = posix_spawn_file_actions_adddup2(&actions, fd, ORD_PROCPOOL_FD);
    if (rc == 0)
        rc = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

static int start(struct ord_procpool_worker *worker, char *const *argv)
{
    struct ord_msgpipe theirs;
    pid_t pid;
    int rc = ord_msgpipe_open(&worker->pipe, &theirs);

    if (rc != 0)
        return rc;
    rc = spawn_with(&pid, argv, theirs.fd);
    ord_msgpipe_close(&theirs);
    if (rc == 0)
        worker->pid = pid;
    else
        ord_msgpipe_close(&worker->pipe);
    return rc;
}

static void reap(struct ord_procpool_worker *worker)
{
    while (waitpid(worker->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    ord_msgpipe_close(&worker->pipe);
    worker->pid = 0;
}

/* Lets the worker go, by force after the deadline. Its end of the pipe closes
 * when it exits; what it may still send is of no use to anyone. */
static void dismiss(struct ord_procpool_worker *worker, ord_ns deadline)
{
    unsigned char unused[ORD_MSGPIPE_MAX];
    size_t size;
    int rc;

    if (worker->pid == 0)
        return;
    ord_msgpipe_finish(&worker->pipe);
    do
        rc = ord_msgpipe_receive(&worker->pipe, unused, sizeof unused, &size,
                                 deadline);
    while (rc == 0);
    if (rc != EPIPE)
        kill(worker->pid, SIGKILL);
    reap(worker);
}

static void free_workers(struct ord_procpool *pool)
{
    for (size_t i = 0; i < pool->nworkers; i++)
        dismiss(&pool->workers[i], 0);
    free(pool->workers);
}

int ord_procpool_init(struct ord_procpool *pool, size_t nworkers,
                      char *const *argv)
{
    if (nworkers == 0)
        return EINVAL;
    *pool = (struct ord_procpool){ .argv = argv };
    pool->workers = calloc(nworkers, sizeof pool->workers[0]);
    if (!pool->workers)
        return ENOMEM;
    for (; pool->nworkers < nworkers; pool->nworkers++) {
        int rc = start(&pool->workers[pool->nworkers], argv);
        if (rc != 0) {
            free_workers(pool);
            return rc;
        }
    }
    ord_mutex_init(&pool->lock);
    ord_cond_init(&pool->available);
    ord_cond_init(&pool->all_idle);
    return 0;
}

int ord_procpool_destroy(struct ord_procpool *pool)
{
    bool busy;

    ord_mutex_lock(&pool->lock);
    busy = !pool->is_shut || pool->nbusy > 0 || pool->available.nwaiting > 0 ||
           pool->all_idle.nwaiting > 0;
    ord_mutex_unlock(&pool->lock);
    if (busy)
        return EBUSY;
    ord_cond_destroy(&pool->available);
    ord_cond_destroy(&pool->all_idle);
    ord_mutex_destroy(&pool->lock);
    free_workers(pool);
    return 0;
}

static int is_available(void *arg)
{
    const struct ord_procpool *pool = arg;

    return pool->is_shut || pool->nbusy < pool->nworkers;
}

static struct ord_procpool_worker *find_idle(struct ord_procpool *pool)
{
    struct ord_procpool_worker *worker = pool->workers;

    while (worker->is_busy)
        worker++;
    return worker;
}

static void occupy(struct ord_procpool *pool,
                   struct ord_procpool_worker *worker)
{
    worker->is_busy = true;
    pool->nbusy++;
}

static int take_worker(struct ord_procpool *pool,
                       struct ord_procpool_worker **worker, ord_ns deadline)
{
    int rc;

    ord_mutex_lock(&pool->lock);
    rc = ord_cond_timedwait(&pool->available, &pool->lock, is_available, pool,
                            deadline);
    if (rc == 0 && pool->is_shut)
        rc = EPIPE;
    if (rc == 0) {
        *worker = find_idle(pool);
        occupy(pool, *worker);
    }
    ord_mutex_unlock(&pool->lock);
    return rc;
}

static void give_back(struct ord_procpool *pool,
                      struct ord_procpool_worker *worker, bool replaced)
{
    ord_mutex_lock(&pool->lock);
    worker->is_busy = false;
    pool->nbusy--;
    pool->nreplaced += replaced;
    ord_cond_signal(&pool->available);
    if (pool->nbusy == 0)
        ord_cond_broadcast(&pool->all_idle);
    ord_mutex_unlock(&pool->lock);
}

/* The arguments of a call. */
struct call {
    const void *request;
    size_t request_bytes;
    void *reply;
    size_t max_bytes, *reply_bytes;
    ord_ns deadline;
};

/* What the worker sent: the handler's error, or a reply that fits. */
static int take_reply(const struct call *call, const struct reply *received,
                      size_t size_bytes)
{
    size_t n = size_bytes - offsetof(struct reply, data);

    if (received->error != 0)
        return received->error;
    if (n > call->max_bytes)
        return EMSGSIZE;
    if (n > 0)
        memcpy(call->reply, received->data, n);
    *call->reply_bytes = n;
    return 0;
}

/* Sends the request and waits for the answer. Not 0: the worker is of no more
 * use, dead or late with an answer that would be taken for the next one's. */
static int exchange(struct ord_procpool_worker *worker, const struct call *call,
                    struct reply *received, size_t *size_bytes)
{
    int rc = ord_msgpipe_send(&worker->pipe, call->request, call->request_bytes,
                              call->deadline);

    if (rc == 0)
        rc = ord_msgpipe_receive(&worker->pipe, received, sizeof *received,
                                 size_bytes, call->deadline);
    if (rc == 0 && *size_bytes < offsetof(struct reply, data))
        rc = EPIPE;
    return rc == EPIPE ? ECONNRESET : rc;
}

/* Has the worker, which is the caller's, answer; replaces it if it does not. */
static int converse(struct ord_procpool *pool,
                    struct ord_procpool_worker *worker, const struct call *call,
                    bool *replaced)
{
    struct reply received;
    size_t size_bytes;
    int rc = worker->pid == 0 ? start(worker, pool->argv) : 0;

    if (rc != 0)
        return rc;
    rc = exchange(worker, call, &received, &size_bytes);
    if (rc == 0)
        return take_reply(call, &received, size_bytes);
    /* It may have closed its pipe and live on. */
    kill(worker->pid, SIGKILL);
    dismiss(worker, 0);
    *replaced = start(worker, pool->argv) == 0;
    return rc;
}

int ord_procpool_call(struct ord_procpool *pool, const void *request,
                      size_t request_bytes, void *reply, size_t max_bytes,
                      size_t *reply_bytes, ord_ns deadline)
{
    const struct call call = { request,   request_bytes, reply,
                               max_bytes, reply_bytes,   deadline };
    struct ord_procpool_worker *worker;
    bool replaced = false;
    int rc;

    if (request_bytes == 0)
        return EINVAL;
    if (request_bytes > ORD_PROCPOOL_MAX)
        return EMSGSIZE;
    rc = take_worker(pool, &worker, deadline);
    if (rc != 0)
        return rc;
    rc = converse(pool, worker, &call, &replaced);
    give_back(pool, worker, replaced);
    return rc;
}

static int are_all_idle(void *arg)
{
    const struct ord_procpool *pool = arg;

    return pool->nbusy == 0;
}

/* Shuts the pool and waits until no worker is used. */
static int shut_and_wait(struct ord_procpool *pool, ord_ns deadline)
{
    int rc;

    ord_mutex_lock(&pool->lock);
    pool->is_shut = true;
    ord_cond_broadcast(&pool->available);
    rc = ord_cond_timedwait(&pool->all_idle, &pool->lock, are_all_idle, pool,
                            deadline);
    ord_mutex_unlock(&pool->lock);
    return rc;
}

/* A worker to be let go, which is the caller's then, or NULL. */
static struct ord_procpool_worker *take_living(struct ord_procpool *pool)
{
    struct ord_procpool_worker *found = NULL;

    ord_mutex_lock(&pool->lock);
    for (size_t i = 0; !found && i < pool->nworkers; i++)
        if (!pool->workers[i].is_busy && pool->workers[i].pid != 0)
            found = &pool->workers[i];
    if (found)
        occupy(pool, found);
    ord_mutex_unlock(&pool->lock);
    return found;
}

int ord_procpool_shutdown(struct ord_procpool *pool, ord_ns deadline)
{
    struct ord_procpool_worker *worker;
    int rc = shut_and_wait(pool, deadline);

    if (rc != 0)
        return rc;
    while ((worker = take_living(pool))) {
        dismiss(worker, deadline);
        give_back(pool, worker, false);
    }
    /* Another thread may shut it down too, and have taken the last ones. */
    return shut_and_wait(pool, deadline);
}

uint64_t ord_procpool_nreplaced(struct ord_procpool *pool)
{
    uint64_t n;

    ord_mutex_lock(&pool->lock);
    n = pool->nreplaced;
    ord_mutex_unlock(&pool->lock);
    return n;
}

int ord_procpool_serve(ord_procpool_handler handler, void *arg)
{
    unsigned char request[ORD_MSGPIPE_MAX];
    struct reply reply;
    struct ord_msgpipe pipe;
    size_t request_bytes;
    int rc;

    ord_msgpipe_adopt(&pipe, ORD_PROCPOOL_FD);
    for (;;) {
        size_t n = 0;
        rc = ord_msgpipe_receive(&pipe, request, sizeof request, &request_bytes,
                                 ORD_NEVER);
        if (rc != 0)
            break;
        reply.error = handler(request, request_bytes, reply.data, &n, arg);
        rc = ord_msgpipe_send(&pipe, &reply, offsetof(struct reply, data) + n,
                              ORD_NEVER);
        if (rc != 0)
            break;
    }
    ord_msgpipe_close(&pipe);
    return rc == EPIPE ? 0 : rc;
}
