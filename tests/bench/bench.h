/* SPDX-License-Identifier: MIT */
/*
 * bench.h - what the benchmark programs share: clock, memory, random numbers,
 * arguments and a way to wait that no lock detector sees.
 */
#ifndef BENCH_H
#define BENCH_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Ends the program with a line on stderr when err, an errno number, is set. */
static inline void bench_check(int err, const char *what)
{
    if (!err)
        return;
    fprintf(stderr, "%s: %s\n", what, strerror(err));
    exit(1);
}

static inline void *bench_alloc(size_t align, size_t size_bytes)
{
    void *p = NULL;

    bench_check(posix_memalign(&p, align, size_bytes), "memory");
    memset(p, 0, size_bytes);
    return p;
}

static inline uint64_t bench_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Resident memory of this process, 0 if /proc cannot be read. */
static inline size_t bench_rss_bytes(void)
{
    FILE *f = fopen("/proc/self/statm", "re");
    size_t npages = 0;

    if (f && fscanf(f, "%*s %zu", &npages) != 1)
        npages = 0;
    if (f)
        fclose(f);
    return npages * (size_t)sysconf(_SC_PAGESIZE);
}

/* splitmix64: the same numbers on every run, which keeps runs comparable. */
static inline uint64_t bench_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Fills order[0..n) with a random permutation of 0..n-1. */
static inline void bench_shuffle(uint32_t *order, uint32_t n, uint64_t *state)
{
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = (uint32_t)(bench_random(state) % i);
        uint32_t t = order[i - 1];

        order[i - 1] = order[j];
        order[j] = t;
    }
}

/* A whole number within [min, max]; anything else ends the program. */
static inline unsigned long bench_number(const char *text, unsigned long min,
                                         unsigned long max)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);

    if (*text >= '0' && *text <= '9' && !*end && n >= min && n <= max)
        return n;
    fprintf(stderr, "%s: not a number from %lu to %lu\n", text, min, max);
    exit(2);
}

/* Waits until *word is nonzero; pairs with bench_post(). */
static inline void bench_wait(atomic_uint *word)
{
    while (!atomic_load_explicit(word, memory_order_acquire))
        syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static inline void bench_post(atomic_uint *word)
{
    atomic_store_explicit(word, 1, memory_order_release);
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

#endif
