/* SPDX-License-Identifier: MIT
 *
 * real.h - the functions behind our hooks, as the next library has them.
 *
 * Filled once by the constructor (initfirst: nothing runs before it), or by a
 * call that still comes earlier. A name that the C library does not have stays
 * NULL and its hook returns ENOSYS.
 */
#ifndef LH_RUNTIME_REAL_H
#define LH_RUNTIME_REAL_H

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>

struct lh_real {
    void (*free)(void *);
    void *(*realloc)(void *, size_t);
    void *(*reallocarray)(void *, size_t, size_t);
    size_t (*malloc_usable_size)(void *);
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    int (*munmap)(void *, size_t);
    int (*madvise)(void *, size_t, int);
    void *(*mremap)(void *, size_t, size_t, int, ...);
    int (*mutex_init)(pthread_mutex_t *, const pthread_mutexattr_t *);
    int (*mutex_destroy)(pthread_mutex_t *);
    int (*mutex_lock)(pthread_mutex_t *);
    int (*mutex_trylock)(pthread_mutex_t *);
    int (*mutex_timedlock)(pthread_mutex_t *, const struct timespec *);
    int (*mutex_clocklock)(pthread_mutex_t *, clockid_t,
                           const struct timespec *);
    int (*mutex_unlock)(pthread_mutex_t *);
    int (*cond_wait)(pthread_cond_t *, pthread_mutex_t *);
    int (*cond_timedwait)(pthread_cond_t *, pthread_mutex_t *,
                          const struct timespec *);
    int (*cond_clockwait)(pthread_cond_t *, pthread_mutex_t *, clockid_t,
                          const struct timespec *);
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                  void *);
    int (*join)(pthread_t, void **);
    int (*tryjoin_np)(pthread_t, void **);
    int (*timedjoin_np)(pthread_t, void **, const struct timespec *);
    int (*clockjoin_np)(pthread_t, void **, clockid_t, const struct timespec *);
    int (*detach)(pthread_t);
    void (*exit)(void *);
    int (*setname_np)(pthread_t, const char *);
    int (*rwlock_init)(pthread_rwlock_t *, const pthread_rwlockattr_t *);
    int (*rwlock_destroy)(pthread_rwlock_t *);
    int (*rwlock_rdlock)(pthread_rwlock_t *);
    int (*rwlock_tryrdlock)(pthread_rwlock_t *);
    int (*rwlock_timedrdlock)(pthread_rwlock_t *, const struct timespec *);
    int (*rwlock_clockrdlock)(pthread_rwlock_t *, clockid_t,
                              const struct timespec *);
    int (*rwlock_wrlock)(pthread_rwlock_t *);
    int (*rwlock_trywrlock)(pthread_rwlock_t *);
    int (*rwlock_timedwrlock)(pthread_rwlock_t *, const struct timespec *);
    int (*rwlock_clockwrlock)(pthread_rwlock_t *, clockid_t,
                              const struct timespec *);
    int (*rwlock_unlock)(pthread_rwlock_t *);
    int (*spin_init)(pthread_spinlock_t *, int);
    int (*spin_destroy)(pthread_spinlock_t *);
    int (*spin_lock)(pthread_spinlock_t *);
    int (*spin_trylock)(pthread_spinlock_t *);
    int (*spin_unlock)(pthread_spinlock_t *);
    int (*mutex_consistent)(pthread_mutex_t *);
    int (*once)(pthread_once_t *, void (*)(void));
    int (*sem_init)(sem_t *, int, unsigned);
    int (*sem_destroy)(sem_t *);
    int (*sem_wait)(sem_t *);
    int (*sem_trywait)(sem_t *);
    int (*sem_timedwait)(sem_t *, const struct timespec *);
    int (*sem_clockwait)(sem_t *, clockid_t, const struct timespec *);
    int (*sem_post)(sem_t *);
    int (*mtx_init)(mtx_t *, int);
    void (*mtx_destroy)(mtx_t *);
    /* mtx_t is the same object as pthread_mutex_t. */
    int (*mtx_lock)(pthread_mutex_t *);
    int (*mtx_trylock)(pthread_mutex_t *);
    int (*mtx_timedlock)(pthread_mutex_t *, const struct timespec *);
    int (*mtx_unlock)(pthread_mutex_t *);
    int (*cnd_wait)(cnd_t *, mtx_t *);
    int (*cnd_timedwait)(cnd_t *, mtx_t *, const struct timespec *);
    int (*thrd_create)(thrd_t *, thrd_start_t, void *);
    int (*thrd_join)(thrd_t, int *);
    int (*thrd_detach)(thrd_t);
    void (*thrd_exit)(int);
    void (*call_once)(once_flag *, void (*)(void));
    void (*flockfile)(FILE *);
    int (*ftrylockfile)(FILE *);
    void (*funlockfile)(FILE *);
    void *(*dlopen)(const char *, int);
    void *(*dlmopen)(Lmid_t, const char *, int);
    int (*dlclose)(void *);
    void *(*dlsym)(void *, const char *);
    void *(*dlvsym)(void *, const char *, const char *);
    int (*dladdr)(const void *, Dl_info *);
    int (*dladdr1)(const void *, Dl_info *, void **, int);
    int (*dl_iterate_phdr)(int (*)(struct dl_phdr_info *, size_t, void *),
                           void *);
    /* A wait may be made in pieces by the forms with a limit: they are of the
     * same library as the ones without. A sanitizer behind us that has only
     * some of them would not see the lock taken. */
    bool in_pieces;
};

extern struct lh_real lh_real_table __attribute__((visibility("hidden")));

/* Fills the table. Needs the loader's lock, so no hook calls it once it is
 * filled. */
void lh_real_resolve(void);

/* Fills the table if it is still empty. Whoever finds no thread state calls
 * this: a state is made only after the table was filled. */
static inline void lh_real_ensure(void)
{
    if (!lh_real_table.mutex_unlock)
        lh_real_resolve();
}

static inline const struct lh_real *lh_real(void)
{
    return &lh_real_table;
}

#endif
