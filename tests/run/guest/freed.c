/* SPDX-License-Identifier: MIT
 *
 * freed.c - locks that are held while their memory goes, and some that only
 * look so.
 */
#include <sys/mman.h>

#include "guest.h"

struct object {
    long payload[5];
    mutex_t lock;
    pthread_rwlock_t rwlock;
};

static const mutex_t fresh = MUTEX;
static void *(*volatile resize)(void *, size_t) = realloc;

static struct object *object(void)
{
    struct object *o = malloc(sizeof *o);

    CHECK(o);
    o->lock = fresh;
    CHECK(pthread_rwlock_init(&o->rwlock, NULL) == 0);
    return o;
}

static void by_holder(void)
{
    struct object *o = object();

    lock(&o->lock);
    free(o);
}

static void by_holder_of_another(void)
{
    static mutex_t other = MUTEX;
    struct object *o = object();

    lock(&other);
    free(o);
    unlock(&other);
}

static void moved_by_holder(void)
{
    struct object *o = object(), *behind = object(), *larger;

    lock(&o->lock);
    larger = resize(o, 100 * sizeof *o);
    CHECK(larger != o);
    free(larger);
    free(behind);
}

static int is_taken, may_end;

static void *hold(void *object)
{
    struct object *o = object;

    lock(&o->lock);
    set_flag(&is_taken);
    wait_flag(&may_end);
    return object;
}

/* Known by its init alone. */
static void by_another(void)
{
    struct object *o = object();
    pthread_t t;

    CHECK(pthread_mutex_init(&o->lock, NULL) == 0);
    t = go(hold, o);
    wait_flag(&is_taken);
    free(o);
    set_flag(&may_end);
    join(t);
}

static void after_release(void)
{
    static mutex_t other = MUTEX;
    struct object *o = object();

    CHECK(pthread_mutex_init(&o->lock, NULL) == 0);
    nest(&other, &o->lock);
    nest(&o->lock, &other);
    free(o);
}

/* Debugging allocators do so: the words of the lock mean nothing then. */
static void written_over(void)
{
    struct object *o = object();

    CHECK(pthread_mutex_init(&o->lock, NULL) == 0);
    lock(&o->lock);
    unlock(&o->lock);
    memset(o, 0xdd, sizeof *o);
    __asm__ volatile("" ::"r"(o) : "memory");
    free(o);
}

static mutex_t *mapped(int shared)
{
    pthread_mutexattr_t attr;
    void *map =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE,
             (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS, -1, 0);

    CHECK(map != MAP_FAILED && pthread_mutexattr_init(&attr) == 0);
    CHECK(pthread_mutexattr_setpshared(&attr, shared) == 0);
    CHECK(pthread_mutex_init(map, &attr) == 0);
    return map;
}

/* One that processes share may live on elsewhere. */
static void unmapped(int shared)
{
    mutex_t *m = mapped(shared);

    lock(m);
    CHECK(munmap(m, 4096) == 0);
}

static void read_lock(void)
{
    struct object *o = object();

    CHECK(pthread_rwlock_rdlock(&o->rwlock) == 0);
    free(o);
}

/* What is freed is not held by whoever takes the place. */
static void taken_again(void)
{
    struct object *o = object(), *next;

    lock(&o->lock);
    free(o);
    next = object();
    CHECK(next == o);
    invert(&next->lock, (mutex_t *)&(struct object){ .lock = MUTEX }.lock);
}

/* Results, errno, and what is in the blocks. */
static void results(void)
{
    char *p, *q;

    errno = 5;
    free(NULL);
    free(malloc(10));
    CHECK(errno == 5);
    p = resize(NULL, 100);
    CHECK(p);
    strcpy(p, "kept");
    q = resize(p, 100000);
    CHECK(q && strcmp(q, "kept") == 0);
    errno = 0;
    CHECK(!reallocarray(q, SIZE_MAX / 2, 4) && errno == ENOMEM);
    CHECK(strcmp(q, "kept") == 0);
    q = reallocarray(q, 1, 5);
    CHECK(q && strcmp(q, "kept") == 0);
    free(q);
    q = reallocarray(NULL, 3, 5);
    CHECK(q);
    free(q);
    errno = 0;
    CHECK(munmap((void *)1, 4096) == -1 && errno == EINVAL);
    errno = 0;
    CHECK(madvise((void *)1, 4096, MADV_DONTNEED) == -1 && errno == EINVAL);
    errno = 0;
    CHECK(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
              MAP_FAILED &&
          errno == EINVAL);
    p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
             -1, 0);
    CHECK(p != MAP_FAILED);
    p[0] = 'x';
    q = mremap(p, 8192, 1 << 20, MREMAP_MAYMOVE);
    CHECK(q != MAP_FAILED && q[0] == 'x');
    CHECK(mremap(q, 1 << 20, 4096, 0) == q && q[0] == 'x');
    CHECK(munmap(q, 4096) == 0);
}

/* Blocks of all sizes, so that whoever frees meets what the allocator has. */
static void churn(void)
{
    enum { N = 64 };
    unsigned char *blocks[N] = { NULL };
    unsigned random = 1;

    for (int i = 0; i < 100000; i++) {
        size_t size_bytes;

        random = random * 1103515245 + 12345;
        size_bytes = 1 + (random >> 16) % 9000 * (i % 40 ? 1 : 30);
        if (i % 3)
            free(blocks[i % N]);
        blocks[i % N] =
            i % 3 ? malloc(size_bytes) : resize(blocks[i % N], size_bytes);
        CHECK(blocks[i % N]);
        memset(blocks[i % N], i, size_bytes);
    }
    for (int i = 0; i < N; i++)
        free(blocks[i]);
}

/* A lock is held in a block while its neighbours, of all sizes, are freed. */
static void *neighbours(void *unused)
{
    enum { N = 64 };
    mutex_t *locks[N];

    for (int i = 0; i < N; i++) {
        locks[i] = malloc(sizeof *locks[i] * (size_t)(1 + i % 8));
        CHECK(locks[i] && pthread_mutex_init(locks[i], NULL) == 0);
        lock(locks[i]);
        if (i % 2)
            unlock(locks[i]);
    }
    for (int i = 1; i < N; i += 2)
        free(locks[i]);
    for (int i = 0; i < N; i += 2) {
        unlock(locks[i]);
        free(locks[i]);
    }
    return unused;
}

int main(int argc, char **argv)
{
    (void)argc;
    if (is_mode(argv, "by-holder"))
        by_holder();
    if (is_mode(argv, "by-holder-of-another"))
        by_holder_of_another();
    if (is_mode(argv, "moved-by-holder"))
        moved_by_holder();
    if (is_mode(argv, "by-another"))
        by_another();
    if (is_mode(argv, "after-release"))
        after_release();
    if (is_mode(argv, "written-over"))
        written_over();
    if (is_mode(argv, "unmapped"))
        unmapped(0);
    if (is_mode(argv, "unmapped-shared"))
        unmapped(1);
    if (is_mode(argv, "read-lock"))
        read_lock();
    if (is_mode(argv, "taken-again"))
        taken_again();
    if (is_mode(argv, "neighbours"))
        join(go(neighbours, NULL));
    if (is_mode(argv, "churn"))
        churn();
    if (is_mode(argv, "results"))
        results();
    return 0;
}
