/* SPDX-License-Identifier: MIT
 * guard.c - entering and leaving the detector's slow path. */
#include "runtime/guard.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

void lh_guard_enter(struct lh_guard *guard)
{
    /* The bare system call: glibc's function leaves the signal of
     * asynchronous cancellation open. A fault in our own code should still
     * reach the target's crash handler. */
    uint64_t all =
        ~(1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) | 1ull << (SIGABRT - 1));

    guard->saved_errno = errno;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &guard->mask,
            sizeof guard->mask);
}

void lh_guard_leave(const struct lh_guard *guard)
{
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &guard->mask, NULL,
            sizeof guard->mask);
    errno = guard->saved_errno;
}
