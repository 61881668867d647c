/* SPDX-License-Identifier: MIT
 *
 * cancel.c - threads that end in the middle: cancelled in a wait, by
 * pthread_exit below several frames, asynchronously; and a cancellation that
 * stays pending through a lock call.
 */
#include "guest.h"

static mutex_t a = MUTEX, b = MUTEX, c = MUTEX;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int waiting, cleaned;

static void unlock_a(void *unused)
{
    (void)unused;
    nest(&c, &b); /* while a is held */
    unlock(&a);
    set_flag(&cleaned);
}

static void *waits(void *unused)
{
    lock(&a);
    pthread_cleanup_push(unlock_a, NULL);
    set_flag(&waiting);
    for (;;)
        pthread_cond_wait(&cond, &a);
    pthread_cleanup_pop(0);
    return unused;
}

/* The mutex is held in the clean-up handler: b under a there, and a under b
 * in another thread. */
static void in_a_wait(void)
{
    struct nesting other = { &b, &a, &cleaned, 0 };
    pthread_t t = go(waits, NULL), u = go(nest_thread, &other);
    void *result;

    wait_flag(&waiting);
    lock(&a); /* it waits, or waits for a */
    unlock(&a);
    pthread_cancel(t);
    CHECK(pthread_join(t, &result) == 0 && result == PTHREAD_CANCELED);
    join(u);
}

static __attribute__((noinline)) void leave(void *result)
{
    volatile char frame[200] = { 0 };

    lock(&a);
    pthread_cleanup_push(unlock_a, NULL);
    pthread_exit(result);
    pthread_cleanup_pop(0);
    (void)frame;
}

static void *exits(void *result)
{
    volatile char frame[100] = { 0 };

    leave(result);
    (void)frame;
    return NULL;
}

static void by_exit(void)
{
    struct nesting other = { &b, &a, &cleaned, 0 };
    pthread_t t = go(exits, &a), u = go(nest_thread, &other);
    void *result;

    CHECK(pthread_join(t, &result) == 0 && result == &a);
    join(u);
}

static void *spins(void *unused)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    set_flag(&waiting);
    for (volatile int i = 0;; i++)
        ;
    return unused;
}

static void asynchronous(void)
{
    pthread_t t = go(spins, NULL);
    void *result;

    wait_flag(&waiting);
    pthread_cancel(t);
    CHECK(pthread_join(t, &result) == 0 && result == PTHREAD_CANCELED);
    invert(&a, &b);
}

static void *locks_with_one_pending(void *unused)
{
    static mutex_t m[100];

    pthread_cancel(pthread_self());
    for (int i = 0; i < 98; i++) { /* records are written */
        lock(&m[i]);
        nest(&m[i + 1], &m[i + 2]);
    }
    for (int i = 0; i < 98; i++)
        unlock(&m[i]);
    CHECK(pthread_mutex_trylock(&a) == 0);
    unlock(&a);
    dprintf(1, "locked and unlocked\n"); /* write(2) is where it ends */
    CHECK(!"still here");
    return unused;
}

static void pending(void)
{
    void *result;
    pthread_t t = go(locks_with_one_pending, NULL);

    CHECK(pthread_join(t, &result) == 0 && result == PTHREAD_CANCELED);
}

/* A thread killed at any instruction of its hooks does not stop the others. */
static mutex_t mine = MUTEX;

static void *locks_its_own(void *flag)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    set_flag(flag);
    for (;;) {
        mutex_t m[4] = { MUTEX, MUTEX, MUTEX, MUTEX };
        pthread_mutex_lock(&m[0]);
        pthread_mutex_lock(&m[1]);
        pthread_mutex_unlock(&m[0]);
        pthread_mutex_unlock(&m[1]);
        pthread_mutex_init(&m[2], NULL);
    }
    return NULL;
}

static void storm(void)
{
    for (int i = 0; i < 300; i++) {
        int flag = 0;
        pthread_t t = go(locks_its_own, &flag);
        wait_flag(&flag);
        for (int k = 0; k < i; k++)
            nest(&mine, &c);
        pthread_cancel(t);
        join(t);
    }
    invert(&a, &b);
}

int main(int argc, char **argv)
{
    if (is_mode(argv, "wait"))
        in_a_wait();
    if (is_mode(argv, "exit"))
        by_exit();
    if (is_mode(argv, "async"))
        asynchronous();
    if (is_mode(argv, "pending"))
        pending();
    if (is_mode(argv, "storm"))
        storm();
    (void)argc;
    return 0;
}
