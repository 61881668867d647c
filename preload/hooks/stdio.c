/* SPDX-License-Identifier: MIT
 *
 * stdio.c - flockfile, ftrylockfile, funlockfile: a FILE as a lock.
 *
 * It counts re-entry. What printf and its kin lock by themselves, libc locks
 * without a call that could be seen.
 */
#include <stdio.h>

#include "hooks/hook.h"
#include "runtime/live.h"

enum {
    blocking = LH_HOW(LH_EXCLUSIVE, LH_WAIT_BLOCK, LH_KIND_FILE),
    trying = LH_HOW(LH_EXCLUSIVE, LH_WAIT_TRY, LH_KIND_FILE),
};

/* What lies behind FILE's _lock; the type has no public definition. */
struct file_lock {
    int lock, count;
    void *owner; /* the thread's pthread_self() */
};

/* True if the caller holds it, also by a call of stdio's own that calls back
 * (fopencookie): no request. */
static bool is_reentry(const FILE *file)
{
    const struct file_lock *lock = (const void *)file->_lock;

    return lock->owner == (void *)pthread_self();
}

static bool is_taken(const FILE *file)
{
    return ((const struct file_lock *)(const void *)file->_lock)->lock != 0;
}

static __attribute__((noinline)) void flock_watched(FILE *file,
                                                    struct lh_slot *slot)
{
    struct lh_watch watch;

    lh_live_enter(&watch, slot);
    lh_real()->flockfile(file);
    lh_live_leave(&watch);
}

static void count_reentry(FILE *file)
{
    struct lh_slot *slot = lh_self ? lh_held_find(lh_self, file, false) : NULL;

    if (slot)
        slot->count++;
}

LH_HOOK void flockfile(FILE *file)
{
    struct lh_slot *slot = NULL;
    bool again = is_reentry(file);

    lh_real_ensure();
    if (again)
        count_reentry(file);
    else
        slot = lh_held_push(file, blocking, LH_CALLER(), LH_CFA());
    if (is_taken(file))
        flock_watched(file, slot);
    else
        lh_real()->flockfile(file);
    lh_held_settle(slot, file, LH_HOLDS);
}

LH_HOOK int ftrylockfile(FILE *file)
{
    struct lh_slot *slot;
    int rc;

    lh_real_ensure();
    if (is_reentry(file)) {
        count_reentry(file);
        return lh_real()->ftrylockfile(file);
    }
    slot = lh_held_push(file, trying, LH_CALLER(), LH_CFA());
    rc = lh_real()->ftrylockfile(file);
    lh_held_settle(slot, file, rc == 0 ? LH_HOLDS : LH_GONE);
    return rc;
}

LH_HOOK void funlockfile(FILE *file)
{
    lh_real_ensure();
    lh_held_release(file);
    lh_real()->funlockfile(file);
}
