/* SPDX-License-Identifier: MIT
 * orders.c - takes two locks in the order asked for; two runs with contrary
 * orders make a ring that neither has.
 *
 *     orders ab|ba [WHO] [WHICH] [gate]
 *
 * WHO    thread (default), main (beside a thread), alone (main, without one),
 *        both: main, and later a thread in the contrary order; or fork: a
 *        thread, and a thread of a child in the contrary order
 * WHICH  static (default), heap: two locks made at one place each, several:
 *        two made and nested at each, or pair: two made at one place, the
 *        first at the lower address
 */
#include "guest.h"

#include <stdbool.h>
#include <sys/wait.h>

static pthread_mutex_t a_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *first = &a_lock, *second = &b_lock;
static bool gated;

static void *take(void *unused)
{
    if (gated)
        pthread_mutex_lock(&gate);
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
    if (gated)
        pthread_mutex_unlock(&gate);
    return unused;
}

static void *idle(void *unused)
{
    return unused;
}

/* Of n made at each place the last is used. */
static void make(int n)
{
    for (int i = 0; i < n; i++) {
        pthread_mutex_init(first = malloc(sizeof *first), NULL);
        nest(&gate, first);
    }
    for (int i = 0; i < n; i++) {
        pthread_mutex_init(second = malloc(sizeof *second), NULL);
        nest(&gate, second);
    }
}

static void make_pair(void)
{
    volatile int n = 2; /* so that the loop is one */
    pthread_mutex_t *pair = malloc(2 * sizeof *pair);
    for (int i = 0; i < n; i++)
        pthread_mutex_init(&pair[i], NULL);
    first = &pair[0];
    second = &pair[1];
}

static void swap(void)
{
    pthread_mutex_t *old = second;
    second = first;
    first = old;
}

static void by_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, take, NULL);
    pthread_join(thread, NULL);
}

static int by_thread_of_each(void)
{
    pid_t child = fork();
    if (child == 0)
        swap();
    by_thread();
    return child && waitpid(child, NULL, 0) != child;
}

int main(int argc, char **argv)
{
    const char *who = argc > 2 ? argv[2] : "thread";
    const char *which = argc > 3 ? argv[3] : "static";
    pthread_t thread;
    gated = argc > 4;
    if (strcmp(which, "pair") == 0)
        make_pair();
    else if (strcmp(which, "static") != 0)
        make(strcmp(which, "several") == 0 ? 2 : 1);
    if (strcmp(argv[1], "ba") == 0)
        swap();
    if (strcmp(who, "fork") == 0)
        return by_thread_of_each();
    bool other = strcmp(who, "thread") == 0 || strcmp(who, "both") == 0;
    if (strcmp(who, "alone") == 0 || strcmp(who, "both") == 0)
        take(NULL);
    if (strcmp(who, "alone") == 0)
        return 0;
    if (strcmp(who, "both") == 0)
        swap();
    pthread_create(&thread, NULL, other ? take : idle, NULL);
    if (strcmp(who, "main") == 0)
        take(NULL);
    pthread_join(thread, NULL);
    return 0;
}
