/* SPDX-License-Identifier: MIT
 *
 * core_test.h - memory that fails on demand, and random numbers, for the tests
 * of preload/core/.
 */
#ifndef LH_TESTS_CORE_TEST_H
#define LH_TESTS_CORE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "core/mem.h"

struct test_mem {
    size_t nbytes;      /* in use */
    size_t nresizes;    /* so far, frees not counted */
    size_t fail_at;     /* this resize fails, counted from 1; 0: none */
    bool fail_from_now; /* and so do all that follow it */
};

/* The block moves whenever it can, and new bytes are zero. */
static inline void *test_resize(void *ctx, void *block, size_t old_bytes,
                                size_t new_bytes)
{
    struct test_mem *m = ctx;
    if (new_bytes == 0) {
        free(block);
        m->nbytes -= old_bytes;
        return NULL;
    }
    m->nresizes++;
    if (m->fail_at && (m->nresizes == m->fail_at ||
                       (m->fail_from_now && m->nresizes > m->fail_at)))
        return NULL;
    char *new = calloc(1, new_bytes);
    if (!new)
        abort();
    if (block)
        memcpy(new, block, old_bytes < new_bytes ? old_bytes : new_bytes);
    free(block);
    m->nbytes += new_bytes - old_bytes;
    return new;
}

static inline struct lh_mem test_mem(struct test_mem *m)
{
    return (struct lh_mem){ test_resize, m };
}

/* The seed of this run: LH_SEED, or another one each time. Printed, so that a
 * failure can be run again. */
static inline uint64_t test_seed(void)
{
    static uint64_t seed;
    if (!seed) {
        const char *given = getenv("LH_SEED");
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        seed = given ? strtoull(given, NULL, 0)
                     : (uint64_t)now.tv_nsec * 1000003 + (uint64_t)now.tv_sec;
        printf("LH_SEED=%llu\n", (unsigned long long)seed);
    }
    return seed;
}

/* xorshift64*, a number below n. */
static inline uint32_t test_random(uint64_t *state, uint32_t n)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (uint32_t)((*state * 2685821657736338717u >> 32) * n >> 32);
}

static inline uint64_t test_state(uint64_t number)
{
    uint64_t state = test_seed() + number * 0x9e3779b97f4a7c15u;
    return state ? state : 1;
}

#endif
