/* SPDX-License-Identifier: MIT
 *
 * ends.c - locks end without a destroy, and others come to lie where they were.
 *
 * A borrower takes a, then the lock that it is given; later main takes a lock
 * at the same address, then a. Both threads live on. If the two locks are one,
 * that is a potential deadlock, else it is nothing.
 */
#include <dlfcn.h>
#include <malloc.h>
#include <sys/mman.h>

#include "guest.h"

enum { PAGE = 4096, LARGE = 1 << 20 };

static mutex_t a = MUTEX;
static const mutex_t fresh = MUTEX;

/* ---- the borrower ---- */

static mutex_t *lent;
static int is_lent, is_back, is_over;
static pthread_t borrower;

static void *borrow(void *unused)
{
    wait_flag(&is_lent);
    nest(&a, lent);
    set_flag(&is_back);
    wait_flag(&is_over);
    return unused;
}

static void lend(mutex_t *lock)
{
    lent = lock;
    set_flag(&is_lent);
    wait_flag(&is_back);
}

/* The same address, or the test says nothing. */
static void same_place(const void *now)
{
    if (now != lent) {
        dprintf(2, "another address\n");
        exit(77);
    }
}

static void reverse(mutex_t *lock)
{
    same_place(lock);
    nest(lock, &a);
}

/* ---- the heap ---- */

/* So that the compiler does not know what it does. */
static void *(*volatile resize)(void *, size_t) = realloc;

struct object {
    long payload[5];
    mutex_t lock;
    char rest[100];
};

static struct object *object(void)
{
    struct object *o = malloc(sizeof *o);

    CHECK(o);
    o->lock = fresh;
    return o;
}

static void freed(void)
{
    struct object *o = object();

    lend(&o->lock);
    free(o);
    o = object();
    reverse(&o->lock);
    free(o);
}

static void kept(void)
{
    struct object *o = object();

    lend(&o->lock);
    reverse(&o->lock);
    free(o);
}

/* A block so large that it is a map of its own, the lock far inside. */
static void freed_large(void)
{
    char *block;
    mutex_t *lock;

    CHECK(mallopt(M_MMAP_THRESHOLD, LARGE / 2));
    block = malloc(LARGE);
    lock = (mutex_t *)(block + LARGE / 2);
    *lock = fresh;
    lend(lock);
    free(block);
    block = malloc(LARGE);
    lock = (mutex_t *)(block + LARGE / 2);
    *lock = fresh;
    reverse(lock);
    free(block);
}

/* The block moves, as there is one behind it; its old place is given out. */
static void moved(void *(*by)(void *, size_t))
{
    struct object *o = object(), *other = object();
    char *larger;

    lend(&o->lock);
    larger = by(o, 100 * sizeof *o);
    CHECK(larger && larger != (char *)o);
    o = object();
    reverse(&o->lock);
    free(o);
    free(other);
    free(larger);
}

static void *by_array(void *block, size_t size_bytes)
{
    return reallocarray(block, size_bytes / 8, 8);
}

/* The end of a block is given back, and comes to be part of another one. */
static void shortened(void)
{
    struct object *o = malloc(64 * sizeof *o), *other;

    o[20].lock = fresh;
    lend(&o[20].lock);
    CHECK(resize(o, sizeof *o) == o);
    other = malloc(40 * sizeof *o);
    CHECK(other > o && other < &o[20]);
    lent->__data = fresh.__data;
    reverse(lent);
    free(other);
    free(o);
}

/* Grows where it is: the same lock. */
static void grown(void)
{
    struct object *o = malloc(sizeof *o);

    o->lock = fresh;
    lend(&o->lock);
    CHECK(resize(o, 4 * sizeof *o) == o);
    reverse(&o->lock);
    free(o);
}

static void resized_to_nothing(void)
{
    struct object *o = object();

    lend(&o->lock);
    CHECK(!resize(o, 0)); /* frees */
    o = object();
    reverse(&o->lock);
    free(o);
}

/* ---- maps ---- */

static char *map_at(void *where)
{
    char *p =
        mmap(where, LARGE, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | (where ? MAP_FIXED : 0), -1, 0);

    CHECK(p != MAP_FAILED);
    return p;
}

static mutex_t *lock_in(char *map)
{
    mutex_t *lock = (mutex_t *)(map + 5 * PAGE + 64);

    CHECK(pthread_mutex_init(lock, NULL) == 0);
    return lock;
}

/* In maps of the program's own only a lock that was initialized is sure to be
 * the same: here an init call tells of the first life and of no other. */
static void unmapped(void)
{
    char *map = map_at(NULL);

    lend(lock_in(map));
    CHECK(munmap(map, LARGE) == 0);
    CHECK(map_at(map) == map);
    reverse(lent);
}

static void mapped_over(void)
{
    char *map = map_at(NULL);

    lend(lock_in(map));
    CHECK(map_at(map) == map);
    reverse(lent);
}

static void dropped(void)
{
    char *map = map_at(NULL);

    lend(lock_in(map));
    CHECK(madvise(map, LARGE, MADV_DONTNEED) == 0);
    reverse(lent);
}

static void remapped(void)
{
    char *map = map_at(NULL), *other = map_at(NULL);

    lend(lock_in(map));
    CHECK(mremap(map, LARGE, LARGE, MREMAP_MAYMOVE | MREMAP_FIXED, other) ==
          other);
    CHECK(map_at(map) == map);
    reverse(lent);
}

static void advised_otherwise(void)
{
    char *map = map_at(NULL);

    lend(lock_in(map));
    CHECK(madvise(map, LARGE, MADV_SEQUENTIAL) == 0);
    reverse(lent);
}

/* A pool of the program's own gives out and takes back without a word. */
static void pooled(void)
{
    char *map = map_at(NULL);

    lend((mutex_t *)(map + 64));
    reverse(lent);
}

/* ---- stacks ---- */

static void owner(int round)
{
    mutex_t local = MUTEX;

    if (round == 0)
        lend(&local);
    else
        reverse(&local);
}

static __attribute__((noinline)) void frame(int round)
{
    volatile char room[500];

    room[0] = 0;
    owner(round);
    (void)room[0];
}

/* Nothing tells that the frame was left in between. */
static void framed(void)
{
    frame(0);
    frame(1);
}

/* A lock that is taken further out shows that it was. */
static void framed_apart(void)
{
    static mutex_t other = MUTEX;

    frame(0);
    nest(&other, &a);
    frame(1);
}

static void in_main(mutex_t *local)
{
    lend(local);
    reverse(local);
}

/* Two threads that were created in the frame of their locks. */
static __attribute__((noinline)) void run_in_frame(void)
{
    mutex_t x = MUTEX, y = MUTEX;

    invert(&x, &y);
}

static void *start_with_lock(void *unused)
{
    mutex_t local = MUTEX;

    lend(&local);
    reverse(&local);
    return unused;
}

static void in_start_routine(void)
{
    join(go(start_with_lock, NULL));
}

static void *first_thread(void *unused)
{
    mutex_t local = MUTEX;

    lend(&local);
    return unused;
}

static void *second_thread(void *unused)
{
    mutex_t local = MUTEX;

    reverse(&local);
    return unused;
}

/* glibc gives a stack out again. */
static void stack_of_another(void)
{
    join(go(first_thread, NULL));
    join(go(second_thread, NULL));
}

/* Until there are only so many: fields of proc(5), this is the 20th. */
static void wait_for_threads(int n)
{
    int now = 0;

    while (now != n) {
        FILE *f = fopen("/proc/self/stat", "r");
        CHECK(f);
        CHECK(fscanf(f,
                     "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u "
                     "%*u %*d %*d %*d %*d %d",
                     &now) == 1);
        fclose(f);
        sched_yield();
    }
}

static void *first_detached(void *unused)
{
    CHECK(pthread_detach(pthread_self()) == 0);
    return first_thread(unused);
}

static void *second_detached(void *unused)
{
    CHECK(pthread_detach(pthread_self()) == 0);
    second_thread(unused);
    set_flag(&is_over);
    return unused;
}

static void stack_of_a_detached(void)
{
    go(first_detached, NULL);
    wait_flag(&is_back);
    wait_for_threads(2);
    go(second_detached, NULL);
    wait_flag(&is_over);
}

static _Thread_local mutex_t own = MUTEX;

static void *first_with_own(void *unused)
{
    lend(&own);
    return unused;
}

static void *second_with_own(void *unused)
{
    reverse(&own);
    return unused;
}

static void thread_local_of_another(void)
{
    join(go(first_with_own, NULL));
    join(go(second_with_own, NULL));
}

static void *both_with_own(void *unused)
{
    lend(&own);
    reverse(&own);
    return unused;
}

static void thread_local_kept(void)
{
    join(go(both_with_own, NULL));
}

/* ---- libraries ---- */

static mutex_t *lock_of_library(void *library)
{
    mutex_t *lock = dlsym(library, "library_lock");

    CHECK(lock);
    return lock;
}

/* What the detector maps for itself is not to take the place later: a lock of
 * which it knows ends, and loading becomes well-known. */
static void *reopened(void *library, const char *path)
{
    mutex_t warm;

    CHECK(pthread_mutex_init(&warm, NULL) == 0);
    nest(&warm, &a);
    CHECK(pthread_mutex_destroy(&warm) == 0);
    for (int i = 0; i < 20; i++) {
        CHECK(library && dlclose(library) == 0);
        library = dlopen(path, RTLD_NOW);
    }
    CHECK(library);
    return library;
}

/* Another file, or the same one again, comes to lie in its place. */
static void unloaded(const char *first, const char *second)
{
    void *library = reopened(dlopen(first, RTLD_NOW), first);

    lend(lock_of_library(library));
    CHECK(dlclose(library) == 0);
    library = dlopen(second, RTLD_NOW);
    CHECK(library);
    reverse(lock_of_library(library));
}

typedef void nest_fn(mutex_t *, mutex_t *);

static nest_fn *nesting_of_library(void *library)
{
    nest_fn *fn = (nest_fn *)dlsym(library, "library_nest");

    CHECK(fn);
    return fn;
}

static mutex_t b = MUTEX;
static nest_fn *nesting;

static void *nest_elsewhere(void *unused)
{
    nesting(&a, &b);
    return unused;
}

/* The same places in two files, one after the other. The threads that are there
 * are not joined before the end. */
static void unloaded_code(const char *first, const char *second)
{
    void *library = reopened(dlopen(first, RTLD_NOW), first);
    nest_fn *was = nesting = nesting_of_library(library);
    pthread_t t = go(nest_elsewhere, NULL);

    CHECK(pthread_detach(t) == 0);
    wait_for_threads(2);
    CHECK(dlclose(library) == 0);
    library = dlopen(second, RTLD_NOW);
    CHECK(library);
    nesting = nesting_of_library(library);
    if (nesting != was)
        exit(77);
    nesting(&b, &a);
}

/* Somebody else has it open, too: it stays. */
static void still_loaded(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);

    CHECK(library && dlopen(path, RTLD_NOW) == library);
    lend(lock_of_library(library));
    CHECK(dlclose(library) == 0);
    reverse(lock_of_library(library));
}

int main(int argc, char **argv)
{
    mutex_t local = MUTEX;

    CHECK(argc > 1);
    borrower = go(borrow, NULL);
    if (is_mode(argv, "freed"))
        freed();
    else if (is_mode(argv, "kept"))
        kept();
    else if (is_mode(argv, "freed-large"))
        freed_large();
    else if (is_mode(argv, "moved"))
        moved(realloc);
    else if (is_mode(argv, "moved-array"))
        moved(by_array);
    else if (is_mode(argv, "shortened"))
        shortened();
    else if (is_mode(argv, "grown"))
        grown();
    else if (is_mode(argv, "resized-to-nothing"))
        resized_to_nothing();
    else if (is_mode(argv, "unmapped"))
        unmapped();
    else if (is_mode(argv, "mapped-over"))
        mapped_over();
    else if (is_mode(argv, "dropped"))
        dropped();
    else if (is_mode(argv, "remapped"))
        remapped();
    else if (is_mode(argv, "advised-otherwise"))
        advised_otherwise();
    else if (is_mode(argv, "pooled"))
        pooled();
    else if (is_mode(argv, "framed"))
        framed();
    else if (is_mode(argv, "framed-apart"))
        framed_apart();
    else if (is_mode(argv, "in-main"))
        in_main(&local);
    else if (is_mode(argv, "run-in-frame"))
        run_in_frame();
    else if (is_mode(argv, "in-start-routine"))
        in_start_routine();
    else if (is_mode(argv, "stack-of-another"))
        stack_of_another();
    else if (is_mode(argv, "stack-of-a-detached"))
        stack_of_a_detached();
    else if (is_mode(argv, "thread-local-of-another"))
        thread_local_of_another();
    else if (is_mode(argv, "thread-local-kept"))
        thread_local_kept();
    else if (is_mode(argv, "unloaded"))
        unloaded(argv[2], argv[3]);
    else if (is_mode(argv, "unloaded-code"))
        unloaded_code(argv[2], argv[3]);
    else if (is_mode(argv, "still-loaded"))
        still_loaded(argv[2]);
    else
        return 2;
    if (!lent)
        lend(&local);
    set_flag(&is_over);
    join(borrower);
    return 0;
}
