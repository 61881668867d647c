/* SPDX-License-Identifier: MIT
 * calls.c - the system calls that threads are commonly blocked in. */
#include "calls.h"

#include <stddef.h>
#include <sys/syscall.h>

const char *lh_calls_name(int64_t call)
{
    static const struct {
        int64_t call;
        const char *name;
    } calls[] = {
#define CALL(name) { SYS_##name, #name }
        CALL(read),           CALL(write),           CALL(pread64),
        CALL(pwrite64),       CALL(readv),           CALL(writev),
        CALL(open),           CALL(openat),          CALL(close),
        CALL(poll),           CALL(ppoll),           CALL(select),
        CALL(pselect6),       CALL(epoll_wait),      CALL(epoll_pwait),
        CALL(epoll_pwait2),   CALL(nanosleep),       CALL(clock_nanosleep),
        CALL(pause),          CALL(accept),          CALL(accept4),
        CALL(connect),        CALL(recvfrom),        CALL(recvmsg),
        CALL(recvmmsg),       CALL(sendto),          CALL(sendmsg),
        CALL(sendmmsg),       CALL(wait4),           CALL(waitid),
        CALL(flock),          CALL(fcntl),           CALL(fsync),
        CALL(fdatasync),      CALL(futex),           CALL(rt_sigtimedwait),
        CALL(rt_sigsuspend),  CALL(restart_syscall), CALL(io_getevents),
        CALL(io_uring_enter), CALL(semop),           CALL(semtimedop),
        CALL(msgrcv),         CALL(msgsnd),          CALL(mq_timedreceive),
        CALL(mq_timedsend),   CALL(splice),          CALL(sendfile),
        CALL(ioctl),          CALL(inotify_init),    CALL(munmap),
        CALL(mmap),           CALL(madvise),         CALL(exit_group),
        CALL(vfork),
#undef CALL
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].call == call)
            return calls[i].name;
    return NULL;
}
