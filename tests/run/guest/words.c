/* SPDX-License-Identifier: MIT
 * words.c - hangs whose reports are hard to word. */
#include "guest.h"

static mutex_t m = MUTEX;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t both;

/* ---- two readers that want to write ---- */

static void *upgrade(void *unused)
{
    pthread_rwlock_rdlock(&table);
    pthread_barrier_wait(&both);
    pthread_rwlock_wrlock(&table);
    return unused;
}

/* ---- a stack of more than ten places ---- */

static __attribute__((noinline)) int descend(int depth)
{
    if (depth > 0)
        return descend(depth - 1) + 1;
    lock(&m);
    lock(&m);
    return 0;
}

int main(int argc, char **argv)
{
    (void)argc;
    pthread_barrier_init(&both, NULL, 2);
    if (is_mode(argv, "upgrade")) {
        go(upgrade, NULL);
        upgrade(NULL);
    } else if (is_mode(argv, "deep")) {
        printf("%d\n", descend(12));
    }
    return 0;
}
