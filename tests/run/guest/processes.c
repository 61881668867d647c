/* SPDX-License-Identifier: MIT
 * processes.c - locks that processes share, each mode a way to meet there. */
#include <fcntl.h>
#include <sys/mman.h>

#include "guest.h"

enum { NLOCKS = 4, NFLAGS = 8 };

struct area {
    mutex_t locks[NLOCKS];
    int flags[NFLAGS];
};

static struct area *area;

static struct area *map(int fd)
{
    void *p = mmap(NULL, sizeof *area, PROT_READ | PROT_WRITE,
                   fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED, fd, 0);

    CHECK(p != MAP_FAILED);
    return p;
}

static void prepare(struct area *a)
{
    pthread_mutexattr_t attr;

    CHECK(pthread_mutexattr_init(&attr) == 0);
    CHECK(pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED) == 0);
    for (int i = 0; i < NLOCKS; i++)
        CHECK(pthread_mutex_init(&a->locks[i], &attr) == 0);
    area = a;
}

static mutex_t *shared(int i)
{
    return &area->locks[i];
}

static void set(int flag)
{
    set_flag(&area->flags[flag]);
}

static void await(int flag)
{
    wait_flag(&area->flags[flag]);
}

static void reap(pid_t child)
{
    int status;

    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A child that nests two locks after one flag, sets another, and leaves after a
 * third. -1: none. */
static pid_t nest_in_child(mutex_t *outer, mutex_t *inner, int after, int done,
                           int leave)
{
    pid_t child = fork();

    if (child != 0)
        return child;
    if (after >= 0)
        await(after);
    nest(outer, inner);
    if (done >= 0)
        set(done);
    if (leave >= 0)
        await(leave);
    _exit(0);
}

/* Parent and child live at the same time. */
static void inversion(void)
{
    pid_t child = nest_in_child(shared(0), shared(1), -1, 0, 1);

    await(0);
    nest(shared(1), shared(0));
    set(1);
    reap(child);
}

static void siblings(void)
{
    pid_t one = nest_in_child(shared(0), shared(1), -1, 0, 1);
    pid_t two = nest_in_child(shared(1), shared(0), 0, 1, -1);

    reap(one);
    reap(two);
}

static void three(void)
{
    pid_t one = nest_in_child(shared(0), shared(1), -1, 0, 2);
    pid_t two = nest_in_child(shared(1), shared(2), 0, 1, 2);
    pid_t last = nest_in_child(shared(2), shared(0), 1, 2, -1);

    reap(one);
    reap(two);
    reap(last);
}

/* What only looks like it. */
static void before_fork(void)
{
    nest(shared(0), shared(1));
    reap(nest_in_child(shared(1), shared(0), -1, -1, -1));
}

static void after_wait(void)
{
    reap(nest_in_child(shared(0), shared(1), -1, -1, -1));
    nest(shared(1), shared(0));
}

static void siblings_in_turn(void)
{
    reap(nest_in_child(shared(0), shared(1), -1, -1, -1));
    reap(nest_in_child(shared(1), shared(0), -1, -1, -1));
}

static void gate(void)
{
    pid_t child = fork();

    if (child == 0) {
        lock(shared(2));
        nest(shared(0), shared(1));
        unlock(shared(2));
        set(0);
        await(1);
        _exit(0);
    }
    await(0);
    lock(shared(2));
    nest(shared(1), shared(0));
    unlock(shared(2));
    set(1);
    reap(child);
}

/* Before the fork, and once more while the child lives. */
static void repeated(void)
{
    pid_t child;

    for (int i = 0; i < 2; i++) {
        if (i == 1) {
            child = nest_in_child(shared(1), shared(0), -1, 0, 1);
            await(0);
        }
        nest(shared(0), shared(1));
    }
    set(1);
    reap(child);
}

/* The same addresses, but each process has its own. */
static void private_locks(void)
{
    static mutex_t a = MUTEX, b = MUTEX;
    pid_t child = nest_in_child(&a, &b, -1, 0, 1);

    await(0);
    nest(&b, &a);
    set(1);
    reap(child);
}

static void private_memory(void)
{
    struct area *a = calloc(1, sizeof *a), *flags = area;
    pid_t child;

    CHECK(a);
    prepare(a);
    area = flags;
    child = nest_in_child(&a->locks[0], &a->locks[1], -1, 0, 1);
    await(0);
    nest(&a->locks[1], &a->locks[0]);
    set(1);
    reap(child);
}

/* A chain through a private lock of the parent, whose two threads meet there.
 */
static void through_private(void)
{
    static mutex_t own = MUTEX;
    struct nesting first = { shared(0), &own, NULL, 0 };
    struct nesting second = { &own, shared(1), &first.done, 0 };
    pid_t child = nest_in_child(shared(1), shared(0), -1, 0, 1);
    pthread_t t, u;

    await(0);
    t = go(nest_thread, &first);
    u = go(nest_thread, &second);
    join(t);
    join(u);
    set(1);
    reap(child);
}

/* A file mapped by each process for itself, at another address. */
static void file(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    pid_t child;

    CHECK(fd >= 0 && ftruncate(fd, sizeof *area) == 0);
    prepare(map(fd));
    child = fork();
    if (child == 0) {
        struct area *other = map(fd);
        CHECK(other != area);
        nest(&other->locks[0], &other->locks[1]);
        set(0);
        await(1);
        _exit(0);
    }
    await(0);
    nest(shared(1), shared(0));
    set(1);
    reap(child);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {
        { "inversion", inversion },
        { "siblings", siblings },
        { "three", three },
        { "before-fork", before_fork },
        { "after-wait", after_wait },
        { "siblings-in-turn", siblings_in_turn },
        { "gate", gate },
        { "repeated", repeated },
        { "private-locks", private_locks },
        { "private-memory", private_memory },
        { "through-private", through_private },
    };

    if (argc > 2) {
        file(argv[2]);
        return 0;
    }
    prepare(map(-1));
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (is_mode(argv, modes[i].name)) {
            modes[i].run();
            return 0;
        }
    }
    return 2;
}
