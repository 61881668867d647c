/* SPDX-License-Identifier: MIT
 *
 * fullness.c - the record file cannot grow: by the limit on file sizes, with
 * SIGXFSZ at its default, or because the disk is full.
 */
#include <sys/resource.h>

#include "guest.h"

static mutex_t m[400];

static void limit_bytes(rlim_t bytes)
{
    struct rlimit limit = { bytes, RLIM_INFINITY };

    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

int main(int argc, char **argv)
{
    sigset_t pending;

    if (is_mode(argv, "limit"))
        limit_bytes(9000);
    for (int i = 0; i + 1 < 200; i++)
        nest(&m[i], &m[i + 1]);
    invert(&m[300], &m[301]);
    if (is_mode(argv, "limit"))
        limit_bytes(RLIM_INFINITY);
    sigpending(&pending);
    CHECK(!sigismember(&pending, SIGXFSZ));
    invert(&m[302], &m[303]); /* is written, if there is room again */
    (void)argc;
    return 3;
}
