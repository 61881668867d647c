// SPDX-License-Identifier: MIT
/*
 * kinds.c - nanoseconds a lock/unlock pair takes, for every kind of lock that
 * the C library has; one thread, one lock, one kind a process.
 *
 *     kinds KIND     prints one number
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>

#include "alone.h"

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_spinlock_t spin;
static sem_t semaphore;
static mtx_t c11;

static void loop_read(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        pthread_rwlock_rdlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
    }
}

static void loop_write(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        pthread_rwlock_wrlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
    }
}

static void loop_spin(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        pthread_spin_lock(&spin);
        pthread_spin_unlock(&spin);
    }
}

static void loop_semaphore(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        sem_wait(&semaphore);
        sem_post(&semaphore);
    }
}

static void loop_recursive(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        pthread_mutex_lock(&recursive);
        pthread_mutex_unlock(&recursive);
    }
}

static void loop_c11(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        mtx_lock(&c11);
        mtx_unlock(&c11);
    }
}

/* A lock of a new object is taken while another lock is held, as where objects
 * come and go: each life is seen to nest. */
static void loop_life(size_t n)
{
    static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;

    for (size_t i = 0; i < n; i++) {
        pthread_mutex_t *lock = malloc(64);

        if (!lock)
            abort();
        pthread_mutex_init(lock, NULL);
        pthread_mutex_lock(&list);
        pthread_mutex_lock(lock);
        pthread_mutex_unlock(lock);
        pthread_mutex_unlock(&list);
        pthread_mutex_destroy(lock);
        free(lock);
    }
}

static const struct kind {
    const char *name;
    loop_fn *loop;
} kinds[] = {
    { "rwlock-read", loop_read },    { "rwlock-write", loop_write },
    { "spin", loop_spin },           { "semaphore", loop_semaphore },
    { "recursive", loop_recursive }, { "c11", loop_c11 },
    { "life", loop_life },
};

int main(int argc, char **argv)
{
    if (pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE) != 0 ||
        sem_init(&semaphore, 0, 1) != 0 ||
        mtx_init(&c11, mtx_plain) != thrd_success)
        return 1;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (argc == 2 && !strcmp(argv[1], kinds[i].name))
            return measure_only(kinds[i].loop);
    fprintf(stderr, "usage: kinds KIND\n");
    return 2;
}
