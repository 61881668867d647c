/* SPDX-License-Identifier: MIT
 * waits.c - what each thread waits for, and who holds it. */
#include "waits.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "idmap.h"

enum {
    NAMED_FRAMES = 12, /* a libc function that waits is among these */
    TYPE = 15,         /* in a mutex's kind, as are these */
    ROBUST = 16,
    INHERIT = 32,
    SHARED = 128,
    KIND_BITS = 0x3ff,
    BELOW_CEILING = 0x7ffff, /* of a lock word: a ceiling of priorities is over
                                it */
    MOST_TIDS = 1 << 22,     /* the kernel's limit */
    FRAME_BYTES = 4096,      /* of libc's own functions, at most */
    READERS_SHIFT = 3,       /* of a rwlock's readers */
    FUTEX_COMMAND = 127      /* without the flags */
};

static const struct {
    const char *function; /* without underscores before it */
    enum lh_waits_kind kind;
} functions[] = {
    { "pthread_mutex_lock", LH_WAITS_MUTEX },
    { "pthread_mutex_lock_full", LH_WAITS_MUTEX },
    { "pthread_mutex_timedlock", LH_WAITS_MUTEX },
    { "pthread_mutex_clocklock", LH_WAITS_MUTEX },
    { "pthread_mutex_clocklock_common", LH_WAITS_MUTEX },
    { "pthread_mutex_cond_lock", LH_WAITS_MUTEX },
    { "mtx_lock", LH_WAITS_MUTEX },
    { "mtx_timedlock", LH_WAITS_MUTEX },
    { "pthread_rwlock_rdlock", LH_WAITS_READ },
    { "pthread_rwlock_timedrdlock", LH_WAITS_READ },
    { "pthread_rwlock_clockrdlock", LH_WAITS_READ },
    { "pthread_rwlock_wrlock", LH_WAITS_WRITE },
    { "pthread_rwlock_timedwrlock", LH_WAITS_WRITE },
    { "pthread_rwlock_clockwrlock", LH_WAITS_WRITE },
    { "pthread_cond_wait", LH_WAITS_CONDITION },
    { "pthread_cond_timedwait", LH_WAITS_CONDITION },
    { "pthread_cond_clockwait", LH_WAITS_CONDITION },
    { "cnd_wait", LH_WAITS_CONDITION },
    { "cnd_timedwait", LH_WAITS_CONDITION },
    { "sem_wait", LH_WAITS_SEMAPHORE },
    { "new_sem_wait", LH_WAITS_SEMAPHORE },
    { "new_sem_wait_slow64", LH_WAITS_SEMAPHORE },
    { "sem_timedwait", LH_WAITS_SEMAPHORE },
    { "sem_clockwait", LH_WAITS_SEMAPHORE },
    { "pthread_barrier_wait", LH_WAITS_BARRIER },
    { "pthread_clockjoin_ex", LH_WAITS_JOIN },
    { "pthread_join", LH_WAITS_JOIN },
    { "pthread_timedjoin_np", LH_WAITS_JOIN },
    { "pthread_clockjoin_np", LH_WAITS_JOIN },
    { "thrd_join", LH_WAITS_JOIN },
    { "pthread_once", LH_WAITS_ONCE },
    { "pthread_once_slow", LH_WAITS_ONCE },
    { "call_once", LH_WAITS_ONCE },
};

static bool is_thread(const struct lh_outside *o, uint64_t tid)
{
    return lh_outside_thread_of(o, tid) != NULL;
}

/* A main thread that has ended before the others is still listed. */
static bool has_ended(const struct lh_outside *o, uint64_t tid)
{
    const struct lh_outside_thread *t = lh_outside_thread_of(o, tid);
    return !t || t->state == 'Z';
}

/* "pthread_cond_timedwait64" is one with wide times. */
static bool is_called(const char *name, const char *function)
{
    size_t n = strlen(function);
    name += strspn(name, "_");
    return strncmp(name, function, n) == 0 &&
           (!name[n] || strcmp(name + n, "64") == 0);
}

/* By the names of the innermost functions; LH_WAITS_FUTEX if none tells. */
static enum lh_waits_kind kind_by_name(const struct lh_outside *o,
                                       size_t thread, lh_waits_name_fn name,
                                       void *ctx)
{
    size_t n = o->threads[thread].nframes;
    for (size_t i = 0; name && i < n && i < NAMED_FRAMES; i++) {
        const char *f = name(ctx, thread, i);
        if (!f)
            break;
        for (size_t j = 0; j < sizeof functions / sizeof *functions; j++)
            if (is_called(f, functions[j].function))
                return functions[j].kind;
    }
    return LH_WAITS_FUTEX;
}

/* ---- a mutex ---- */

static bool read_mutex(const struct lh_outside *o, uint64_t address,
                       pthread_mutex_t *m)
{
    return lh_outside_read(o, address, m, sizeof *m);
}

static uint64_t mutex_owner(const pthread_mutex_t *m)
{
    if (m->__data.__kind & (ROBUST | INHERIT))
        return (uint32_t)m->__data.__lock & FUTEX_TID_MASK;
    return (uint32_t)m->__data.__owner;
}

/* How a mutex of that kind is waited for. A small tid in a container reads as a
 * kind, too: what a wait expects tells them apart. */
static bool waits_as_for_mutex(uint32_t kind, int command, uint32_t expected)
{
    if (kind & INHERIT)
        return command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2;
    if (kind & ROBUST)
        return expected & FUTEX_WAITERS;
    return (expected & BELOW_CEILING) == 2;
}

/* Whether these bytes can be a mutex that somebody waits for. */
static bool looks_like_mutex(const struct lh_outside *o,
                             const pthread_mutex_t *m, int command,
                             uint32_t expected)
{
    uint32_t kind = (uint32_t)m->__data.__kind;
    uint64_t owner = mutex_owner(m);
    bool is_listed = m->__data.__list.__prev || m->__data.__list.__next;
    return (kind & ~KIND_BITS) == 0 &&
           (kind & TYPE) <= PTHREAD_MUTEX_ADAPTIVE_NP &&
           m->__data.__lock != 0 && m->__data.__nusers < MOST_TIDS && owner &&
           (is_thread(o, owner) || (!is_listed && owner < MOST_TIDS)) &&
           waits_as_for_mutex(kind, command, expected);
}

static void fill_mutex(const struct lh_outside *o, uint64_t address,
                       struct lh_wait *w)
{
    pthread_mutex_t m;
    w->kind = LH_WAITS_MUTEX;
    w->lock = address;
    if (!read_mutex(o, address, &m))
        return;
    w->owner = mutex_owner(&m);
    w->owner_gone =
        w->owner && has_ended(o, w->owner) && !(m.__data.__kind & SHARED);
}

/* ---- a read-write lock ---- */

/* Sleepers wait on __readers, __wrphase_futex or __writers_futex. */
static bool rwlock_at(const struct lh_outside *o, uint64_t futex,
                      uint32_t expected, uint64_t *address)
{
    uint64_t offset =
        futex % 8 == 4  ? offsetof(pthread_rwlock_t, __data.__writers_futex)
        : expected <= 3 ? offsetof(pthread_rwlock_t, __data.__wrphase_futex)
                        : 0;
    pthread_rwlock_t l;
    *address = futex - offset;
    if (!lh_outside_read(o, *address, &l, sizeof l))
        return false;
    return l.__data.__flags <= 2 && l.__data.__shared <= 1 &&
           (is_thread(o, (uint32_t)l.__data.__cur_writer) ||
            l.__data.__readers >> READERS_SHIFT);
}

static void fill_rwlock(const struct lh_outside *o, uint64_t address,
                        enum lh_waits_kind kind, struct lh_wait *w)
{
    pthread_rwlock_t l;
    w->kind = kind;
    w->lock = address;
    if (!lh_outside_read(o, address, &l, sizeof l))
        return;
    /* The writer of a lock that readers have is one that has left. */
    uint32_t phase = l.__data.__wrphase_futex & 1;
    if (phase)
        w->owner = (uint32_t)l.__data.__cur_writer;
    else
        w->nreaders = l.__data.__readers >> READERS_SHIFT;
    w->owner_gone = w->owner && has_ended(o, w->owner) && !l.__data.__shared;
}

/* ---- a stream: { int lock; int count; void *owner; } ---- */

/* fopen(3) puts a stream and its lock into one block, the lock behind the
 * vtable pointer that follows the FILE. */
static int descriptor_of(const struct lh_outside *o, uint64_t lock)
{
    uint64_t file = lock - sizeof(FILE) - sizeof(void *), own;
    uint32_t descriptor;
    if (lh_outside_u64(o, file + offsetof(FILE, _lock), &own) && own == lock &&
        lh_outside_u32(o, file + offsetof(FILE, _fileno), &descriptor))
        return (int)descriptor;
    return -1;
}

static bool fill_stream(const struct lh_outside *o, uint64_t address,
                        struct lh_wait *w)
{
    uint32_t count;
    uint64_t owner;
    if (!lh_outside_u32(o, address + 4, &count) ||
        !lh_outside_u64(o, address + 8, &owner) || !owner || !count ||
        count > 10000)
        return false;
    for (size_t i = 0; i < o->nthreads; i++) {
        const struct lh_outside_thread *t = &o->threads[i];
        if (!t->has_registers || t->registers.fs_base != owner)
            continue;
        w->kind = LH_WAITS_STREAM;
        w->lock = address;
        w->owner = t->tid;
        w->descriptor = descriptor_of(o, address);
        return true;
    }
    return false;
}

/* ---- by what the words can be ---- */

static bool is_shared_wait(int command, uint64_t flags)
{
    return (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) &&
           !(flags & FUTEX_PRIVATE_FLAG);
}

static void fill_by_words(const struct lh_outside *o, uint64_t futex,
                          uint64_t operation, uint32_t expected,
                          struct lh_wait *w)
{
    pthread_mutex_t m;
    uint64_t lock;
    uint32_t word = 0;
    int command = (int)(operation & FUTEX_COMMAND);
    lh_outside_u32(o, futex, &word);
    /* The pattern that is rarest by chance first. */
    if (expected == 2 && fill_stream(o, futex, w))
        return;
    if (read_mutex(o, futex, &m) &&
        looks_like_mutex(o, &m, command, expected)) {
        fill_mutex(o, futex, w);
        return;
    }
    /* The kernel clears a joined thread's tid and wakes without the flag. */
    if (is_shared_wait(command, operation) && word == expected &&
        is_thread(o, expected)) {
        w->kind = LH_WAITS_JOIN;
        w->owner = expected;
        return;
    }
    if (command == FUTEX_WAIT_BITSET && rwlock_at(o, futex, expected, &lock)) {
        fill_rwlock(o, lock,
                    futex % 8 == 4 || expected == 2 ? LH_WAITS_WRITE
                                                    : LH_WAITS_READ,
                    w);
        return;
    }
    w->kind =
        command == FUTEX_WAIT && expected == 2 ? LH_WAITS_LIBC : LH_WAITS_FUTEX;
    w->lock = futex;
}

static bool is_futex_wait(int command)
{
    return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET ||
           command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2 ||
           command == FUTEX_WAIT_REQUEUE_PI;
}

static uint64_t condition_at(uint64_t futex)
{
    size_t first = offsetof(pthread_cond_t, __data.__g_signals);
    return futex - first - (futex % 8 == 4 ? 4 : 0);
}

/* A wait that a stop has interrupted goes on by another number, with the same
 * arguments: one of a futex, if the thread's functions or the preload say that
 * it waits. */
static bool is_futex_call(const struct lh_outside_thread *t,
                          enum lh_waits_kind by_name)
{
    return (t->call == SYS_futex ||
            (t->call == SYS_restart_syscall &&
             (by_name != LH_WAITS_FUTEX || t->wants || t->joins))) &&
           is_futex_wait((int)(t->args[1] & FUTEX_COMMAND));
}

struct lh_wait lh_waits_of(const struct lh_outside *o, size_t thread,
                           lh_waits_name_fn name, void *ctx)
{
    const struct lh_outside_thread *t = &o->threads[thread];
    struct lh_wait w = { .kind = LH_WAITS_NOT, .descriptor = -1 };
    if (!t->in_call || t->state == 'R')
        return w;
    w.kind = LH_WAITS_CALL;
    enum lh_waits_kind kind = kind_by_name(o, thread, name, ctx);
    if (!is_futex_call(t, kind))
        return w;
    uint64_t futex = t->args[0], lock;
    uint32_t expected = (uint32_t)t->args[2];
    w.limited = t->args[3] != 0;
    switch (kind) {
    case LH_WAITS_MUTEX:
        /* glibc sleeps on a word in its own frame when the kernel says that a
         * priority-inheriting mutex would close a ring. */
        if (futex - t->sp < FRAME_BYTES && expected == 0)
            w.kind = LH_WAITS_REFUSED;
        else
            fill_mutex(o, futex, &w);
        break;
    case LH_WAITS_READ:
    case LH_WAITS_WRITE:
        rwlock_at(o, futex, expected, &lock);
        fill_rwlock(o, lock, kind, &w);
        break;
    case LH_WAITS_CONDITION:
        /* Signalled, it waits for the mutex again, with the plain command. */
        if ((t->args[1] & FUTEX_COMMAND) != FUTEX_WAIT_BITSET) {
            fill_mutex(o, futex, &w);
            break;
        }
        w.kind = kind;
        w.lock = condition_at(futex);
        break;
    case LH_WAITS_JOIN:
        w.kind = kind;
        w.owner = expected;
        break;
    case LH_WAITS_SEMAPHORE:
    case LH_WAITS_BARRIER:
    case LH_WAITS_ONCE:
        w.kind = kind;
        w.lock = futex;
        break;
    default:
        fill_by_words(o, futex, t->args[1], expected, &w);
        break;
    }
    return w;
}

/* Two readers are in nobody's way. */
static bool holds_against(const struct lh_outside_thread *t,
                          const struct lh_wait *w)
{
    for (size_t i = 0; i < t->nholds; i++)
        if (t->holds[i].lock == w->lock &&
            (!t->holds[i].shared || w->kind != LH_WAITS_READ))
            return true;
    return false;
}

void lh_waits_add_owners(const struct lh_outside *o, size_t thread,
                         struct lh_wait *w)
{
    const struct lh_outside_thread *t = &o->threads[thread];
    /* The preload waits in pieces for what the program waits for. */
    if ((w->lock && w->lock == t->wants) ||
        (w->kind == LH_WAITS_JOIN && t->joins))
        w->limited = false;
    if (!w->lock || w->owner || w->kind == LH_WAITS_CONDITION)
        return;
    size_t n = 0;
    for (size_t i = 0; i < o->nthreads; i++)
        n += i != thread && holds_against(&o->threads[i], w);
    uint64_t *owners = lh_pool_array(o->pool, n, sizeof *owners);
    for (size_t i = 0; i < o->nthreads; i++)
        if (i != thread && holds_against(&o->threads[i], w))
            owners[w->nowners++] = o->threads[i].tid;
    w->owners = owners;
}

/* The index of each thread by its id, one more than it is, as a pointer. */
static void index_threads(const struct lh_outside *o, struct lh_idmap *indices)
{
    for (size_t i = o->nthreads; i-- > 0;)
        lh_idmap_put(indices, o->threads[i].tid, (void *)(uintptr_t)(i + 1));
}

/* Who a thread waits for: all of them, one after the other. */
static size_t next_owner(const struct lh_outside *o,
                         const struct lh_idmap *indices,
                         const struct lh_wait *w, size_t *at)
{
    while (!w->limited) {
        uint64_t tid = w->owner && *at == 0 ? w->owner
                       : *at < w->nowners   ? w->owners[*at]
                                            : 0;
        if (!tid)
            break;
        (*at)++;
        uintptr_t i = (uintptr_t)lh_idmap_get(indices, tid);
        if (i)
            return i - 1;
    }
    return o->nthreads;
}

/* Breadth first from the thread, until it is met again. from receives who each
 * was met from, queue those that are looked at; both have room for all. */
static void search(const struct lh_outside *o, const struct lh_wait *waits,
                   size_t thread, size_t *from, size_t *queue)
{
    size_t none = o->nthreads, nqueue = 0;
    struct lh_idmap indices = { 0 };
    index_threads(o, &indices);
    for (size_t i = 0; i < none; i++)
        from[i] = none;
    queue[nqueue++] = thread;
    for (size_t i = 0; i < nqueue && from[thread] == none; i++) {
        size_t at = 0, next;
        while ((next = next_owner(o, &indices, &waits[queue[i]], &at)) !=
               none) {
            if (from[next] != none)
                continue;
            from[next] = queue[i];
            if (next != thread)
                queue[nqueue++] = next;
        }
    }
    lh_idmap_free(&indices);
}

size_t lh_waits_ring(const struct lh_outside *o, const struct lh_wait *waits,
                     size_t thread, size_t *ring)
{
    size_t none = o->nthreads, n = 0;
    if (waits[thread].limited ||
        (!waits[thread].owner && !waits[thread].nowners))
        return 0;
    size_t *from = lh_pool_heap((none + 1) * 2 * sizeof *from);
    search(o, waits, thread, from, from + none + 1);
    if (from[thread] != none) {
        /* Backwards, so that each waits for the next one. */
        for (size_t t = thread; n == 0 || t != thread; t = from[t])
            n++;
        for (size_t t = from[thread], i = n; i-- > 0; t = from[t])
            ring[i] = t;
    }
    free(from);
    return n;
}
