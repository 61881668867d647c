/* SPDX-License-Identifier: MIT
 * real.c - the functions behind our hooks. */
#include "runtime/real.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

struct lh_real lh_real_table;

/* Before glibc 2.36 a plain lookup finds the oldest version, and the condition
 * variables have two ABIs: the old one's object has 8 bytes. */
#define COND_VERSION "GLIBC_2.3.2"
#define SLOT(member) offsetof(struct lh_real, member)

static const struct symbol {
    const char *name;
    const char *version; /* NULL: whatever dlsym() finds */
    size_t slot;         /* offset in struct lh_real */
} symbols[] = {
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
    /* Last: lh_real_ensure() takes it as the sign that the table is full. */
    { "pthread_mutex_unlock", NULL, SLOT(mutex_unlock) },
};

void lh_real_resolve(void)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        const struct symbol *s = &symbols[i];
        void *found = NULL;

        if (s->version)
            found = dlvsym(RTLD_NEXT, s->name, s->version);
        if (!found)
            found = dlsym(RTLD_NEXT, s->name);
        memcpy((char *)&lh_real_table + s->slot, &found, sizeof found);
    }
}
