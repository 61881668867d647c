/* SPDX-License-Identifier: MIT */
/*
 * alone.h - how the programs of one thread measure a loop; C and C++.
 *
 * BENCH_MS is the time to spend (150). It is cut into rounds, of which the best
 * counts, as noise only adds.
 */
#ifndef BENCH_ALONE_H
#define BENCH_ALONE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Does n times what it measures. */
typedef void loop_fn(size_t n);

static inline double time_loop(loop_fn *loop, size_t n)
{
    struct timespec from, to;

    clock_gettime(CLOCK_MONOTONIC, &from);
    loop(n);
    clock_gettime(CLOCK_MONOTONIC, &to);
    return 1e9 * (double)(to.tv_sec - from.tv_sec) +
           (double)(to.tv_nsec - from.tv_nsec);
}

/*
 * The nanoseconds that one of n takes. The first call, of `first`, is the
 * warm-up. Then the length of a round is found; one that takes more than all
 * the time there is, as under Helgrind, is the only one.
 */
static inline double measure_alone(loop_fn *loop, size_t first,
                                   double budget_ns)
{
    double spent_ns = 0, best_ns;
    size_t n = first;

    loop(first);
    while ((best_ns = time_loop(loop, n)) < budget_ns / 32)
        n *= 2;
    while (spent_ns < budget_ns) {
        double ns = time_loop(loop, n);

        spent_ns += ns;
        if (ns < best_ns)
            best_ns = ns;
    }
    return best_ns / (double)n;
}

static inline double bench_budget_ns(void)
{
    const char *ms = getenv("BENCH_MS");
    long n = ms ? strtol(ms, NULL, 10) : 150;

    return 1e6 * (double)(n > 0 && n <= 7000 ? n : 150);
}

/* For a program with one loop: its main(). */
static inline int measure_only(loop_fn *loop)
{
    printf("%.3f\n", measure_alone(loop, 1000, bench_budget_ns()));
    return 0;
}

#endif
