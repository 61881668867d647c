/* SPDX-License-Identifier: MIT
 * fuzz_proc.c - what /proc says of a process, as inspect and the preload read
 * it. The input is what each of its files gives, whatever thread it is of. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "outside.h"
#include "pool.h"
#include "proc.h"
#include "runtime/maps.h"
#include "runtime/sys.h"

/* The linker leads the readers' calls here. */
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
long __real_lh_sys_open(const char *path, int flags, mode_t mode);
long __wrap_lh_sys_open(const char *path, int flags, mode_t mode);

const char *fuzz_instead_of(const char *path)
{
    return strncmp(path, "/proc/", 6) == 0 ? fuzz_path(0) : path;
}

int __wrap_open(const char *path, int flags, ...)
{
    return __real_open(fuzz_instead_of(path), flags);
}

long __wrap_lh_sys_open(const char *path, int flags, mode_t mode)
{
    (void)path;
    return __real_lh_sys_open(fuzz_path(0), flags, mode);
}

void fuzz_one(const uint8_t *data, size_t n)
{
    struct lh_pool pool = { 0 };
    struct lh_outside o;
    fuzz_file(0, data, n);
    lh_proc_open(&o, &pool, (uint64_t)getpid());
    for (size_t i = 0; i < o.nthreads; i++)
        lh_proc_switches(&o, o.threads[i].tid);
    lh_pool_free(&pool);
    lh_maps_may_be_shared((uintptr_t)&pool);
    lh_sys_sleeps_on(getpid());
    lh_sys_main_has_ended();
}
