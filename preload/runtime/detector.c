/* SPDX-License-Identifier: MIT
 * detector.c - the process starts, forks and ends. */
#include "runtime/detector.h"

#include <string.h>
#include <sys/resource.h>

#include "core/order.h"
#include "core/segments.h"
#include "runtime/arena.h"
#include "runtime/children.h"
#include "runtime/config.h"
#include "runtime/forked.h"
#include "runtime/frames.h"
#include "runtime/guard.h"
#include "runtime/kinds.h"
#include "runtime/live.h"
#include "runtime/lockcheck.h"
#include "runtime/locks.h"
#include "runtime/logfile.h"
#include "runtime/modules.h"
#include "runtime/mutexcheck.h"
#include "runtime/news.h"
#include "runtime/printer.h"
#include "runtime/request.h"
#include "runtime/semaphore.h"
#include "runtime/shared.h"
#include "runtime/sites.h"
#include "runtime/stacks.h"
#include "runtime/state.h"
#include "runtime/sys.h"

static struct lh_guard fork_guard; /* of the thread that forks */

/* A page that the kernel wipes in a child made without the atfork handlers
 * (_Fork, clone, a raw system call): 1 in the process that set it up. */
static uint32_t *alive;

static void start_afresh(uint32_t fork_number);

bool lh_detector_is_unknown_process(void)
{
    return alive && *alive == 0;
}

void lh_detector_check_process(void)
{
    if (__builtin_expect(lh_detector_is_unknown_process(), 0))
        start_afresh(0);
}

/* The value behind "NAME=", or NULL: getenv has no environment yet. */
static const char *variable(char **envp, const char *name_equals)
{
    size_t n = strlen(name_equals);

    for (; envp && *envp; envp++)
        if (strncmp(*envp, name_equals, n) == 0)
            return *envp + n;
    return NULL;
}

void lh_detector_start(char **envp)
{
    struct rlimit limit = { 0, 0 };
    struct lh_thread *t;

    lh_config_parse(&lh_config, variable(envp, "LOCKHOUND="));
    lh_arena_set_budget(lh_config.memory_bytes);
    lh_modules_init();
    lh_stderr_remember();
    lh_stacks_warm_up();
    lh_state.pid = lh_sys_getpid();
    alive = lh_arena_wiped_by_fork();
    lh_state_begin(NULL);
    t = lh_detector_attach();
    if (!t) {
        lh_state_turn_off("memory= is too small: nothing is watched");
        return;
    }
    getrlimit(RLIMIT_STACK, &limit);
    t->stack_high = (uintptr_t)envp;
    t->stack_low = t->stack_high - (limit.rlim_cur < (1ul << 40)
                                        ? (uintptr_t)limit.rlim_cur
                                        : (uintptr_t)8 << 20);
    lh_frames_add_stack(t);
    if (lh_news_wants_records()) {
        lh_news_open_log();
        if (!lh_logfile_is_open())
            lh_printer_note("no records are written: dir= is no folder that "
                            "may be written to (it is not made)");
    }
    if (*lh_config.complaint)
        lh_printer_note(lh_config.complaint);
}

/* Nobody has joined them, or will. */
static void check_ended_threads(void)
{
    for (struct lh_thread *t = lh_thread_first(); t; t = t->next)
        if (t->tid && lh_held_first(t) &&
            !lh_sys_thread_exists(lh_state.pid, t->tid))
            lh_lockcheck_thread_ended(t);
}

void lh_detector_finish(void)
{
    struct lh_thread *self = lh_self ? lh_self : lh_detector_attach();
    struct lh_guard guard;

    if (!self || lh_state_is_off())
        return;
    lh_state_enter(&guard);
    check_ended_threads();
    lh_rawlock_give(&lh_state.lock);
    lh_news_flush(self); /* the end record is the last */
    lh_rawlock_take(&lh_state.lock);
    for (struct lh_thread *t = lh_thread_first(); t; t = t->next)
        lh_request_keep_counts(t);
    lh_state.judged = self;
    lh_order_settle(lh_state.order);
    lh_news_add_notes(self);
    if (lh_logfile_is_open())
        lh_news_write_counts();
    lh_rawlock_give(&lh_state.lock);
    lh_news_flush(self);
    lh_guard_leave(&guard);
}

bool lh_detector_found(void)
{
    return lh_state.found_something;
}

/* Where locks are shared: from here on, requests of this thread that are known
 * already are recorded again, as they no longer come before the child. */
static void follow_fork(void)
{
    bool followed = lh_shared_any() && lh_news_wants_records() && lh_self &&
                    !lh_state_is_off();

    if (followed) {
        lh_news_open_log();
        lh_state.epoch++;
        lh_state_renew_root(lh_self);
    }
    lh_children_before_fork(lh_self, followed);
}

void lh_detector_before_fork(void)
{
    struct lh_guard guard;

    lh_state_enter(&guard);
    follow_fork();
    lh_sites_lock();
    lh_stacks_lock();
    fork_guard = guard;
}

/* In a child: only the caller is left of the threads, and what the others did
 * cannot meet what is done here. */
static void start_afresh(uint32_t fork_number)
{
    struct lh_thread *self = lh_self;
    uint32_t number = self ? self->number : 0;

    if (alive)
        *alive = 1;
    lh_state.forked_from = lh_state.pid;
    lh_state.pid = lh_sys_getpid();
    lh_rawlock_reset(&lh_state.lock);
    lh_sites_after_fork();
    lh_stacks_after_fork();
    lh_children_begin(fork_number);
    lh_logfile_leave();
    lh_news_after_fork();
    lh_kinds_after_fork();
    lh_printer_after_fork();
    lh_locks_new_era();
    lh_forked_take(self);
    lh_thread_keep_only(self);
    if (self) {
        lh_held_settle_all(self);
        lh_live_after_fork(self);
    }
    lh_state_begin(self);
    lh_semaphores_after_fork(number, self ? self->number : 0);
    if (!lh_state_is_off())
        lh_forked_introduce();
    lh_mutexcheck_forked = true;
}

void lh_detector_after_fork(bool child)
{
    struct lh_guard guard = fork_guard;

    if (child) {
        start_afresh(lh_children_forking());
    } else {
        lh_stacks_unlock();
        lh_sites_unlock();
        lh_rawlock_give(&lh_state.lock);
        if (lh_self && !lh_state_is_off())
            lh_news_flush(lh_self);
    }
    lh_guard_leave(&guard);
}
