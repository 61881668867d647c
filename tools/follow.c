/* SPDX-License-Identifier: MIT
 * follow.c - the record files that appear in a folder. */
#include "follow.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "diag.h"
#include "idmap.h"
#include "model.h"
#include "pool.h"

enum { READ_BYTES = 256 * 1024 };

struct file {
    struct lh_model_process *process; /* NULL: was there before */
    const char *path;
    off_t offset;
};

struct lh_follow_state {
    struct lh_pool pool;
    char *dir, *buffer;
    struct lh_idmap files; /* by the hash of their name */
    size_t capacity;
};

static bool is_record_name(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && strcmp(dot, ".jsonl") == 0;
}

static struct file *find(struct lh_follow *f, const char *name, bool ours)
{
    struct lh_follow_state *s = f->state;
    uint64_t key = 0;
    for (const char *c = name; *c; c++)
        key = lh_idmap_mix(key, (unsigned char)*c);
    struct file *file = lh_idmap_get(&s->files, key);
    if (file)
        return file;
    file = lh_pool_alloc(&s->pool, sizeof *file);
    file->path = lh_pool_format(&s->pool, "%s/%s", s->dir, name);
    lh_idmap_put(&s->files, key, file);
    if (!ours)
        return file;
    file->process = lh_model_new(file->path);
    file->process->keeps_requests = true;
    f->processes =
        lh_pool_grow(f->processes, f->n, &s->capacity, sizeof(*f->processes));
    f->processes[f->n++] = file->process;
    return file;
}

static void scan(struct lh_follow *f, bool ours,
                 void (*visit)(struct lh_follow *, struct file *))
{
    DIR *dir = opendir(f->state->dir);
    struct dirent *entry;
    while (dir && (entry = readdir(dir)))
        if (is_record_name(entry->d_name))
            visit(f, find(f, entry->d_name, ours));
    if (dir)
        closedir(dir);
}

/* Opened anew each time: there may be more processes than descriptors. */
static void read_file(struct lh_follow *f, struct file *file)
{
    if (!file->process)
        return;
    int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return;
    ssize_t n;
    while ((n = pread(fd, f->state->buffer, READ_BYTES, file->offset)) > 0) {
        file->offset += n;
        if (lh_model_feed(file->process, f->state->buffer, (size_t)n) != 0)
            break;
    }
    close(fd);
}

static void remember(struct lh_follow *f, struct file *file)
{
    (void)f;
    (void)file;
}

int lh_follow_start(struct lh_follow *f, const char *dir)
{
    *f = (struct lh_follow){ .fd = -1 };
    int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (fd < 0)
        return errno;
    if (inotify_add_watch(fd, dir, IN_CREATE | IN_MODIFY | IN_MOVED_TO) < 0) {
        int error = errno;
        close(fd);
        return error;
    }
    f->fd = fd;
    f->state = lh_pool_heap(sizeof *f->state);
    f->state->dir = lh_pool_copy(&f->state->pool, dir);
    f->state->buffer = lh_pool_alloc(&f->state->pool, READ_BYTES);
    scan(f, false, remember);
    return 0;
}

/* One batch of events a call: a target that never stops writing must not keep
 * the caller from its other duties. */
void lh_follow_read(struct lh_follow *f)
{
    _Alignas(struct inotify_event) char events[64 * 1024];
    ssize_t n = read(f->fd, events, sizeof events);
    bool overflow = false;
    const char *last = "";
    for (ssize_t at = 0; at < n;) {
        const struct inotify_event *e = (const void *)(events + at);
        at += (ssize_t)sizeof *e + e->len;
        overflow |= (e->mask & IN_Q_OVERFLOW) != 0;
        if (e->len == 0 || !is_record_name(e->name) ||
            strcmp(last, e->name) == 0)
            continue;
        read_file(f, find(f, e->name, true));
        last = e->name;
    }
    if (overflow)
        scan(f, true, read_file);
}

bool lh_follow_lives(const struct lh_model_process *p)
{
    char path[64], text[512];
    if (p->ended || !p->started || p->pid == 0 || p->pid > INT_MAX ||
        (kill((pid_t)p->pid, 0) != 0 && errno == ESRCH))
        return false;
    snprintf(path, sizeof path, "/proc/%llu/stat", (unsigned long long)p->pid);
    FILE *stat = fopen(path, "re");
    size_t n = stat ? fread(text, 1, sizeof text - 1, stat) : 0;
    if (stat)
        fclose(stat);
    text[n] = '\0';
    const char *state = strrchr(text, ')');
    return state && state[1] && state[2] != 'Z' && state[2] != 'X';
}

void lh_follow_finish(struct lh_follow *f)
{
    scan(f, true, read_file);
    for (size_t i = 0; i < f->n; i++)
        lh_model_finish(f->processes[i], lh_follow_lives(f->processes[i]));
}

void lh_follow_end(struct lh_follow *f)
{
    if (!f->state)
        return;
    for (size_t i = 0; i < f->n; i++)
        lh_model_free(f->processes[i]);
    free(f->processes);
    lh_idmap_free(&f->state->files);
    lh_pool_free(&f->state->pool);
    free(f->state);
    close(f->fd);
    *f = (struct lh_follow){ .fd = -1 };
}
