/* SPDX-License-Identifier: MIT
 * lockwords.c - what people call the kinds of lock. */
#include "lockwords.h"

#include <stddef.h>
#include <string.h>

#include "model.h"

#define INSIDE "is inside the initialization of"
#define AFTER "waits for the initialization of"

static const struct lh_lockwords table[] = {
    { "mutex", "mutex", "mutex", "", "", "holds", "waits for" },
    { "rwlock", "rwlock", "read-write lock", "", "", "holds", "waits for" },
    { "spinlock", "spinlock", "spinlock", "", "", "holds", "spins for" },
    { "semaphore", "semaphore", "semaphore", "", "", "holds", "waits for" },
    { "once", "once", "once flag", "",
      "held while its initialization routine runs", INSIDE, AFTER },
    { "static-init", "static", "static variable", "",
      "locked while it is initialized for the first time", INSIDE, AFTER },
    { "file", "stream", "stdio stream", "", "", "holds", "waits for" },
    { "loader", "loader", "lock of the dynamic loader", "_dl_load_lock",
      "held by dlopen and dlclose, and so while constructors and destructors "
      "of libraries run",
      "holds", "waits for" },
    { "loader-write", "loader", "lock of the dynamic loader",
      "_dl_load_write_lock",
      "held by dl_iterate_phdr while it calls its callback, and by dlopen and "
      "dlclose while they change the list of libraries",
      "holds", "waits for" },
    { "gmutex", "GMutex", "GMutex", "", "", "holds", "waits for" },
    { "grecmutex", "GRecMutex", "GRecMutex", "", "", "holds", "waits for" },
    { "grwlock", "GRWLock", "GRWLock", "", "", "holds", "waits for" },
    { "thread", "thread", "end of a thread", "", "waited for by a join",
      "comes before", "waits for" },
    { "annotated", "lock", "annotated lock", "", "", "holds", "waits for" },
};

struct lh_lockwords lh_lockwords_of(const char *kind)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].kind, kind) == 0)
            return table[i];
    return (
        struct lh_lockwords){ kind, kind, kind, "", "", "holds", "waits for" };
}

bool lh_lockwords_event(const char *kind)
{
    return strcmp(kind, "once") == 0 || strcmp(kind, "static-init") == 0;
}

const char *lh_lockwords_mode(const char *kind, int shared)
{
    if (strcmp(kind, "rwlock") == 0 || strcmp(kind, "grwlock") == 0)
        return shared ? " for reading" : " for writing";
    return shared ? " (shared)" : "";
}

void lh_lockwords_subtype(const struct lh_model_lock *lock,
                          const char **adjective, const char **clause)
{
    static const char *const plain[] = { "", "normal", "prefer-reader",
                                         /* glibc treats it like those */
                                         "prefer-writer" };
    *adjective = *clause = "";
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(lock->subtype, plain[i]) == 0)
            return;
    if (strcmp(lock->subtype, "prefer-writer-nonrecursive") == 0)
        *clause = " that prefers writers";
    else
        *adjective = lock->subtype;
}
