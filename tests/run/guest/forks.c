/* SPDX-License-Identifier: MIT
 * forks.c - children of every kind. */
#include <spawn.h>

#include "guest.h"

extern char **environ;
extern pid_t _Fork(void);

static mutex_t a = MUTEX, b = MUTEX;
static int stop;

static pid_t raw_fork(void)
{
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

/* The child's status; a child that hangs ends with the whole test. */
static void reap(pid_t child, int status)
{
    int got;

    CHECK(child > 0 && waitpid(child, &got, 0) == child);
    CHECK(WIFEXITED(got) && WEXITSTATUS(got) == status);
}

/* Half of an inversion in the parent, the other half in the child. */
static void half(pid_t (*make)(void))
{
    pid_t child;

    nest(&a, &b);
    child = make();
    if (child == 0) {
        struct nesting reverse = { &b, &a, NULL, 0 };
        if (make == raw_fork) /* glibc's threads want to be told */
            nest(&b, &a);
        else
            join(go(nest_thread, &reverse));
        exit(5);
    }
    reap(child, 5);
}

static void whole(pid_t (*make)(void))
{
    pid_t child = make();

    if (child == 0) {
        invert(&a, &b);
        exit(5);
    }
    reap(child, 5);
}

/* Teaches the detector something new all the time. */
static void *hammer(void *unused)
{
    enum { N = 60 };
    mutex_t outer[N], inner[N];

    for (int i = 0; i < N; i++) {
        inner[i] = (mutex_t)MUTEX;
        pthread_mutex_init(&outer[i], NULL);
    }
    for (unsigned i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
        mutex_t *one = &outer[i % N];
        pthread_mutex_destroy(one);
        pthread_mutex_init(one, NULL);
        nest(one, &inner[i * 7 % N]);
    }
    return unused;
}

static void many(pid_t (*make)(void))
{
    pthread_t t = go(hammer, NULL), u = go(hammer, NULL);

    for (int i = 0; i < 200; i++) {
        pid_t child = make();
        if (child == 0) {
            mutex_t x = MUTEX, y = MUTEX;
            for (int k = 0; k < 20; k++)
                nest(&x, &y);
            nest(&y, &x);
            _exit(7);
        }
        reap(child, 7);
    }
    set_flag(&stop);
    join(t);
    join(u);
}

/* Findings are printed while a child is made, which then has its own. */
static void *prints(void *unused)
{
    static mutex_t pairs[5000];

    for (int i = 0; i < 5000 && !__atomic_load_n(&stop, __ATOMIC_RELAXED);
         i += 2)
        invert(&pairs[i], &pairs[i + 1]);
    return unused;
}

static void while_printing(void)
{
    pthread_t t = go(prints, NULL);

    for (int i = 0; i < 200; i++) {
        pid_t child = fork();
        if (child == 0) {
            invert(&a, &b);
            _exit(7);
        }
        reap(child, 7);
    }
    set_flag(&stop);
    join(t);
}

/* exec in each way that there is; the program is this one again. */
static void start(char *self)
{
    char *args[] = { self, "inversion", NULL };
    char command[5000];
    pid_t child = vfork();
    FILE *pipe;

    if (child == 0) {
        execv(self, args);
        _exit(1);
    }
    reap(child, 0);
    CHECK(posix_spawn(&child, self, NULL, NULL, args, environ) == 0);
    reap(child, 0);
    snprintf(command, sizeof command, "%s inversion", self);
    CHECK(system(command) == 0);
    pipe = popen(command, "r");
    CHECK(pipe && pclose(pipe) == 0);
    nest(&a, &b);
}

int main(int argc, char **argv)
{
    pid_t (*make)(void) = fork;

    if (argc > 2 && strcmp(argv[2], "_Fork") == 0)
        make = _Fork;
    if (argc > 2 && strcmp(argv[2], "raw") == 0)
        make = raw_fork;
    if (is_mode(argv, "half"))
        half(make);
    if (is_mode(argv, "whole"))
        whole(make);
    if (is_mode(argv, "many"))
        many(make);
    if (is_mode(argv, "while-printing"))
        while_printing();
    if (is_mode(argv, "start"))
        start(argv[0]);
    if (is_mode(argv, "inversion"))
        invert(&a, &b);
    if (is_mode(argv, "idle")) {
        pid_t child = make();
        if (child == 0)
            exit(0);
        reap(child, 0);
    }
    return 0;
}
