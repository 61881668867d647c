/* SPDX-License-Identifier: MIT
 * logfile.c - the file of this process's records. */
#include "runtime/logfile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/fmt.h"
#include "runtime/sys.h"

struct identity {
    dev_t device;
    ino_t inode;
};

/* Written while one thread runs (constructor, forked child) or, the
 * descriptor, by whoever opens the file again: any of them will do. */
static char path[4096 + 300];
static _Atomic int descriptor = -1;
static struct identity ours;
static _Atomic bool broken; /* the last write was cut short */
static _Atomic unsigned lost;

static struct identity at_stderr;

static bool identify(int fd, struct identity *id)
{
    struct stat st;

    if (lh_sys_fstat(fd, &st) != 0)
        return false;
    id->device = st.st_dev;
    id->inode = st.st_ino;
    return true;
}

static bool is(int fd, const struct identity *known)
{
    struct identity now;

    return identify(fd, &now) && now.inode == known->inode &&
           now.device == known->device;
}

static void make_path(const char *dir, const char *program, unsigned attempt)
{
    struct lh_fmt name = { 0 };
    const char *base = strrchr(program, '/');

    lh_fmt_text(&name, dir);
    lh_fmt_text(&name, "/");
    base = base ? base + 1 : program;
    lh_fmt_bytes(&name, base, strnlen(base, 200));
    lh_fmt_text(&name, ".");
    lh_fmt_unsigned(&name, (uint64_t)lh_sys_getpid());
    if (attempt) {
        lh_fmt_text(&name, ".");
        lh_fmt_unsigned(&name, attempt);
    }
    lh_fmt_text(&name, ".jsonl");
    lh_fmt_bytes(&name, "", 1);
    path[0] = '\0';
    if (!name.failed && name.length <= sizeof path)
        memcpy(path, name.text, name.length);
    lh_fmt_free(&name);
}

int lh_logfile_open(const char *dir, const char *program)
{
    long fd = -EEXIST;

    for (unsigned attempt = 0; fd == -EEXIST && attempt < 10000; attempt++) {
        make_path(dir, program, attempt);
        fd = lh_sys_open(
            path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    if (fd < 0)
        return (int)-fd;
    fd = lh_sys_hide_descriptor((int)fd);
    identify((int)fd, &ours);
    atomic_store(&descriptor, (int)fd);
    return 0;
}

bool lh_logfile_is_open(void)
{
    return atomic_load_explicit(&descriptor, memory_order_relaxed) >= 0;
}

/* The descriptor to write to, -1 if there is none. */
static int our_descriptor(void)
{
    int fd = atomic_load_explicit(&descriptor, memory_order_relaxed);
    long fresh;

    if (fd < 0 || is(fd, &ours))
        return fd;
    fresh = lh_sys_open(path, O_WRONLY | O_APPEND | O_CLOEXEC, 0);
    if (fresh < 0)
        return -1;
    fresh = lh_sys_hide_descriptor((int)fresh);
    if (!is((int)fresh, &ours)) {
        lh_sys_close((int)fresh);
        return -1;
    }
    atomic_store_explicit(&descriptor, (int)fresh, memory_order_relaxed);
    return (int)fresh;
}

/*
 * Takes back the signal that our write has raised in this thread, which has
 * all signals blocked. Asked for only after a write that failed so: a program
 * under seccomp need not allow for it.
 */
static void consume(int signal)
{
    uint64_t set = 1ull << (signal - 1);
    struct timespec none = { 0, 0 };

    syscall(SYS_rt_sigtimedwait, &set, NULL, &none, sizeof set);
}

/* Returns how many bytes were written. */
static size_t write_all(int fd, const char *text, size_t size_bytes)
{
    size_t done = 0;

    while (done < size_bytes) {
        long n = lh_sys_write(fd, text + done, size_bytes - done);
        if (n == -EPIPE || n == -EFBIG)
            consume(n == -EPIPE ? SIGPIPE : SIGXFSZ);
        if (n == -EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n; /* the next try tells whether the disk is full */
    }
    return done;
}

void lh_logfile_write(const char *text, size_t size_bytes)
{
    int fd = our_descriptor();
    size_t done;

    if (size_bytes == 0)
        return;
    if (fd < 0) {
        atomic_fetch_add(&lost, 1);
        return;
    }
    if (atomic_load(&broken)) {
        if (write_all(fd, "\n", 1) != 1) {
            atomic_fetch_add(&lost, 1);
            return;
        }
        atomic_store(&broken, false);
    }
    done = write_all(fd, text, size_bytes);
    if (done < size_bytes) {
        atomic_fetch_add(&lost, 1);
        if (done > 0)
            atomic_store(&broken, true);
    }
}

unsigned lh_logfile_take_lost(void)
{
    return atomic_exchange(&lost, 0);
}

void lh_logfile_leave(void)
{
    int fd = atomic_exchange(&descriptor, -1);

    if (fd >= 0 && is(fd, &ours))
        lh_sys_close(fd);
    atomic_store(&broken, false);
    atomic_store(&lost, 0);
}

void lh_stderr_remember(void)
{
    if (!identify(STDERR_FILENO, &at_stderr))
        at_stderr = (struct identity){ 0, 0 };
}

void lh_stderr_write(const char *text, size_t size_bytes)
{
    if (at_stderr.inode && is(STDERR_FILENO, &at_stderr))
        write_all(STDERR_FILENO, text, size_bytes);
}
