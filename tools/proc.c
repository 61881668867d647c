/* SPDX-License-Identifier: MIT
 * proc.c - a living process by /proc. */
#include "proc.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static bool read_live(const struct lh_outside *o, uint64_t address,
                      void *buffer, size_t n)
{
    struct iovec here = { buffer, n };
    struct iovec there = { (void *)(uintptr_t)address, n };

    return process_vm_readv((pid_t)o->via, &here, 1, &there, 1, 0) ==
           (ssize_t)n;
}

/* A small file of a thread, or of the process with tid 0; "" if it cannot be
 * read, and then errno says why. */
static char *read_text(const struct lh_outside *o, uint64_t tid,
                       const char *name)
{
    char path[96];
    char text[4096];
    if (tid)
        snprintf(path, sizeof path, "/proc/%llu/task/%llu/%s",
                 (unsigned long long)o->pid, (unsigned long long)tid, name);
    else
        snprintf(path, sizeof path, "/proc/%llu/%s", (unsigned long long)o->pid,
                 name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return lh_pool_copy(o->pool, "");
    ssize_t n = read(fd, text, sizeof text - 1);
    int error = errno;
    close(fd);
    errno = error;
    text[n > 0 ? n : 0] = '\0';
    return lh_pool_copy(o->pool, text);
}

/* "202 0x7f.. 0x80 0x2 0x0 0x0 0x0 0x7ffc.. 0x7f..", "-1 sp pc", "running" */
static void read_call(const struct lh_outside *o, struct lh_outside_thread *t)
{
    const char *text = read_text(o, t->tid, "syscall");
    char *end;
    long long call = strtoll(text, &end, 10);
    uint64_t words[8] = { 0 };
    size_t n = 0;
    t->in_call = false;
    if (end == text)
        return;
    for (; n < 8 && *end == ' '; n++)
        words[n] = strtoull(end, &end, 16);
    if (n < 8 || call < 0)
        return;
    t->in_call = true;
    t->call = call;
    memcpy(t->args, words, sizeof t->args);
    t->sp = words[6];
}

/* The letter after the name, which is in parentheses and may hold any. */
char lh_proc_state(const struct lh_outside *o, uint64_t tid)
{
    const char *text = read_text(o, tid, "stat");
    const char *after = strrchr(text, ')');
    return after && after[1] ? after[2] : '\0';
}

static void read_thread(const struct lh_outside *o, struct lh_outside_thread *t)
{
    char *name = read_text(o, t->tid, "comm");
    name[strcspn(name, "\n")] = '\0';
    t->name = name;
    t->state = lh_proc_state(o, t->tid);
    read_call(o, t);
}

static int by_tid(const void *a, const void *b)
{
    const struct lh_outside_thread *x = a, *y = b;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

void lh_proc_look(struct lh_outside *o)
{
    char path[64];
    size_t capacity = 0;
    struct lh_outside_thread *list = NULL;
    snprintf(path, sizeof path, "/proc/%llu/task", (unsigned long long)o->pid);
    DIR *folder = opendir(path);
    o->nthreads = 0;
    for (struct dirent *e; folder && (e = readdir(folder));) {
        uint64_t tid = strtoull(e->d_name, NULL, 10);
        if (!tid)
            continue;
        list = lh_pool_grow(list, o->nthreads, &capacity, sizeof *list);
        list[o->nthreads] = (struct lh_outside_thread){ .tid = tid };
        read_thread(o, &list[o->nthreads++]);
    }
    if (folder)
        closedir(folder);
    o->threads = lh_pool_array(o->pool, o->nthreads, sizeof *list);
    if (o->nthreads)
        memcpy(o->threads, list, o->nthreads * sizeof *list);
    free(list);
    qsort(o->threads, o->nthreads, sizeof *o->threads, by_tid);
    /* The main thread first, though tids may have wrapped around. */
    for (size_t i = 1; i < o->nthreads; i++) {
        struct lh_outside_thread t = o->threads[i];
        if (t.tid != o->pid)
            continue;
        memmove(o->threads + 1, o->threads, i * sizeof t);
        o->threads[0] = t;
    }
}

uint64_t lh_proc_switches(const struct lh_outside *o, uint64_t tid)
{
    char text[4096];
    char path[96];
    uint64_t sum = 0;
    snprintf(path, sizeof path, "/proc/%llu/task/%llu/status",
             (unsigned long long)o->pid, (unsigned long long)tid);
    FILE *f = fopen(path, "re");
    while (f && fgets(text, sizeof text, f)) {
        const char *colon = strchr(text, ':');
        if (colon && strstr(text, "ctxt_switches"))
            sum += strtoull(colon + 1, NULL, 10);
    }
    if (f)
        fclose(f);
    return sum;
}

/* "start-end perms offset dev inode   path" */
static bool read_range(struct lh_pool *pool, char *line,
                       struct lh_outside_range *r)
{
    unsigned long long start, end, offset;
    int at = 0;
    if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %n", &start, &end, &offset,
               &at) < 3 ||
        !at)
        return false;
    char *path = line + at;
    path[strcspn(path, "\n")] = '\0';
    *r = (struct lh_outside_range){ start, end, offset,
                                    *path == '/' ? lh_pool_copy(pool, path)
                                                 : "" };
    return true;
}

/* What follows a file's last segment without a file of its own. */
static void add_range(struct lh_outside *o, struct lh_outside_range *list,
                      struct lh_outside_range r)
{
    struct lh_outside_range *last = o->nranges ? &list[o->nranges - 1] : NULL;
    if (!*r.path && last && *last->path && last->end == r.start)
        r = (struct lh_outside_range){ r.start, r.end, 0, last->path };
    list[o->nranges++] = r;
}

static void read_ranges(struct lh_outside *o)
{
    char path[64];
    char *line = NULL;
    size_t line_bytes = 0, capacity = 0;
    struct lh_outside_range *list = NULL, r;
    snprintf(path, sizeof path, "/proc/%llu/maps", (unsigned long long)o->via);
    FILE *f = fopen(path, "re");
    while (f && getline(&line, &line_bytes, f) > 0) {
        if (!read_range(o->pool, line, &r))
            continue;
        list = lh_pool_grow(list, o->nranges, &capacity, sizeof *list);
        add_range(o, list, r);
    }
    if (f)
        fclose(f);
    free(line);
    o->ranges = lh_pool_array(o->pool, o->nranges, sizeof *list);
    if (o->nranges)
        memcpy(o->ranges, list, o->nranges * sizeof *list);
    free(list);
}

static const char *read_exe(const struct lh_outside *o)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%llu/exe", (unsigned long long)o->via);
    ssize_t n = readlink(path, text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    return lh_pool_copy(o->pool, text);
}

/* False of one of 32 bits. One whose file cannot be read passes. */
static bool is_ours(const struct lh_outside *o)
{
    char path[64];
    Elf64_Ehdr header;
    snprintf(path, sizeof path, "/proc/%llu/exe", (unsigned long long)o->via);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return true;
    ssize_t n = read(fd, &header, sizeof header);
    close(fd);
    return n < (ssize_t)sizeof header ||
           (header.e_ident[EI_CLASS] == ELFCLASS64 &&
            header.e_machine == EM_X86_64);
}

/* A main thread that has ended before the others has no memory any more. */
static void find_via(struct lh_outside *o)
{
    for (size_t i = 0; i < o->nthreads; i++)
        if (o->threads[i].state != 'Z') {
            o->via = o->threads[i].tid;
            return;
        }
}

int lh_proc_open(struct lh_outside *o, struct lh_pool *pool, uint64_t pid)
{
    *o = (struct lh_outside){
        .pool = pool, .pid = pid, .via = pid, .read = read_live
    };
    if (!*read_text(o, 0, "stat"))
        return ESRCH;
    errno = 0;
    if (!*read_text(o, 0, "syscall") && errno)
        return errno;
    lh_proc_look(o);
    find_via(o);
    o->exe = read_exe(o);
    read_ranges(o);
    if (!o->nthreads || !*o->exe)
        return ECHILD;
    return is_ours(o) ? 0 : ENOEXEC;
}
