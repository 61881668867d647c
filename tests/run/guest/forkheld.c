/* SPDX-License-Identifier: MIT
 *
 * forkheld.c - a process is forked while locks are held.
 *
 * In most modes another thread holds m at the fork; the child's status is
 * printed.
 */
#include <sys/mman.h>

#include "guest.h"

extern pid_t _Fork(void);

static mutex_t own = MUTEX, m = MUTEX;
static mutex_t *shared;
static const struct timespec past = { 1, 0 };
static int is_held, may_leave;

static void *hold(void *mutex)
{
    lock(mutex);
    set_flag(&is_held);
    wait_flag(&may_leave);
    unlock(mutex);
    return NULL;
}

static void print_status(pid_t pid)
{
    int status;

    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    if (WIFSIGNALED(status))
        printf("child: signal %d\n", WTERMSIG(status));
    else
        printf("child: %d\n", WEXITSTATUS(status));
    fflush(stdout);
}

/* A child that hangs is ended. */
static void in_child(pid_t (*make)(void), void (*act)(void))
{
    pid_t pid = make();

    if (pid == 0) {
        alarm(3);
        act();
        _exit(0);
    }
    print_status(pid);
}

static void beside_holder(mutex_t *mutex, pid_t (*make)(void),
                          void (*act)(void))
{
    pthread_t t = go(hold, mutex);

    wait_flag(&is_held);
    in_child(make, act);
    set_flag(&may_leave);
    join(t);
}

static void request(void)
{
    pthread_mutex_lock(&m);
}

static void *request_in_thread(void *unused)
{
    request();
    return unused;
}

static void start_requester(void)
{
    join(go(request_in_thread, NULL));
}

static void request_in_grandchild(void)
{
    in_child(fork, request);
}

/* None of these waits for good. */
static void try_it(void)
{
    CHECK(pthread_mutex_trylock(&m) == EBUSY);
    CHECK(pthread_mutex_timedlock(&m, &past) == ETIMEDOUT);
}

/* The child makes it anew: what the parent's thread held is gone. */
static void renew(void)
{
    CHECK(pthread_mutex_init(&m, NULL) == 0);
    lock(&m);
    unlock(&m);
}

static void *take_and_leave(void *unused)
{
    for (int i = 0; i < 1000; i++) {
        lock(&m);
        unlock(&m);
    }
    return unused;
}

static void renew_and_share(void)
{
    pthread_t t, u;

    renew();
    t = go(take_and_leave, NULL);
    u = go(take_and_leave, NULL);
    join(t);
    join(u);
}

static void unlock_own(void)
{
    unlock(&own);
    lock(&own);
    unlock(&own);
}

static void relock_own(void)
{
    pthread_mutex_lock(&own);
}

static void lock_both(void)
{
    lock(&own);
    lock(&m);
}

static void unlock_both(void)
{
    unlock(&m);
    unlock(&own);
}

static void use_both(void)
{
    lock_both();
    unlock_both();
}

/* A thread of the parent has it, and the parent goes on. */
static void wait_for_parent(void)
{
    pthread_t t = go(hold, shared);
    pid_t pid;

    wait_flag(&is_held);
    pid = fork();
    if (pid == 0) {
        lock(shared);
        unlock(shared);
        _exit(0);
    }
    set_flag(&may_leave);
    join(t);
    print_status(pid);
}

static void share(void)
{
    pthread_mutexattr_t attr;

    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    CHECK(pthread_mutexattr_init(&attr) == 0);
    CHECK(pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_mutex_init(shared, &attr) == 0);
}

/* Without the attribute, but in memory that is shared, it works while nobody
 * sleeps: the child asks for what the parent's thread has. */
static void ask_in_shared_memory(void)
{
    CHECK(pthread_mutex_trylock(shared) == EBUSY);
    pthread_mutex_lock(shared);
}

static void by_vfork(char *self)
{
    pthread_t t = go(hold, &m);
    pid_t pid;

    wait_flag(&is_held);
    pid = vfork();
    if (pid == 0) {
        execl(self, self, "nothing", (char *)NULL);
        _exit(1);
    }
    print_status(pid);
    set_flag(&may_leave);
    join(t);
    lock(&m);
    unlock(&m);
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[2], "recursive") == 0)
        m = (mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    if (argc > 2 && strcmp(argv[2], "errorcheck") == 0)
        m = (mutex_t)PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    if (is_mode(argv, "request"))
        beside_holder(&m, fork, request);
    if (is_mode(argv, "request-_Fork"))
        beside_holder(&m, _Fork, request);
    if (is_mode(argv, "request-in-thread"))
        beside_holder(&m, fork, start_requester);
    if (is_mode(argv, "request-in-grandchild"))
        beside_holder(&m, fork, request_in_grandchild);
    if (is_mode(argv, "try"))
        beside_holder(&m, fork, try_it);
    if (is_mode(argv, "renew"))
        beside_holder(&m, fork, renew_and_share);
    if (is_mode(argv, "vfork"))
        by_vfork(argv[0]);
    if (is_mode(argv, "unlock-own")) {
        lock(&own);
        in_child(fork, unlock_own);
        unlock(&own);
    }
    if (is_mode(argv, "relock-own")) {
        lock(&own);
        in_child(fork, relock_own);
        unlock(&own);
    }
    if (is_mode(argv, "atfork")) {
        CHECK(pthread_atfork(lock_both, unlock_both, unlock_both) == 0);
        in_child(fork, use_both);
    }
    if (is_mode(argv, "shared")) {
        share();
        wait_for_parent();
    }
    if (is_mode(argv, "in-shared-memory")) {
        share();
        CHECK(pthread_mutex_init(shared, NULL) == 0);
        beside_holder(shared, fork, ask_in_shared_memory);
    }
    return 0;
}
