/* SPDX-License-Identifier: MIT
 * lockcalls.c - the functions by which programs take locks. */
#include "lockcalls.h"

#include <string.h>

static const struct {
    const char *name, *family;
} calls[] = {
    { "pthread_mutex_lock", "mutex" },
    { "pthread_mutex_trylock", "mutex" },
    { "pthread_mutex_timedlock", "mutex" },
    { "pthread_mutex_clocklock", "mutex" },
    { "pthread_cond_wait", "condition" },
    { "pthread_cond_timedwait", "condition" },
    { "pthread_cond_clockwait", "condition" },
    { "pthread_rwlock_rdlock", "read-write lock" },
    { "pthread_rwlock_tryrdlock", "read-write lock" },
    { "pthread_rwlock_timedrdlock", "read-write lock" },
    { "pthread_rwlock_clockrdlock", "read-write lock" },
    { "pthread_rwlock_wrlock", "read-write lock" },
    { "pthread_rwlock_trywrlock", "read-write lock" },
    { "pthread_rwlock_timedwrlock", "read-write lock" },
    { "pthread_rwlock_clockwrlock", "read-write lock" },
    { "pthread_spin_lock", "spinlock" },
    { "pthread_spin_trylock", "spinlock" },
    { "sem_wait", "semaphore" },
    { "sem_trywait", "semaphore" },
    { "sem_timedwait", "semaphore" },
    { "sem_clockwait", "semaphore" },
    { "mtx_lock", "C11 mutex" },
    { "mtx_trylock", "C11 mutex" },
    { "mtx_timedlock", "C11 mutex" },
    { "cnd_wait", "C11 condition" },
    { "cnd_timedwait", "C11 condition" },
    { "pthread_once", "once" },
    { "call_once", "once" },
    { "__cxa_guard_acquire", "static initialization" },
    { "flockfile", "stream" },
    { "ftrylockfile", "stream" },
    { "dlopen", "loader" },
    { "dlmopen", "loader" },
    { "dlclose", "loader" },
    { "dl_iterate_phdr", "loader" },
    { "g_mutex_lock", "GMutex" },
    { "g_mutex_trylock", "GMutex" },
    { "g_cond_wait", "GCond" },
    { "g_cond_wait_until", "GCond" },
    { "g_rec_mutex_lock", "GRecMutex" },
    { "g_rec_mutex_trylock", "GRecMutex" },
    { "g_rw_lock_reader_lock", "GRWLock" },
    { "g_rw_lock_reader_trylock", "GRWLock" },
    { "g_rw_lock_writer_lock", "GRWLock" },
    { "g_rw_lock_writer_trylock", "GRWLock" },
};

enum { NCALLS = sizeof calls / sizeof *calls };

int lh_lockcalls_find(const char *name)
{
    /* Most names of a large program are none of these. */
    if (name[0] == '_' ? name[1] != '_' : !strchr("cdfgmps", name[0]))
        return -1;
    for (int i = 0; i < NCALLS; i++)
        if (strcmp(calls[i].name, name) == 0)
            return i;
    return -1;
}

size_t lh_lockcalls_count(void)
{
    return NCALLS;
}

const char *lh_lockcalls_name(size_t call)
{
    return calls[call].name;
}

const char *lh_lockcalls_family(size_t call)
{
    return calls[call].family;
}
