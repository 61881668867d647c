/* SPDX-License-Identifier: MIT
 *
 * memory.c - free and its like: locks end with the memory that they lie in.
 *
 * malloc is not hooked: who frees must be who allocates, and our hooks only
 * look. They may be called before our constructor, by the loader and by libc.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "hooks/hook.h"
#include "runtime/ends.h"
#include "runtime/places.h"
#include "runtime/unseen.h"

/* What lies beyond is no size: the block is not one. */
#define MOST_BYTES ((size_t)1 << 40)

/* Where a block of glibc's ends. Its size is in the word before it, with bits
 * of other meaning: for one that was mapped there is one word less. */
static inline uintptr_t end_in_libc(const void *block)
{
    enum { IS_MAPPED = 2, FLAGS = 7 };
    size_t head = ((const size_t *)block)[-1];

    return (uintptr_t)block + (head & ~(size_t)FLAGS) - sizeof(size_t) -
           (head & IS_MAPPED) * (sizeof(size_t) / IS_MAPPED);
}

static uintptr_t end_of(void *block)
{
    if (lh_unseen_allocator == LH_ALLOCATOR_LIBC)
        return end_in_libc(block);
    return (uintptr_t)block + lh_real()->malloc_usable_size(block);
}

/* Are there locks whose end would matter, or any that the caller holds? */
static inline bool may_hold(uintptr_t low, uintptr_t high)
{
    struct lh_thread *t = lh_self;

    return lh_place_may_hold(low, high) ||
           (t && t->top != t->chunk->slots + 1 && lh_held_within(t, low, high));
}

static __attribute__((noinline)) void end_memory(uintptr_t low, uintptr_t high,
                                                 const char *detail, void *pc,
                                                 uintptr_t cfa)
{
    lh_ends_memory(&(struct lh_ends_memory){
        .low = low, .high = high, .detail = detail, .pc = pc, .cfa = cfa });
}

/* Before our constructor there is nothing to end. */
static __attribute__((noinline)) void free_other(void *block, void *pc,
                                                 uintptr_t cfa)
{
    if (!lh_real()->free)
        lh_real_resolve();
    if (block && lh_unseen_allocator == LH_ALLOCATOR_OTHER) {
        uintptr_t low = (uintptr_t)block, high = end_of(block);
        if (may_hold(low, high))
            end_memory(low, high, "freed", pc, cfa);
    }
    lh_real()->free(block);
}

static __attribute__((noinline)) void free_any(void *block, void *pc,
                                               uintptr_t cfa)
{
    uintptr_t low = (uintptr_t)block, high = end_in_libc(block);

    if (high - low < MOST_BYTES && may_hold(low, high))
        end_memory(low, high, "freed", pc, cfa);
    lh_real()->free(block);
}

/* Most blocks lie in one page, and most threads that free hold nothing. One
 * that was mapped is taken for a word longer: that is in the next page. */
static inline bool is_free_of_locks(const void *block)
{
    size_t head = ((const size_t *)block)[-1];
    uintptr_t low = (uintptr_t)block;
    uintptr_t last = low + (head & ~(size_t)7) - sizeof(size_t) - 1;
    struct lh_thread *t = lh_self;

    return (low ^ last) >> LH_PLACE_PAGE == 0 &&
           !lh_place_page_has_locks(low) &&
           (!t || t->top == t->chunk->slots + 1);
}

LH_HOOK void free(void *block)
{
    if (__builtin_expect(lh_unseen_allocator != LH_ALLOCATOR_LIBC, 0)) {
        free_other(block, LH_CALLER(), LH_CFA());
        return;
    }
    if (__builtin_expect(block && !is_free_of_locks(block), 0)) {
        free_any(block, LH_CALLER(), LH_CFA());
        return;
    }
    lh_real()->free(block);
}

/* A block becomes another one, or a shorter one. Its contents have moved on:
 * there is where its locks can be asked who holds them. */
static void *resize(void *block, size_t count, size_t size_bytes,
                    void *(*real)(void *, size_t, size_t), void *pc,
                    uintptr_t cfa)
{
    struct lh_ends_memory m = {
        .low = (uintptr_t)block, .detail = "freed", .pc = pc, .cfa = cfa
    };
    void *fresh;

    m.high = end_of(block);
    if (m.high - m.low >= MOST_BYTES || !may_hold(m.low, m.high))
        return real(block, count, size_bytes);
    if (count == 0 || size_bytes == 0) { /* frees, and may give another one */
        lh_ends_memory(&m);
        return real(block, count, size_bytes);
    }
    fresh = real(block, count, size_bytes);
    if (!fresh)
        return NULL;
    if (fresh == block)
        m.low = end_of(block);
    else
        m.moved = (char *)fresh - (char *)block;
    if (m.low < m.high)
        lh_ends_memory(&m);
    return fresh;
}

static void *real_realloc(void *block, size_t count, size_t size_bytes)
{
    return lh_real()->realloc(block, count * size_bytes);
}

static void *real_reallocarray(void *block, size_t count, size_t size_bytes)
{
    return lh_real()->reallocarray(block, count, size_bytes);
}

LH_HOOK void *realloc(void *block, size_t size_bytes)
{
    if (__builtin_expect(!lh_real()->realloc, 0))
        lh_real_resolve();
    if (!block || lh_unseen_allocator == LH_ALLOCATOR_NONE)
        return lh_real()->realloc(block, size_bytes);
    return resize(block, 1, size_bytes, real_realloc, LH_CALLER(), LH_CFA());
}

LH_HOOK void *reallocarray(void *block, size_t count, size_t size_bytes)
{
    if (!lh_real()->reallocarray) {
        errno = ENOMEM;
        return NULL;
    }
    if (!block || lh_unseen_allocator == LH_ALLOCATOR_NONE)
        return lh_real()->reallocarray(block, count, size_bytes);
    return resize(block, count, size_bytes, real_reallocarray, LH_CALLER(),
                  LH_CFA());
}

static uintptr_t end_of_pages(const void *low, size_t size_bytes)
{
    return ((uintptr_t)low + size_bytes + 4095) & ~(uintptr_t)4095;
}

static void end_pages(const void *low, size_t size_bytes, void *pc,
                      uintptr_t cfa)
{
    uintptr_t from = (uintptr_t)low, to = end_of_pages(low, size_bytes);

    if (from < to && may_hold(from, to))
        end_memory(from, to, NULL, pc, cfa);
}

/* Whatever lay there before, by whomever it was unmapped, is no more. Locks can
 * lie in what can be written now or later. */
static void *mapped(void *low, size_t size_bytes, int prot, int flags, void *pc,
                    uintptr_t cfa)
{
    uintptr_t from = (uintptr_t)low, to = end_of_pages(low, size_bytes);

    if (low == MAP_FAILED)
        return low;
    end_pages(low, size_bytes, pc, cfa);
    if (flags & MAP_ANONYMOUS || prot & PROT_WRITE)
        lh_unseen_add(from, to, pc);
    else if (flags & MAP_FIXED)
        lh_unseen_remove(from, to);
    return low;
}

LH_HOOK void *mmap(void *low, size_t size_bytes, int prot, int flags, int fd,
                   off_t offset)
{
    if (__builtin_expect(!lh_real()->mmap, 0))
        lh_real_resolve();
    return mapped(lh_real()->mmap(low, size_bytes, prot, flags, fd, offset),
                  size_bytes, prot, flags, LH_CALLER(), LH_CFA());
}

/* The same function under the name that programs built with large files use. */
LH_HOOK void *mmap64(void *low, size_t size_bytes, int prot, int flags, int fd,
                     off_t offset)
{
    if (__builtin_expect(!lh_real()->mmap, 0))
        lh_real_resolve();
    return mapped(lh_real()->mmap(low, size_bytes, prot, flags, fd, offset),
                  size_bytes, prot, flags, LH_CALLER(), LH_CFA());
}

LH_HOOK int munmap(void *low, size_t size_bytes)
{
    uintptr_t from = (uintptr_t)low, to = end_of_pages(low, size_bytes);

    if (__builtin_expect(!lh_real()->munmap, 0))
        lh_real_resolve();
    /* What would fail gives nothing back. */
    if (!(from & 4095) && from < to) {
        if (may_hold(from, to))
            end_memory(from, to, "unmapped", LH_CALLER(), LH_CFA());
        lh_unseen_remove(from, to);
    }
    return lh_real()->munmap(low, size_bytes);
}

/* After these the memory reads as zero, sooner or later. */
static bool drops_contents(int advice)
{
    return advice == MADV_DONTNEED || advice == MADV_FREE ||
           advice == MADV_REMOVE;
}

LH_HOOK int madvise(void *low, size_t size_bytes, int advice)
{
    int rc;

    if (__builtin_expect(!lh_real()->madvise, 0))
        lh_real_resolve();
    rc = lh_real()->madvise(low, size_bytes, advice);
    if (rc == 0 && drops_contents(advice))
        end_pages(low, size_bytes, LH_CALLER(), LH_CFA());
    return rc;
}

/* Locks do not move: they are made anew where their contents came to. */
static void remapped(char *old, size_t old_bytes, char *fresh, size_t new_bytes,
                     void *pc, uintptr_t cfa)
{
    size_t kept_bytes = fresh != old            ? 0
                        : new_bytes < old_bytes ? new_bytes
                                                : old_bytes;

    end_pages(old + kept_bytes, old_bytes - kept_bytes, pc, cfa);
    lh_unseen_remove((uintptr_t)old, end_of_pages(old, old_bytes));
    lh_unseen_add((uintptr_t)fresh, end_of_pages(fresh, new_bytes), pc);
}

LH_HOOK void *mremap(void *old, size_t old_bytes, size_t new_bytes, int flags,
                     ...)
{
    void *where, *fresh;
    va_list rest;

    va_start(rest, flags);
    where = va_arg(rest, void *); /* a register: it can always be read */
    va_end(rest);
    if (__builtin_expect(!lh_real()->mremap, 0))
        lh_real_resolve();
    /* Where it goes to is known: before it leaves a hole, which a map of our
     * own could come to fill. */
    if (flags & MREMAP_FIXED) {
        end_pages(old, old_bytes, LH_CALLER(), LH_CFA());
        end_pages(where, new_bytes, LH_CALLER(), LH_CFA());
    }
    fresh = lh_real()->mremap(old, old_bytes, new_bytes, flags, where);
    if (fresh != MAP_FAILED)
        remapped(old, old_bytes, fresh, new_bytes, LH_CALLER(), LH_CFA());
    return fresh;
}
