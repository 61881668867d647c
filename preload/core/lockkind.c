/* SPDX-License-Identifier: MIT
 * lockkind.c - what the kinds of lock are called. */
#include "lockkind.h"

static const struct {
    const char *word, *noun;
} names[LH_NKINDS] = {
    [LH_KIND_MUTEX] = { "mutex", "mutex" },
    [LH_KIND_RWLOCK] = { "rwlock", "read-write lock" },
    [LH_KIND_SPIN] = { "spinlock", "spinlock" },
    [LH_KIND_SEMAPHORE] = { "semaphore", "semaphore" },
    [LH_KIND_ONCE] = { "once", "once" },
    [LH_KIND_STATIC_INIT] = { "static-init", "static initialization" },
    [LH_KIND_FILE] = { "file", "stream" },
    [LH_KIND_LOADER] = { "loader", "loader lock" },
    [LH_KIND_LOADER_WRITE] = { "loader-write", "loader lock" },
    [LH_KIND_GMUTEX] = { "gmutex", "GMutex" },
    [LH_KIND_GRECMUTEX] = { "grecmutex", "GRecMutex" },
    [LH_KIND_GRWLOCK] = { "grwlock", "GRWLock" },
    [LH_KIND_THREAD] = { "thread", "thread" },
    [LH_KIND_ANNOTATED] = { "annotated", "lock" },
};

const char *lh_kind_word(unsigned kind)
{
    return names[kind < LH_NKINDS ? kind : LH_KIND_ANNOTATED].word;
}

const char *lh_kind_noun(unsigned kind)
{
    return names[kind < LH_NKINDS ? kind : LH_KIND_ANNOTATED].noun;
}
