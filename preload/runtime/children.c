/* SPDX-License-Identifier: MIT
 * children.c - which forks made which child, and which children have ended. */
#include "runtime/children.h"

#include <stdatomic.h>

#include "runtime/fmt.h"
#include "runtime/state.h"
#include "runtime/sys.h"

enum { REMEMBERED = 512, REAPED = -1 };

/* Their process ids by the number of the fork, which each child writes itself:
 * shared memory, as the handlers of fork tell the parent nothing. */
static struct {
    _Atomic int32_t pids[REMEMBERED]; /* 0: none yet */
} * children;

static uint32_t nforks, forking, own_number;

static void record(struct lh_thread *t, const char *type, uint32_t number)
{
    lh_fmt_text(&lh_state.out, "{\"type\":");
    lh_fmt_string(&lh_state.out, type);
    lh_fmt_key_unsigned(&lh_state.out, "fork", number);
    lh_fmt_key_unsigned(&lh_state.out, "thread", t->number);
    lh_fmt_text(&lh_state.out, "}\n");
}

void lh_children_before_fork(struct lh_thread *t, bool followed)
{
    forking = 0;
    if (!followed || !t)
        return;
    if (!children)
        children = lh_sys_map_shared(sizeof *children);
    if (!children)
        return;
    lh_children_record_reaped(t);
    forking = ++nforks;
    atomic_store(&children->pids[forking % REMEMBERED], 0);
    record(t, "fork", forking);
}

uint32_t lh_children_forking(void)
{
    return forking;
}

void lh_children_begin(uint32_t n)
{
    if (children && n)
        atomic_store(&children->pids[n % REMEMBERED], (int32_t)lh_sys_getpid());
    if (children)
        lh_sys_unmap(children, sizeof *children);
    children = NULL;
    own_number = n;
    nforks = forking = 0;
}

uint32_t lh_children_own_number(void)
{
    return own_number;
}

uint32_t lh_children_count(void)
{
    return nforks;
}

void lh_children_record_reaped(struct lh_thread *t)
{
    uint32_t first = nforks > REMEMBERED ? nforks - REMEMBERED : 0;

    for (uint32_t n = first + 1; children && n <= nforks; n++) {
        _Atomic int32_t *pid = &children->pids[n % REMEMBERED];
        int32_t child = atomic_load(pid);
        if (child <= 0 || lh_sys_thread_exists(child, child))
            continue;
        atomic_store(pid, REAPED);
        record(t, "reaped", n);
    }
}
