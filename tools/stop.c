/* SPDX-License-Identifier: MIT
 * stop.c - stops a process and copies what is needed. */
#include "stop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "holds.h"
#include "proc.h"

enum {
    LOCK_BYTES = 128,
    MAX_STACK_BYTES = 128 * 1024, /* copied of each thread */
    MAX_ROUNDS = 20,              /* of looking for threads made meanwhile */
    MAX_ASLEEP_MS = 100,          /* in the kernel, before that is left alone */
};

struct stopped_thread {
    pid_t tid;
    int signal; /* that it was about to get; 0: none */
};

struct stopped {
    struct stopped_thread *threads;
    size_t n, capacity;
    double patient_ms; /* until then */
};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static bool has(const struct stopped *s, pid_t tid)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->threads[i].tid == tid)
            return true;
    return false;
}

/* In the kernel, where nothing stops it (D), as until the child of vfork has
 * ended: who waits for its stop waits as long. Most such sleeps are short. */
static bool cannot_stop(const struct lh_outside *o, const struct stopped *s,
                        uint64_t tid)
{
    struct timespec pause = { 0, 1000000L };
    while (lh_proc_state(o, tid) == 'D') {
        if (now_ms() > s->patient_ms)
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

/* Returns 0, ESRCH when the thread is gone, or another error. A signal that
 * arrived just now may stop it before our interrupt does. */
static int stop_thread(struct stopped *s, pid_t tid)
{
    int status;
    if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0)
        return errno;
    ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
    if (waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
        return ESRCH;
    s->threads =
        lh_pool_grow(s->threads, s->n, &s->capacity, sizeof *s->threads);
    s->threads[s->n++] = (struct stopped_thread){
        tid, status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status)
    };
    return 0;
}

static void let_go(struct stopped *s)
{
    for (size_t i = 0; i < s->n; i++)
        ptrace(PTRACE_DETACH, s->threads[i].tid, NULL,
               (void *)(intptr_t)s->threads[i].signal);
    free(s->threads);
}

/* Threads that run may make others: until a look finds no new one. */
static int stop_all(struct lh_outside *o, struct stopped *s)
{
    bool news = true;
    int error = ESRCH;
    s->patient_ms = now_ms() + MAX_ASLEEP_MS;
    for (int round = 0; news && round < MAX_ROUNDS; round++) {
        news = false;
        lh_proc_look(o);
        for (size_t i = 0; i < o->nthreads; i++) {
            const struct lh_outside_thread *t = &o->threads[i];
            pid_t tid = (pid_t)t->tid;
            if (has(s, tid) || t->state == 'Z')
                continue;
            error = t->state == 'D' && cannot_stop(o, s, t->tid)
                        ? EBUSY
                        : stop_thread(s, tid);
            news |= error == 0;
            if (error && error != ESRCH && error != EBUSY && s->n == 0)
                return error;
        }
    }
    return s->n ? 0 : error;
}

static struct lh_outside_copy copy(struct lh_outside *o, uint64_t address,
                                   uint64_t n)
{
    unsigned char *bytes = lh_pool_alloc(o->pool, n + 1);
    if (!n || !o->read(o, address, bytes, n))
        n = 0;
    return (struct lh_outside_copy){ address, n, bytes };
}

static void copy_stack(struct lh_outside *o, struct lh_outside_thread *t)
{
    uint64_t end = t->sp;
    for (size_t i = 0; i < o->nranges; i++)
        if (t->sp >= o->ranges[i].start && t->sp < o->ranges[i].end)
            end = o->ranges[i].end;
    uint64_t n = end - t->sp;
    if (n > MAX_STACK_BYTES)
        n = MAX_STACK_BYTES;
    t->stack = copy(o, t->sp, n);
}

/* The lock is a little before and after its futex word, as far as that is
 * mapped. */
static void copy_lock(struct lh_outside *o, struct lh_outside_thread *t)
{
    uint64_t at = t->args[0];
    if (!t->in_call || (t->call != SYS_futex && t->call != SYS_restart_syscall))
        return;
    t->lock = copy(o, at - LOCK_BYTES / 2, LOCK_BYTES);
    if (!t->lock.n)
        t->lock = copy(o, at, LOCK_BYTES / 2);
}

static void copy_thread(struct lh_outside *o, struct lh_outside_thread *t)
{
    struct user_regs_struct r;
    if (ptrace(PTRACE_GETREGS, (pid_t)t->tid, NULL, &r) != 0)
        return;
    t->registers = r;
    t->has_registers = true;
    t->in_call = (int64_t)r.orig_rax >= 0;
    t->call = (int64_t)r.orig_rax;
    uint64_t args[] = { r.rdi, r.rsi, r.rdx, r.r10, r.r8, r.r9 };
    memcpy(t->args, args, sizeof t->args);
    t->sp = r.rsp;
    copy_stack(o, t);
    copy_lock(o, t);
}

int lh_stop(struct lh_outside *o)
{
    struct stopped s = { 0 };
    double began = now_ms();
    int error = stop_all(o, &s);
    if (error) {
        let_go(&s);
        return error;
    }
    for (size_t i = 0; i < o->nthreads; i++)
        copy_thread(o, &o->threads[i]);
    lh_holds_read(o);
    let_go(&s);
    o->stopped_ms = now_ms() - began;
    return 0;
}
