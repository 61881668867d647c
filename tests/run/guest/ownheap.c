/* SPDX-License-Identifier: MIT
 *
 * ownheap.c - a program with an allocator of its own: what it frees is not
 * seen, and a lock in it may be another one by now.
 */
#include <sys/mman.h>

#include "guest.h"

enum { SIZE = 16 << 20 };

static char *heap;
static size_t used;

/* From a map that no hook sees, made before there is a second thread. */
void *malloc(size_t size_bytes)
{
    size_t *p;

    if (!heap)
        heap = (char *)syscall(SYS_mmap, NULL, SIZE, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    p = (size_t *)(heap + __atomic_fetch_add(&used,
                                             (size_bytes + 31) & ~(size_t)15,
                                             __ATOMIC_RELAXED));
    *p = size_bytes;
    return p + 2;
}

void free(void *block)
{
    (void)block;
}

void *calloc(size_t n, size_t size_bytes)
{
    return malloc(n * size_bytes);
}

void *realloc(void *block, size_t size_bytes)
{
    void *fresh = malloc(size_bytes);

    if (block)
        memcpy(fresh, block, ((size_t *)block)[-2]);
    return fresh;
}

int main(void)
{
    static mutex_t a = MUTEX;
    mutex_t *m = malloc(sizeof *m);

    *m = a;
    invert(&a, m);
    free(m);
    return 0;
}
