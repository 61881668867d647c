/* SPDX-License-Identifier: MIT
 * libbehind.c - a preload that has functions of mutexes, as sanitizers do: what
 * it sees taken it must see given back. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static _Atomic int taken;

static int call(const char *name, pthread_mutex_t *mutex)
{
    int (*next)(pthread_mutex_t *);

    *(void **)&next = dlsym(RTLD_NEXT, name);
    return next(mutex);
}

static int take(const char *name, pthread_mutex_t *mutex)
{
    int rc = call(name, mutex);

    taken += rc == 0;
    return rc;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    return take("pthread_mutex_lock", mutex);
}

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    return take("pthread_mutex_trylock", mutex);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    taken--;
    return call("pthread_mutex_unlock", mutex);
}

__attribute__((destructor)) static void tell(void)
{
    dprintf(1, "%d never given back\n", taken);
}
