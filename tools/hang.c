/* SPDX-License-Identifier: MIT
 * hang.c - has a set of processes stood still for so long? */
#include "hang.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* "pid (name) S ...": whether it sleeps, or waits for a device. */
static bool sleeps(const char *path)
{
    char text[512] = "";
    FILE *f = fopen(path, "re");
    if (!f)
        return true; /* it is gone */
    if (!fgets(text, sizeof text, f))
        *text = '\0';
    fclose(f);
    const char *after = strrchr(text, ')');
    return !after || strchr("SDTtZX", after[1] ? after[2] : 'S');
}

/* The first number is the time on a processor in ns. */
static uint64_t used(const char *path)
{
    unsigned long long ns = 0;
    FILE *f = fopen(path, "re");
    if (f) {
        if (fscanf(f, "%llu", &ns) != 1)
            ns = 0;
        fclose(f);
    }
    return ns;
}

static bool look_at(uint64_t pid, uint64_t *sum_ns)
{
    char folder[64], path[384];
    bool still = true;
    snprintf(folder, sizeof folder, "/proc/%llu/task", (unsigned long long)pid);
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (*e->d_name == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s/stat", folder, e->d_name);
        still &= sleeps(path);
        snprintf(path, sizeof path, "%s/%s/schedstat", folder, e->d_name);
        *sum_ns += used(path);
    }
    if (d)
        closedir(d);
    return still;
}

bool lh_hang_look(struct lh_hang *h, const uint64_t *pids, size_t n)
{
    uint64_t sum_ns = n, now = now_ms();
    bool still = true;
    for (size_t i = 0; i < n; i++)
        still &= look_at(pids[i], &sum_ns);
    if (h->was_stopped) {
        /* To explain it took a little of its time. */
        h->was_stopped = false;
        h->used_ns = sum_ns;
    }
    if (!still || sum_ns != h->used_ns || !h->since_ms) {
        h->used_ns = sum_ns;
        h->since_ms = now;
        h->told = false;
        return false;
    }
    if (h->told || now - h->since_ms < (uint64_t)h->seconds * 1000)
        return false;
    h->told = h->was_stopped = true;
    return true;
}

int lh_hang_pause(const struct lh_hang *h)
{
    int part = (int)h->seconds * 1000 / 10;
    if (!h->seconds)
        return -1;
    return part < 50 ? 50 : part > 1000 ? 1000 : part;
}
