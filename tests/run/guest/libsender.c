/* SPDX-License-Identifier: MIT
 *
 * libsender.c - preloaded into a tracer: right after it has seized a thread, a
 * signal arrives there, and stops it before the tracer's interrupt does.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>

#include "guest.h"

static pid_t process_of(pid_t tid)
{
    char path[64], line[256];
    int pid = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/status", tid);
    f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        sscanf(line, "Tgid: %d", &pid);
    if (f)
        fclose(f);
    return pid;
}

static char state_of(pid_t tid)
{
    char path[64], line[512] = "";
    FILE *f;
    const char *after;

    snprintf(path, sizeof path, "/proc/%d/stat", tid);
    f = fopen(path, "r");
    if (f && !fgets(line, sizeof line, f))
        line[0] = '\0';
    if (f)
        fclose(f);
    after = strrchr(line, ')');
    return after ? after[2] : '\0';
}

long ptrace(enum __ptrace_request request, ...)
{
    va_list rest;
    pid_t tid;
    void *address, *data;
    long rc;

    va_start(rest, request);
    tid = va_arg(rest, pid_t);
    address = va_arg(rest, void *);
    data = va_arg(rest, void *);
    va_end(rest);
    rc = syscall(SYS_ptrace, request, tid, address, data);
    if (request == PTRACE_SEIZE && rc == 0) {
        CHECK(syscall(SYS_tgkill, process_of(tid), tid, SIGUSR1) == 0);
        while (state_of(tid) != 't')
            sched_yield();
    }
    return rc;
}
