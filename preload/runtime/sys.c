/* SPDX-License-Identifier: MIT
 * sys.c - system calls that are no cancellation points. */
#include "runtime/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long result(long rc)
{
    return rc == -1 ? -errno : rc;
}

long lh_sys_open(const char *path, int flags, mode_t mode)
{
    return result(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

long lh_sys_close(int fd)
{
    return result(syscall(SYS_close, fd));
}

long lh_sys_read(int fd, void *buffer, size_t size_bytes)
{
    return result(syscall(SYS_read, fd, buffer, size_bytes));
}

long lh_sys_readlink(const char *path, char *buffer, size_t size_bytes)
{
    return result(syscall(SYS_readlinkat, AT_FDCWD, path, buffer, size_bytes));
}

long lh_sys_write(int fd, const void *data, size_t size_bytes)
{
    return result(syscall(SYS_write, fd, data, size_bytes));
}

long lh_sys_fstat(int fd, struct stat *st)
{
    return result(syscall(SYS_newfstatat, fd, "", st, AT_EMPTY_PATH));
}

long lh_sys_getpid(void)
{
    return syscall(SYS_getpid);
}

long lh_sys_getppid(void)
{
    return syscall(SYS_getppid);
}

long lh_sys_gettid(void)
{
    return syscall(SYS_gettid);
}

_Noreturn void lh_sys_exit(int status)
{
    for (;;)
        syscall(SYS_exit_group, status);
}

void *lh_sys_map(size_t size_bytes, int fd)
{
    long p = fd < 0
                 ? syscall(SYS_mmap, NULL, size_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                 : syscall(SYS_mmap, NULL, size_bytes, PROT_READ, MAP_PRIVATE,
                           fd, 0);

    return p == -1 ? NULL : (void *)p;
}

void *lh_sys_map_shared(size_t size_bytes)
{
    long p = syscall(SYS_mmap, NULL, size_bytes, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return p == -1 ? NULL : (void *)p;
}

void *lh_sys_remap(void *block, size_t old_bytes, size_t new_bytes)
{
    long p = syscall(SYS_mremap, block, old_bytes, new_bytes, MREMAP_MAYMOVE);

    return p == -1 ? NULL : (void *)p;
}

void lh_sys_unmap(void *block, size_t size_bytes)
{
    syscall(SYS_munmap, block, size_bytes);
}

long lh_sys_advise(void *block, size_t size_bytes, int advice)
{
    return result(syscall(SYS_madvise, block, size_bytes, advice));
}

bool lh_sys_tid_exists(long tid)
{
    return result(syscall(SYS_tkill, tid, 0)) != -ESRCH;
}

int lh_sys_thread_exists(long pid, long tid)
{
    return result(syscall(SYS_tgkill, pid, tid, 0)) != -ESRCH;
}

/* The kernel counts the threads as folders. */
bool lh_sys_is_only_thread(void)
{
    struct stat st;

    return syscall(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &st, 0) == 0 &&
           st.st_nlink == 3;
}

/* What the kernel knows of a handler: struct sigaction is glibc's. */
struct action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

static bool is_caught(int signal)
{
    struct action action = { SIG_DFL, 0, NULL, 0 };

    return syscall(SYS_rt_sigaction, signal, NULL, &action,
                   sizeof action.mask) == 0 &&
           action.handler != SIG_DFL && action.handler != SIG_IGN;
}

bool lh_sys_catches_signals(void)
{
    enum { LAST = 64, GLIBC_FIRST = 32, GLIBC_LAST = 33 };
    static const uint64_t no_post = UINT64_C(1) << SIGSEGV | 1 << SIGBUS |
                                    1 << SIGILL | 1 << SIGFPE | 1 << SIGABRT |
                                    1 << SIGTRAP | 1 << SIGSYS;

    for (int signal = 1; signal <= LAST; signal++) {
        bool skipped = (signal < GLIBC_FIRST && no_post >> signal & 1) ||
                       signal == GLIBC_FIRST || signal == GLIBC_LAST;
        if (!skipped && is_caught(signal))
            return true;
    }
    return false;
}

/* The value of hexadecimal or decimal digits behind "0x" or not; moves on. */
static uintptr_t number(const char **text)
{
    uintptr_t value = 0;
    unsigned base = 10, digit;

    if ((*text)[0] == '0' && (*text)[1] == 'x') {
        base = 16;
        *text += 2;
    }
    for (;; ++*text) {
        unsigned char c = (unsigned char)**text;
        digit = c >= 'a' ? c - 'a' + 10u : c - (unsigned)'0';
        if (digit >= base)
            return value;
        value = value * base + digit;
    }
}

/* "/proc/self/task/TID/syscall" holds the number of the call in which it
 * sleeps and its arguments, or a word. */
uintptr_t lh_sys_sleeps_on(long tid)
{
    static const char before[] = "/proc/self/task/", after[] = "/syscall";
    char path[64], digits[24], line[128];
    size_t ndigits = 0, at = sizeof before - 1;
    const char *text = line;
    int saved_errno = errno;
    long n = 0, fd;

    do
        digits[ndigits++] = (char)('0' + tid % 10);
    while ((tid /= 10) > 0);
    memcpy(path, before, at);
    while (ndigits > 0)
        path[at++] = digits[--ndigits];
    memcpy(path + at, after, sizeof after);
    fd = lh_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd >= 0) {
        n = lh_sys_read((int)fd, line, sizeof line - 1);
        lh_sys_close((int)fd);
    }
    errno = saved_errno;
    line[n > 0 ? n : 0] = '\0';
    if (number(&text) != SYS_futex || *text != ' ')
        return 0;
    text++;
    return number(&text);
}

/* "1234 (name) Z ...": the name may hold any. */
bool lh_sys_main_has_ended(void)
{
    char line[128] = "";
    int saved_errno = errno;
    long n = 0, fd = lh_sys_open("/proc/self/stat", O_RDONLY | O_CLOEXEC, 0);

    if (fd >= 0) {
        n = lh_sys_read((int)fd, line, sizeof line);
        lh_sys_close((int)fd);
    }
    errno = saved_errno;
    while (n > 0 && line[n - 1] != ')')
        n--;
    return n > 0 && (size_t)n + 1 < sizeof line && line[n + 1] == 'Z';
}

uint64_t lh_sys_monotonic_ms(void)
{
    struct timespec now = { 0, 0 };

    /* The C library's, which asks no kernel: a program under seccomp need not
     * allow for it. */
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void lh_sys_in_ms(struct timespec *time, unsigned ms)
{
    uint64_t then = lh_sys_monotonic_ms() + ms;

    time->tv_sec = (time_t)(then / 1000);
    time->tv_nsec = (long)(then % 1000) * 1000000;
}

void lh_sys_nap(unsigned ms)
{
    struct timespec time = { ms / 1000, (long)(ms % 1000) * 1000000 };
    int saved_errno = errno;

    syscall(SYS_nanosleep, &time, NULL);
    errno = saved_errno;
}

long lh_sys_hide_descriptor(int fd)
{
    /* 900 is beyond what programs reach before their limit of 1024 bites,
     * and beyond the small numbers that daemons assign by hand. */
    long high = result(syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 900));
    if (high < 0)
        return fd;
    lh_sys_close(fd);
    return high;
}

size_t lh_sys_altstack_left(uintptr_t sp)
{
    stack_t ss;

    if (syscall(SYS_sigaltstack, NULL, &ss) != 0 || !(ss.ss_flags & SS_ONSTACK))
        return SIZE_MAX;
    return sp - (uintptr_t)ss.ss_sp;
}

bool lh_sys_can_read(const void *address)
{
    /* The kernel reads the signal set before it looks at what to do with it,
     * which here is nothing. */
    return result(syscall(SYS_rt_sigprocmask, -1, address, NULL,
                          sizeof(uint64_t))) != -EFAULT;
}

int64_t lh_sys_time(void)
{
    struct timespec now = { 0, 0 };

    syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
    return now.tv_sec;
}
