/* SPDX-License-Identifier: MIT
 *
 * once.c - pthread_once, and call_once of C11, which is the same thing by
 * another name.
 *
 * A once is a lock that its routine is run under: whoever else asks for it
 * waits until that has returned. Which call runs the routine shows when the
 * routine is run, so glibc is given one of ours, which ends in a jump to the
 * program's. Nothing here comes back from a routine that is left by an
 * exception or by pthread_exit (pthread_cleanup_push would be left registered
 * by an exception): see lh_held_drop_left().
 */
#include <threads.h>

#include "hooks/hook.h"
#include "runtime/live.h"
#include "runtime/onces.h"

enum {
    asked = LH_HOW(LH_EXCLUSIVE, LH_WAIT_BLOCK, LH_KIND_ONCE) | LH_HOW_RUNS
};

/* A call that may run the routine; on the stack of its hook. */
struct lh_once_call {
    pthread_once_t *once;
    void (*routine)(void);
    struct lh_slot *slot;
    struct lh_once_call *outer;
    bool runs;
};

static pthread_once_t *once_of(once_flag *flag)
{
    _Static_assert(sizeof *flag == sizeof(pthread_once_t), "the same object");
    return (pthread_once_t *)flag;
}

/* glibc's __PTHREAD_ONCE_DONE; what its own first look is for. */
static bool is_done(const pthread_once_t *once)
{
    return __builtin_expect(__atomic_load_n(once, __ATOMIC_ACQUIRE) & 2, 1);
}

/* The first call of this thread says something, the others nothing: onces.h. */
static void mention(pthread_once_t *once, void *pc, uintptr_t cfa)
{
    if (lh_self && lh_once_learn(lh_self, once))
        lh_held_settle(lh_held_push(once, asked, pc, cfa), once, LH_GONE);
}

/* What glibc calls, on the thread of the newest call. */
static void run(void)
{
    struct lh_once_call *call = lh_self->once;

    call->runs = true;
    lh_held_settle(call->slot, call->once, LH_HOLDS);
    call->routine();
}

/* By some thread: one that comes waits for its end. */
static bool is_running(const pthread_once_t *once)
{
    return (*once & 3) == 1;
}

/* Returns the routine for glibc. */
static void (*begin(struct lh_once_call *call, pthread_once_t *once,
                    void (*routine)(void), void *pc, uintptr_t cfa))(void)
{
    struct lh_slot *running = NULL;

    *call = (struct lh_once_call){ .once = once, .routine = routine };
    if (lh_self) {
        lh_held_drop_left(lh_self, cfa);
        running = lh_held_running(lh_self, once, cfa);
    }
    if (running)
        lh_self_deadlock(running, pc, cfa);
    call->slot = lh_held_push(once, asked, pc, cfa);
    if (!call->slot)
        return routine;
    call->outer = lh_self->once;
    lh_self->once = call;
    return run;
}

static void end(const struct lh_once_call *call)
{
    if (!call->slot)
        return;
    lh_self->once = call->outer;
    if (call->runs)
        lh_held_release(call->once);
    else
        lh_held_settle(call->slot, call->once, LH_GONE);
    lh_once_learn(lh_self, call->once);
}

static __attribute__((noinline)) int
once_slow(pthread_once_t *once, void (*routine)(void), void *pc, uintptr_t cfa)
{
    struct lh_once_call call;
    struct lh_watch watch;
    int rc;

    routine = begin(&call, once, routine, pc, cfa);
    lh_live_enter(&watch, is_running(once) ? call.slot : NULL);
    rc = lh_real()->once(once, routine);
    lh_live_leave(&watch);
    end(&call);
    return rc;
}

LH_HOOK int pthread_once(pthread_once_t *once, void (*routine)(void))
{
    lh_real_ensure();
    if (!is_done(once))
        return once_slow(once, routine, LH_CALLER(), LH_CFA());
    mention(once, LH_CALLER(), LH_CFA());
    return lh_real()->once(once, routine);
}

static __attribute__((noinline)) void
call_once_slow(once_flag *flag, void (*routine)(void), void *pc, uintptr_t cfa)
{
    struct lh_once_call call;
    struct lh_watch watch;

    routine = begin(&call, once_of(flag), routine, pc, cfa);
    lh_live_enter(&watch, is_running(once_of(flag)) ? call.slot : NULL);
    lh_real()->call_once(flag, routine);
    lh_live_leave(&watch);
    end(&call);
}

LH_HOOK void call_once(once_flag *flag, void (*routine)(void))
{
    lh_real_ensure();
    if (!is_done(once_of(flag))) {
        call_once_slow(flag, routine, LH_CALLER(), LH_CFA());
        return;
    }
    mention(once_of(flag), LH_CALLER(), LH_CFA());
    lh_real()->call_once(flag, routine);
}

LH_VERSIONS(pthread_once, "GLIBC_2.34", "GLIBC_2.2.5");
LH_VERSIONS(call_once, "GLIBC_2.34", "GLIBC_2.28");
