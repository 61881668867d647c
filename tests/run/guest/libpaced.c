/* SPDX-License-Identifier: MIT
 * libpaced.c - a preload in which pthread_create() returns when the new thread
 * has come to its first usleep(): what the thread does before is over then. */
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic uint32_t sleeps;

int usleep(useconds_t microseconds)
{
    int (*next)(useconds_t);

    *(void **)&next = dlsym(RTLD_NEXT, "usleep");
    sleeps = 1;
    syscall(SYS_futex, &sleeps, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
    return next(microseconds);
}

int pthread_create(pthread_t *handle, const pthread_attr_t *attr,
                   void *(*routine)(void *), void *argument)
{
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    int rc;

    *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
    rc = next(handle, attr, routine, argument);
    while (rc == 0 && !sleeps)
        syscall(SYS_futex, &sleeps, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    return rc;
}
