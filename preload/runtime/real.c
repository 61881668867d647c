/* SPDX-License-Identifier: MIT
 * real.c - the functions behind our hooks. */
#include "runtime/real.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

struct lh_real lh_real_table;

/* Before glibc 2.36 a plain lookup finds the oldest version, and the condition
 * variables have two ABIs: the old one's object has 8 bytes. */
#define COND_VERSION "GLIBC_2.3.2"
#define SLOT(member) offsetof(struct lh_real, member)

struct symbol {
    const char *name;
    const char *version; /* NULL: whatever dlsym() finds */
    size_t slot;         /* offset in struct lh_real */
};

/* Of whoever allocates: what a program that asks for this version gets behind
 * us. */
static const struct symbol memory[] = {
    { "free", "GLIBC_2.2.5", SLOT(free) },
    { "realloc", "GLIBC_2.2.5", SLOT(realloc) },
    { "reallocarray", "GLIBC_2.26", SLOT(reallocarray) },
    { "malloc_usable_size", "GLIBC_2.2.5", SLOT(malloc_usable_size) },
    { "mmap", "GLIBC_2.2.5", SLOT(mmap) },
    { "munmap", "GLIBC_2.2.5", SLOT(munmap) },
    { "madvise", "GLIBC_2.2.5", SLOT(madvise) },
    { "mremap", "GLIBC_2.2.5", SLOT(mremap) },
};

static const struct symbol symbols[] = {
    { "pthread_mutex_init", NULL, SLOT(mutex_init) },
    { "pthread_mutex_destroy", NULL, SLOT(mutex_destroy) },
    { "pthread_mutex_lock", NULL, SLOT(mutex_lock) },
    { "pthread_mutex_trylock", NULL, SLOT(mutex_trylock) },
    { "pthread_mutex_timedlock", NULL, SLOT(mutex_timedlock) },
    { "pthread_mutex_clocklock", NULL, SLOT(mutex_clocklock) },
    { "pthread_cond_wait", COND_VERSION, SLOT(cond_wait) },
    { "pthread_cond_timedwait", COND_VERSION, SLOT(cond_timedwait) },
    { "pthread_cond_clockwait", NULL, SLOT(cond_clockwait) },
    { "pthread_create", NULL, SLOT(create) },
    { "pthread_join", NULL, SLOT(join) },
    { "pthread_tryjoin_np", NULL, SLOT(tryjoin_np) },
    { "pthread_timedjoin_np", NULL, SLOT(timedjoin_np) },
    { "pthread_clockjoin_np", NULL, SLOT(clockjoin_np) },
    { "pthread_detach", NULL, SLOT(detach) },
    { "pthread_exit", NULL, SLOT(exit) },
    { "pthread_setname_np", NULL, SLOT(setname_np) },
    { "pthread_rwlock_init", NULL, SLOT(rwlock_init) },
    { "pthread_rwlock_destroy", NULL, SLOT(rwlock_destroy) },
    { "pthread_rwlock_rdlock", NULL, SLOT(rwlock_rdlock) },
    { "pthread_rwlock_tryrdlock", NULL, SLOT(rwlock_tryrdlock) },
    { "pthread_rwlock_timedrdlock", NULL, SLOT(rwlock_timedrdlock) },
    { "pthread_rwlock_clockrdlock", NULL, SLOT(rwlock_clockrdlock) },
    { "pthread_rwlock_wrlock", NULL, SLOT(rwlock_wrlock) },
    { "pthread_rwlock_trywrlock", NULL, SLOT(rwlock_trywrlock) },
    { "pthread_rwlock_timedwrlock", NULL, SLOT(rwlock_timedwrlock) },
    { "pthread_rwlock_clockwrlock", NULL, SLOT(rwlock_clockwrlock) },
    { "pthread_rwlock_unlock", NULL, SLOT(rwlock_unlock) },
    { "pthread_spin_init", NULL, SLOT(spin_init) },
    { "pthread_spin_destroy", NULL, SLOT(spin_destroy) },
    { "pthread_spin_lock", NULL, SLOT(spin_lock) },
    { "pthread_spin_trylock", NULL, SLOT(spin_trylock) },
    { "pthread_spin_unlock", NULL, SLOT(spin_unlock) },
    { "pthread_mutex_consistent", NULL, SLOT(mutex_consistent) },
    { "pthread_once", NULL, SLOT(once) },
    { "sem_init", NULL, SLOT(sem_init) },
    { "sem_destroy", NULL, SLOT(sem_destroy) },
    { "sem_wait", NULL, SLOT(sem_wait) },
    { "sem_trywait", NULL, SLOT(sem_trywait) },
    { "sem_timedwait", NULL, SLOT(sem_timedwait) },
    { "sem_clockwait", NULL, SLOT(sem_clockwait) },
    { "sem_post", NULL, SLOT(sem_post) },
    { "mtx_init", NULL, SLOT(mtx_init) },
    { "mtx_destroy", NULL, SLOT(mtx_destroy) },
    { "mtx_lock", NULL, SLOT(mtx_lock) },
    { "mtx_trylock", NULL, SLOT(mtx_trylock) },
    { "mtx_timedlock", NULL, SLOT(mtx_timedlock) },
    { "mtx_unlock", NULL, SLOT(mtx_unlock) },
    { "cnd_wait", NULL, SLOT(cnd_wait) },
    { "cnd_timedwait", NULL, SLOT(cnd_timedwait) },
    { "thrd_create", NULL, SLOT(thrd_create) },
    { "thrd_join", NULL, SLOT(thrd_join) },
    { "thrd_detach", NULL, SLOT(thrd_detach) },
    { "thrd_exit", NULL, SLOT(thrd_exit) },
    { "call_once", NULL, SLOT(call_once) },
    { "flockfile", NULL, SLOT(flockfile) },
    { "ftrylockfile", NULL, SLOT(ftrylockfile) },
    { "funlockfile", NULL, SLOT(funlockfile) },
    { "dlopen", NULL, SLOT(dlopen) },
    { "dlmopen", NULL, SLOT(dlmopen) },
    { "dlclose", NULL, SLOT(dlclose) },
    { "dlsym", NULL, SLOT(dlsym) },
    { "dlvsym", NULL, SLOT(dlvsym) },
    { "dladdr", NULL, SLOT(dladdr) },
    { "dladdr1", NULL, SLOT(dladdr1) },
    { "dl_iterate_phdr", NULL, SLOT(dl_iterate_phdr) },
    /* Last: lh_real_ensure() takes it as the sign that the table is full. */
    { "pthread_mutex_unlock", NULL, SLOT(mutex_unlock) },
};

/*
 * The names dlsym and dlvsym are hooks of ours (hooks/loader.c), but for this
 * version of dlvsym, which new programs do not ask for.
 */
void *lh_next_dlvsym(void *handle, const char *name, const char *version);
__asm__(".symver lh_next_dlvsym, dlvsym@GLIBC_2.2.5");

typedef void *lookup_function(void *handle, const char *name);

static lookup_function *next_dlsym(void)
{
    void *found = lh_next_dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");

    if (!found)
        found = lh_next_dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    return (lookup_function *)found;
}

static const struct link_map *map_of(const void *address)
{
    struct dl_find_object found;

    return _dl_find_object((void *)address, &found) == 0 ? found.dlfo_link_map
                                                         : NULL;
}

/* The one of two functions whose library comes first behind this one. */
static void *first_of(void *a, void *b)
{
    const struct link_map *map_a = map_of(a), *map_b = map_of(b);
    const struct link_map *map = map_of(&lh_real_table);

    for (; map; map = map->l_next) {
        if (map == map_a)
            return a;
        if (map == map_b)
            return b;
    }
    return a;
}

/*
 * What a reference to a version is bound to: a function of that version, even
 * if it is an old one (libc_malloc_debug.so has no other), or one without any
 * version (jemalloc's), whichever comes first. No look-up finds both.
 */
static void *bound(const struct symbol *s, lookup_function *lookup)
{
    void *versioned = lh_next_dlvsym(RTLD_NEXT, s->name, s->version);
    void *other = lookup(RTLD_NEXT, s->name);

    if (!versioned || !other || versioned == other)
        return versioned ? versioned : other;
    return first_of(versioned, other);
}

/* A look-up that fails frees what it had to say the last time: these come
 * first, and are there when it does. */
static void resolve_memory(lookup_function *lookup)
{
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) {
        void *found = bound(&memory[i], lookup);

        memcpy((char *)&lh_real_table + memory[i].slot, &found, sizeof found);
    }
}

static bool is_of_one(void *a, void *b)
{
    struct dl_find_object x, y;

    return a && b && _dl_find_object(a, &x) == 0 &&
           _dl_find_object(b, &y) == 0 && x.dlfo_link_map == y.dlfo_link_map;
}

static bool has_limits(const struct lh_real *real)
{
    return is_of_one((void *)real->mutex_lock, (void *)real->mutex_clocklock) &&
           is_of_one((void *)real->rwlock_rdlock,
                     (void *)real->rwlock_clockrdlock) &&
           is_of_one((void *)real->rwlock_wrlock,
                     (void *)real->rwlock_clockwrlock) &&
           is_of_one((void *)real->join, (void *)real->clockjoin_np);
}

void lh_real_resolve(void)
{
    lookup_function *lookup = next_dlsym();

    resolve_memory(lookup);
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        const struct symbol *s = &symbols[i];
        void *found = NULL;

        if (s->version)
            found = lh_next_dlvsym(RTLD_NEXT, s->name, s->version);
        if (!found)
            found = lookup(RTLD_NEXT, s->name);
        memcpy((char *)&lh_real_table + s->slot, &found, sizeof found);
    }
    lh_real_table.in_pieces = has_limits(&lh_real_table);
}
