/* SPDX-License-Identifier: MIT
 *
 * looked.c - programs that are hard to look at, each until it is ended.
 */
#include <sys/prctl.h>

#include "guest.h"

static mutex_t a = MUTEX, b = MUTEX;
static pthread_barrier_t both;

/* ---- a signal, of which it tells ---- */

static void told(int signal)
{
    (void)signal;
    CHECK(write(1, "signalled\n", 10) == 10);
    _exit(0);
}

static void signalled(void)
{
    CHECK(signal(SIGUSR1, told) != SIG_ERR);
    CHECK(write(1, "ready\n", 6) == 6);
    for (;;)
        pause();
}

/* ---- a main thread that has ended, and two that deadlock ---- */

static void *a_first(void *unused)
{
    (void)unused;
    lock(&a);
    pthread_barrier_wait(&both);
    lock(&b);
    return NULL;
}

static void *b_first(void *unused)
{
    (void)unused;
    lock(&b);
    pthread_barrier_wait(&both);
    lock(&a);
    return NULL;
}

static void main_ended(void)
{
    pthread_barrier_init(&both, NULL, 2);
    go(a_first, NULL);
    go(b_first, NULL);
    pthread_exit(NULL);
}

/* ---- a child of vfork: until it ends, its parent's thread sleeps in the
 * kernel, and no signal and no tracer gets at it ---- */

static void *forks(void *unused)
{
    (void)unused;
    if (vfork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    return NULL;
}

static void vfork_alone(void)
{
    forks(NULL);
}

static void vfork_beside(void)
{
    go(forks, NULL);
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    CHECK(argc > 1);
    alarm(30);
    if (is_mode(argv, "signalled"))
        signalled();
    else if (is_mode(argv, "main-ended"))
        main_ended();
    else if (is_mode(argv, "vfork"))
        vfork_alone();
    else if (is_mode(argv, "vfork-beside"))
        vfork_beside();
    else
        CHECK(!"a mode");
    return 0;
}
