/* SPDX-License-Identifier: MIT
 *
 * stacks.c - small stacks: a thread of the least size, a handler on a classic
 * 8 KiB signal stack, and how much of a stack the hooks use.
 */
#include <limits.h>
#include <stddef.h>

#include "guest.h"

static mutex_t a = MUTEX, b = MUTEX, h = MUTEX, k = MUTEX;
static int done;

/* ---- the least thread ---- */

static void small_thread(void)
{
    pthread_attr_t attr;
    struct nesting first = { &a, &b, NULL, 0 };
    struct nesting second = { &b, &a, &first.done, 0 };
    pthread_t t, u;

    pthread_attr_init(&attr);
    CHECK(pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN) == 0);
    CHECK(pthread_create(&t, &attr, nest_thread, &first) == 0);
    CHECK(pthread_create(&u, &attr, nest_thread, &second) == 0);
    join(t);
    join(u);
}

/* ---- a signal stack ---- */

static void on_signal(int signal)
{
    (void)signal;
    if (pthread_mutex_trylock(&k) == 0)
        unlock(&k);
    nest(&h, &k); /* used in the handler alone, and by threads without it */
}

static void signal_stack(void)
{
    struct nesting other = { &k, &h, &done, 0 };
    static char memory[8192 + 8192];
    stack_t ss = { .ss_sp = memory + 8192, .ss_size = 8192 };
    struct sigaction action = { .sa_handler = on_signal,
                                .sa_flags = SA_ONSTACK };
    sigset_t usr1;
    pthread_t t;

    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    CHECK(sigaltstack(&ss, NULL) == 0);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    t = go(nest_thread, &other);
    lock(&a);
    raise(SIGUSR1);
    unlock(&a);
    set_flag(&done);
    join(t);
    raise(SIGUSR1); /* known by now */
    t = go(nest_thread, &other);
    raise(SIGUSR1); /* the ring is found in the handler or in the thread */
    join(t);
    for (size_t i = 0; i < 8192; i++)
        CHECK(memory[i] == 0); /* below the stack */
}

/* The finding is made on the signal stack. */
static void signal_stack_finding(void)
{
    struct nesting other = { &k, &h, NULL, 0 };
    static char memory[8192];
    stack_t ss = { .ss_sp = memory, .ss_size = 8192 };
    struct sigaction action = { .sa_handler = on_signal,
                                .sa_flags = SA_ONSTACK };
    pthread_t t;

    CHECK(sigaltstack(&ss, NULL) == 0);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    t = go(nest_thread, &other);
    wait_flag(&other.done);
    raise(SIGUSR1);
    join(t);
}

/* ---- how much is used ---- */

enum { PAINTED = 32 * 1024, PAINT = 0xa5 };

static __attribute__((noinline)) void paint(char *from)
{
    volatile char *p = from;

    for (size_t i = 1024; i < PAINTED; i++)
        p[-(ptrdiff_t)i] = (char)PAINT;
}

static __attribute__((noinline)) size_t used(const char *from)
{
    for (size_t i = PAINTED - 1; i >= 1024; i--)
        if (from[-(ptrdiff_t)i] != (char)PAINT)
            return i;
    return 0; /* less than 1 KiB */
}

static void limit(const char *what, size_t bytes, size_t most)
{
    dprintf(1, "%s: %zu\n", what, bytes);
    CHECK(bytes <= most);
}

static void *measure(void *argument)
{
    struct nesting other = { &b, &a, NULL, 0 };
    char *here = __builtin_frame_address(0);
    pthread_t t;
    size_t n;

    lock(&k); /* everything is bound and warm */
    unlock(&k);
    for (int i = 0; i < 100; i++) {
        paint(here);
        nest(&h, &k);
    }
    limit("known", used(here), 1024);
    paint(here);
    lock(&a);
    unlock(&a);
    limit("new", used(here), 4096);
    t = go(nest_thread, &other);
    wait_flag(&other.done);
    paint(here);
    nest(&a, &b);
    n = used(here);
    limit("finding", n, 4096);
    join(t);
    for (int i = 0; i < 100; i++) { /* more memory for all that grows */
        static mutex_t many[100];
        pthread_mutex_init(&many[i], NULL);
        paint(here);
        nest(&many[i], &a);
        pthread_mutex_destroy(&many[i]);
        n = used(here);
        if (n > 4096)
            limit("later", n, 4096);
    }
    return argument;
}

int main(int argc, char **argv)
{
    if (is_mode(argv, "thread"))
        small_thread();
    if (is_mode(argv, "signal"))
        signal_stack();
    if (is_mode(argv, "signal-finding"))
        signal_stack_finding();
    if (is_mode(argv, "measure"))
        join(go(measure, NULL));
    (void)argc;
    return 0;
}
